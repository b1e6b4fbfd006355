import { useState } from "preact/hooks"
import { go } from "../app/Router.ts"
import * as Session from "../app/Session.ts"
import { Check } from "../ui/Check.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { say } from "../ui/Toasts.tsx"
import { useConfirmed } from "./useConfirmed.tsx"
import { words } from "./words.ts"

const DeleteDialog = ({ onClose }: { readonly onClose: () => void }) => {
  const t = words()
  const [deletesLinks, setDeletesLinks] = useState(false)
  const send = async () => {
    await Session.deleteAccount(deletesLinks ? "delete" : "keep")
    say(words().deleted)
    go("/")
  }
  const { error, isComplete, isSending, onSubmit, passwordField } = useConfirmed(send, {
    asks: true,
    hint: t.deleteHint
  })
  return (
    <Dialog title={t.deleteTitle} onClose={onClose}>
      <form class="form" onSubmit={onSubmit}>
        <p>{t.deleteText}</p>
        {error && (
          <p class="fault" role="alert">
            {error.message}
          </p>
        )}
        <Check checked={deletesLinks} onChange={setDeletesLinks}>
          {t.deleteLinks}
        </Check>
        {passwordField}
        <div class="actions end">
          <button type="button" class="button plain" onClick={onClose}>
            {t.leaveIt}
          </button>
          <button type="submit" class="button danger" disabled={isSending || !isComplete}>
            {isSending ? t.deleting : t.delete}
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
        {words().deleteThis}
      </button>
      {isAsked && <DeleteDialog onClose={() => setIsAsked(false)} />}
    </>
  )
}
