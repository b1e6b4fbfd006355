import type { ComponentChildren } from "preact"
import { useEffect, useId, useRef } from "preact/hooks"
import { Icon } from "./Icon.tsx"
import { words } from "./words.ts"

interface DialogProps {
  readonly title: string
  readonly onClose: () => void
  readonly children: ComponentChildren
}

/** Something to be done before all else. Escape, the cross and a click beside it close it. */
export const Dialog = ({ children, onClose, title }: DialogProps) => {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const opener = document.activeElement
    dialog.current?.showModal()
    return () => {
      if (opener instanceof HTMLElement) opener.focus()
    }
  }, [])
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onClose={() => {
        // Some browsers let a second Escape close it unasked. Whether it closes is not theirs to decide.
        dialog.current?.showModal()
        onClose()
      }}
      onMouseDown={({ currentTarget, target }) => {
        if (target === currentTarget) onClose()
      }}
    >
      <div class="dialog">
        <header class="dialog-header">
          <h2 id={id}>{title}</h2>
          <button type="button" class="icon-button" aria-label={words().close} onClick={onClose}>
            <Icon name="close" />
          </button>
        </header>
        {children}
      </div>
    </dialog>
  )
}
