import { rich } from "../language/fill.tsx"
import { CopyButton } from "./CopyButton.tsx"
import { words } from "./words.ts"

interface SecretProps {
  /** What it is, and that it is shown once. */
  readonly text: string
  readonly secret: string
  /** What is copied, for screen readers. */
  readonly what: string
  readonly onClose: () => void
}

/** A secret that is shown once. */
export const Secret = ({ onClose, secret, text, what }: SecretProps) => (
  <>
    <p>{rich(text, { once: (inner) => <strong>{inner}</strong> })}</p>
    <div class="secret">
      <code>{secret}</code>
      <CopyButton text={secret} what={what} />
    </div>
    <div class="actions end">
      <button type="button" class="button strong" onClick={onClose}>
        {words().kept}
      </button>
    </div>
  </>
)
