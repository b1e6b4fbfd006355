import { useState } from "preact/hooks"
import * as Administration from "../api/Administration.ts"
import { useConfirmed } from "../account/useConfirmed.tsx"
import type { LinkFate } from "../api/Accounts.ts"
import { asApiError } from "../api/Client.ts"
import type { User } from "../api/Types.ts"
import { fill } from "../language/fill.tsx"
import { Check } from "../ui/Check.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { PageButtons } from "../ui/PageButtons.tsx"
import { Failure, Loading } from "../ui/States.tsx"
import { fail, say } from "../ui/Toasts.tsx"
import { usePages } from "../ui/hooks/usePages.ts"
import { AdminTabs } from "../ui/Tabs.tsx"
import { UserRow } from "./UserRow.tsx"
import { words } from "./words.ts"
import "./users.css"

type Change = Parameters<typeof Administration.changeUser>[1]

/** What a change needs to be asked about: nothing is done by a slip of the finger. */
interface Asked {
  readonly user: User
  /** Which texts ask for it, and say that it is done. */
  readonly what: "disabling" | "promoting" | "enabling" | "demoting" | "deletion"
  readonly act: (links: LinkFate) => Promise<unknown>
}

const changing = (user: User, what: Asked["what"], change: Change): Asked => ({
  user,
  what,
  act: () => Administration.changeUser(user.id, change)
})

const askedBy = (user: User, { admin, disabled }: Change): Asked => {
  if (disabled !== undefined) return changing(user, disabled ? "disabling" : "enabling", { disabled })
  return changing(user, admin === true ? "promoting" : "demoting", { admin: admin === true })
}

const deletion = (user: User): Asked => ({
  user,
  what: "deletion",
  act: (links) => Administration.deleteUser(user.id, links)
})

const saidOf = ({ user, what }: Asked): string => fill(words()[what].said, { email: user.email })

interface AskDialogProps {
  readonly asked: Asked
  readonly onClose: () => void
  readonly onDone: () => void
}

const AskDialog = ({ asked, onClose, onDone }: AskDialogProps) => {
  const t = words()
  const { act, user, what } = asked
  const { button, text, title } = t[what]
  const [deletesLinks, setDeletesLinks] = useState(false)
  const send = async () => {
    await act(deletesLinks ? "delete" : "keep")
    say(saidOf(asked))
    onDone()
  }
  const { error, isSending, onSubmit, passwordField } = useConfirmed(send, {
    hint: t.confirm
  })
  return (
    <Dialog title={title} onClose={onClose}>
      <form class="form" onSubmit={onSubmit}>
        <p>{fill(text, { email: user.email })}</p>
        {error && (
          <p class="fault" role="alert">
            {error.message}
          </p>
        )}
        {what === "deletion" && (
          <Check checked={deletesLinks} onChange={setDeletesLinks}>
            {t.deletesLinks}
          </Check>
        )}
        {passwordField}
        <div class="actions end">
          <button type="button" class="button plain" onClick={onClose}>
            {t.leaveIt}
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
      say(saidOf(asked))
      users.reload()
    } catch (error) {
      const problem = asApiError(error)
      if (problem.kind === "reauthentication-required") setAsked(asked)
      else fail(problem)
    }
  }
  const onChange = (user: User, change: Change) => {
    const asked = askedBy(user, change)
    if (change.disabled === true || change.admin === true) setAsked(asked)
    else void give(asked)
  }
  return (
    <>
      <header class="page-header">
        <h1>{words().title}</h1>
        <AdminTabs />
      </header>
      {users.state === "loading" && <Loading rows={4} />}
      {users.state === "failed" && <Failure error={users.error} retry={users.reload} />}
      {users.state === "loaded" && (
        <ul class="rows" aria-label={words().title}>
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
