import { CopyButton } from "./CopyButton.tsx"

interface SecretProps {
  /** What it belongs to. */
  readonly of: string
  readonly secret: string
  /** What is copied, for screen readers. */
  readonly what: string
  readonly onClose: () => void
}

/** A secret that is shown once. */
export const Secret = ({ of, onClose, secret, what }: SecretProps) => (
  <>
    <p>
      This is {of}. It is shown <strong>this once</strong>: keep it where secrets are kept.
    </p>
    <div class="secret">
      <code>{secret}</code>
      <CopyButton text={secret} what={what} />
    </div>
    <div class="actions end">
      <button type="button" class="button strong" onClick={onClose}>
        I have kept it
      </button>
    </div>
  </>
)
