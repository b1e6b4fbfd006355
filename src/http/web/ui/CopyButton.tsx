import { useRef, useState } from "preact/hooks"
import { fill } from "../language/fill.tsx"
import { copy } from "./copy.ts"
import { Icon } from "./Icon.tsx"
import { say } from "./Toasts.tsx"
import { words } from "./words.ts"

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
  const t = words()
  const [isCopied, setIsCopied] = useState(false)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const run = async () => {
    if (!(await copy(text))) return say(fill(words().copyFails, { text }))
    setIsCopied(true)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => setIsCopied(false), saidFor_ms)
    return undefined
  }
  return (
    <button
      type="button"
      class={isSmall ? "icon-button" : "button copy"}
      aria-label={fill(isCopied ? t.copiedOf : t.copyOf, { what })}
      title={isCopied ? t.copied : t.copy}
      onClick={() => void run()}
    >
      <Icon name={isCopied ? "check" : "copy"} />
      {!isSmall && (isCopied ? t.copied : t.copy)}
    </button>
  )
}
