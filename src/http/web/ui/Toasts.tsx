import { signal } from "@preact/signals"
import type { ApiError } from "../api/Client.ts"
import { Icon } from "./Icon.tsx"
import { words } from "./words.ts"

/** How long a message stays. */
const shownFor_ms = 6_000

/** Messages at once; the oldest goes for another one. */
const toastsMax = 4

interface Toast {
  readonly id: number
  readonly text: string
  readonly isFault: boolean
  /** Something to do about it while it is shown, which takes it away. */
  readonly action?: { readonly name: string; readonly run: () => void }
  readonly shownFor_ms: number
}

const toasts = signal<ReadonlyArray<Toast>>([])
let count = 0

/** Takes a message away. */
export const dismiss = (id: number): void => {
  toasts.value = toasts.value.filter((toast) => toast.id !== id)
}

const show = (toast: Omit<Toast, "id">): number => {
  const id = ++count
  toasts.value = [...toasts.value.slice(1 - toastsMax), { ...toast, id }]
  setTimeout(() => dismiss(id), toast.shownFor_ms)
  return id
}

/** Tells something in passing. */
export const say = (text: string): number => show({ text, isFault: false, shownFor_ms })

/** Tells what did not work. */
export const fail = (error: ApiError): number => show({ text: error.message, isFault: true, shownFor_ms })

/** Tells something that can still be undone. */
export const offer = (text: string, action: NonNullable<Toast["action"]>, shownFor_ms: number): number =>
  show({ text, isFault: false, action, shownFor_ms })

/** The messages of now, at the page's lower edge. */
export const Toasts = () => (
  <div class="toasts" role="status" aria-live="polite">
    {toasts.value.map(({ action, id, isFault, shownFor_ms, text }) => (
      <div key={id} class={isFault ? "toast fault" : "toast"}>
        <span>{text}</span>
        {action && (
          <button
            type="button"
            class="toast-action"
            onClick={() => {
              dismiss(id)
              action.run()
            }}
          >
            {action.name}
          </button>
        )}
        <button type="button" class="icon-button" aria-label={words().dismiss} onClick={() => dismiss(id)}>
          <Icon name="close" />
        </button>
        {action && <span class="toast-time" style={{ animationDuration: `${shownFor_ms}ms` }} />}
      </div>
    ))}
  </div>
)
