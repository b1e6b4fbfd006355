import { useState } from "preact/hooks"
import * as Administration from "../api/Administration.ts"
import { useConfirmed } from "../account/useConfirmed.tsx"
import type { LinkFate } from "../api/Accounts.ts"
import { asApiError } from "../api/Client.ts"
import type { User } from "../api/Types.ts"
import { Check } from "../ui/Check.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { PageButtons } from "../ui/PageButtons.tsx"
import { Failure, Loading } from "../ui/States.tsx"
import { fail, say } from "../ui/Toasts.tsx"
import { usePages } from "../ui/usePages.ts"
import { AdminTabs } from "../ui/Tabs.tsx"
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
  readonly act: (links: LinkFate) => Promise<unknown>
  readonly said: string
  /** Whether it is asked what becomes of the links. */
  readonly asksLinks?: true
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

const enabling = (user: User): Asked => ({
  user,
  title: "Enable this account?",
  text: `${user.email} can sign in again, and API keys work.`,
  button: "Enable",
  act: () => Administration.changeUser(user.id, { disabled: false }),
  said: `${user.email} is enabled.`
})

const demoting = (user: User): Asked => ({
  user,
  title: "Unmake an administrator?",
  text: `${user.email} will see and change nothing but what is theirs.`,
  button: "Unmake an administrator",
  act: () => Administration.changeUser(user.id, { admin: false }),
  said: `${user.email} is no administrator.`
})

const deletion = (user: User): Asked => ({
  user,
  title: "Delete this account?",
  text: `${user.email} is gone for good, with API keys and webhooks. Links go on redirecting unless they are deleted, too, and are the administrators’ alone. This cannot be undone.`,
  button: "Delete",
  act: (links) => Administration.deleteUser(user.id, links),
  said: `${user.email} is deleted.`,
  asksLinks: true
})

interface AskDialogProps {
  readonly asked: Asked
  readonly onClose: () => void
  readonly onDone: () => void
}

const AskDialog = ({ asked, onClose, onDone }: AskDialogProps) => {
  const { act, asksLinks, button, said, text, title } = asked
  const [deletesLinks, setDeletesLinks] = useState(false)
  const send = async () => {
    await act(deletesLinks ? "delete" : "keep")
    say(said)
    onDone()
  }
  const { error, isSending, onSubmit, passwordField } = useConfirmed(send, {
    hint: "You signed in a while ago. It is asked for again before this is done."
  })
  return (
    <Dialog title={title} onClose={onClose}>
      <form class="form" onSubmit={onSubmit}>
        <p>{text}</p>
        {error && (
          <p class="fault" role="alert">
            {error.message}
          </p>
        )}
        {asksLinks && (
          <Check checked={deletesLinks} onChange={setDeletesLinks}>
            Delete all links of this user, too
          </Check>
        )}
        {passwordField}
        <div class="actions end">
          <button type="button" class="button plain" onClick={onClose}>
            Leave it
          </button>
          <button type="submit" class="button danger" disabled={isSending}>
            {button}
          </button>
        </div>
      </form>
    </Dialog>
  )
}

/** The users, for administrators. */
export const UsersPage = () => {
  const users = usePages("users", Administration.users)
  const [asked, setAsked] = useState<Asked>()
  /** Does what harms nobody at once, and asks only where the service wants the password again. */
  const give = async (asked: Asked) => {
    try {
      await asked.act("keep")
      say(asked.said)
      users.reload()
    } catch (error) {
      const problem = asApiError(error)
      if (problem.kind === "reauthentication-required") setAsked(asked)
      else fail(problem)
    }
  }
  const onChange = (user: User, { admin, disabled }: Change) => {
    if (disabled === true) setAsked(disabling(user))
    else if (admin === true) setAsked(promoting(user))
    else void give(disabled === false ? enabling(user) : demoting(user))
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
      <PageButtons {...users} />
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
