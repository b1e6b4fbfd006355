import { useState } from "preact/hooks"
import * as Administration from "../api/Administration.ts"
import { asApiError } from "../api/Client.ts"
import type { User } from "../api/Types.ts"
import { Dialog } from "../ui/Dialog.tsx"
import { PageButtons } from "../ui/PageButtons.tsx"
import { Failure, Loading } from "../ui/States.tsx"
import { fail, say } from "../ui/Toasts.tsx"
import { usePages } from "../ui/usePages.ts"
import { AdminTabs } from "./AdminTabs.tsx"
import { UserRow } from "./UserRow.tsx"
import "../keys/keys.css"
import "./users.css"

type Change = Parameters<typeof Administration.changeUser>[1]

/** What a change needs to be asked about: nothing is done by a slip of the finger. */
interface Asked {
  readonly user: User
  readonly title: string
  readonly text: string
  readonly button: string
  readonly act: () => Promise<unknown>
  readonly said: string
}

const disabling = (user: User): Asked => ({
  user,
  title: "Disable this account?",
  text: `${user.email} is signed out and cannot sign in, API keys and webhooks work no more. Links go on redirecting. It can be enabled again.`,
  button: "Disable",
  act: () => Administration.changeUser(user.id, { disabled: true }),
  said: `${user.email} is disabled.`
})

const promoting = (user: User): Asked => ({
  user,
  title: "Make an administrator?",
  text: `${user.email} will see and change everything of everybody.`,
  button: "Make an administrator",
  act: () => Administration.changeUser(user.id, { admin: true }),
  said: `${user.email} is an administrator.`
})

const deletion = (user: User): Asked => ({
  user,
  title: "Delete this account?",
  text: `${user.email} is gone for good, with API keys and webhooks. Links go on redirecting, and are the administrators’ alone. This cannot be undone.`,
  button: "Delete",
  act: () => Administration.deleteUser(user.id),
  said: `${user.email} is deleted.`
})

interface AskDialogProps {
  readonly asked: Asked
  readonly onClose: () => void
  readonly onDone: () => void
}

const AskDialog = ({ asked: { act, button, said, text, title }, onClose, onDone }: AskDialogProps) => {
  const confirm = async () => {
    try {
      await act()
      say(said)
      onDone()
    } catch (error) {
      fail(asApiError(error))
      onClose()
    }
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{text}</p>
      <div class="actions end">
        <button type="button" class="button plain" onClick={onClose}>
          Leave it
        </button>
        <button type="button" class="button danger" onClick={() => void confirm()}>
          {button}
        </button>
      </div>
    </Dialog>
  )
}

/** The users, for administrators. */
export const UsersPage = () => {
  const users = usePages("users", Administration.users)
  const [asked, setAsked] = useState<Asked>()
  const give = async (user: User, change: Change, said: string) => {
    try {
      await Administration.changeUser(user.id, change)
      say(said)
      users.reload()
    } catch (error) {
      fail(asApiError(error))
    }
  }
  const onChange = (user: User, change: Change) => {
    if (change.disabled === true) return setAsked(disabling(user))
    if (change.admin === true) return setAsked(promoting(user))
    void give(
      user,
      change,
      change.disabled === false ? `${user.email} is enabled.` : `${user.email} is no administrator.`
    )
  }
  return (
    <>
      <header class="page-header">
        <h1>Users</h1>
        <AdminTabs />
      </header>
      {users.state === "loading" && <Loading rows={4} />}
      {users.state === "failed" && <Failure error={users.error} retry={users.reload} />}
      {users.state === "loaded" && (
        <ul class="keys" aria-label="Users">
          {users.value.data.map((user) => (
            <UserRow
              key={user.id}
              user={user}
              onChange={(change) => onChange(user, change)}
              onDelete={() => setAsked(deletion(user))}
            />
          ))}
        </ul>
      )}
      <PageButtons back={users.back} forth={users.forth} />
      {asked && (
        <AskDialog
          asked={asked}
          onClose={() => setAsked(undefined)}
          onDone={() => {
            setAsked(undefined)
            users.reload()
          }}
        />
      )}
    </>
  )
}
