import { useRef, useState } from "preact/hooks"
import { copy } from "./copy.ts"
import { Icon } from "./Icon.tsx"
import { say } from "./Toasts.tsx"

/** How long the button says that it has copied. */
const saidFor_ms = 2_000

interface CopyButtonProps {
  readonly text: string
  /** What is copied, for screen readers: "the short link". */
  readonly what: string
  readonly isSmall?: boolean
}

/** Copies a text, and says so. */
export const CopyButton = ({ isSmall = false, text, what }: CopyButtonProps) => {
  const [isCopied, setIsCopied] = useState(false)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const run = async () => {
    if (!(await copy(text))) return say(`Copying does not work here. This is it: ${text}`)
    setIsCopied(true)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => setIsCopied(false), saidFor_ms)
    return undefined
  }
  return (
    <button
      type="button"
      class={isSmall ? "icon-button" : "button copy"}
      aria-label={`${isCopied ? "Copied" : "Copy"} ${what}`}
      title={isCopied ? "Copied" : "Copy"}
      onClick={() => void run()}
    >
      <Icon name={isCopied ? "check" : "copy"} />
      {!isSmall && (isCopied ? "Copied" : "Copy")}
    </button>
  )
}
