import { useState } from "preact/hooks"
import { go } from "../app/Router.ts"
import * as Session from "../app/Session.ts"
import { Check } from "../ui/Check.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { say } from "../ui/Toasts.tsx"
import { useConfirmed } from "./useConfirmed.tsx"

const DeleteDialog = ({ onClose }: { readonly onClose: () => void }) => {
  const [deletesLinks, setDeletesLinks] = useState(false)
  const send = async () => {
    await Session.deleteAccount(deletesLinks ? "delete" : "keep")
    say("Your account is deleted.")
    go("/")
  }
  const { error, isComplete, isSending, onSubmit, passwordField } = useConfirmed(send, {
    asks: true,
    hint: "So that nobody else does this who finds this page open."
  })
  return (
    <Dialog title="Delete your account?" onClose={onClose}>
      <form class="form" onSubmit={onSubmit}>
        <p>
          Your sessions, API keys and webhooks end. Links go on redirecting unless you have them deleted;
          nobody but the administrators can change them then. This cannot be undone.
        </p>
        {error && (
          <p class="fault" role="alert">
            {error.message}
          </p>
        )}
        <Check checked={deletesLinks} onChange={setDeletesLinks}>
          Delete all my links, too
        </Check>
        {passwordField}
        <div class="actions end">
          <button type="button" class="button plain" onClick={onClose}>
            Leave it
          </button>
          <button type="submit" class="button danger" disabled={isSending || !isComplete}>
            {isSending ? "Deleting…" : "Delete my account"}
          </button>
        </div>
      </form>
    </Dialog>
  )
}

/** Has who is signed in delete the account. */
export const DeleteAccount = () => {
  const [isAsked, setIsAsked] = useState(false)
  return (
    <>
      <button type="button" class="button danger" onClick={() => setIsAsked(true)}>
        Delete this account
      </button>
      {isAsked && <DeleteDialog onClose={() => setIsAsked(false)} />}
    </>
  )
}
