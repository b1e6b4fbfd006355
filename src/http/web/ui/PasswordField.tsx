import type { ComponentChildren } from "preact"
import { useState } from "preact/hooks"
import { Field } from "./Field.tsx"
import { fill } from "../language/fill.tsx"
import { strengthOf, strengths } from "./passwordStrength.ts"
import { words } from "./words.ts"

/** Characters of a new password at least, and at most. */
const [lengthMin, lengthMax] = [12, 128]

/** What a new password must be. */
export const passwordHint = (): string => fill(words().passwordHint, { min: lengthMin, max: lengthMax })

const StrengthMeter = ({ password }: { readonly password: string }) => {
  const strength = strengthOf(password, lengthMin)
  const word = words()[strengths[strength]]
  return (
    <div class="strength">
      <meter
        aria-label={words().passwordStrength}
        aria-valuetext={word}
        min={0}
        max={4}
        low={2}
        high={3}
        optimum={4}
        value={strength}
      />
      <span aria-hidden="true">{word}</span>
    </div>
  )
}

interface PasswordFieldProps {
  readonly label: string
  /** `new-password` has managers of passwords propose one. */
  readonly autocomplete: "current-password" | "new-password"
  readonly hint?: ComponentChildren
  readonly fault?: string | undefined
  readonly value: string
  readonly onInput: (value: string) => void
}

/** A password, which can be pasted and shown; of a new one its strength is shown, too. No length is cut off: the service says what it does not take. */
export const PasswordField = ({ autocomplete, onInput, value, ...field }: PasswordFieldProps) => {
  const t = words()
  const [isShown, setIsShown] = useState(false)
  return (
    <Field {...field}>
      {(control) => (
        <>
          <div class="password">
            <input
              {...control}
              {...(isShown ? { type: "text" as const } : { type: "password" as const })}
              autocomplete={autocomplete}
              autocapitalize="none"
              spellcheck={false}
              required
              value={value}
              onInput={({ currentTarget }) => onInput(currentTarget.value)}
            />
            <button
              type="button"
              class="button plain"
              aria-label={isShown ? t.hideTyped : t.showTyped}
              onClick={() => setIsShown(!isShown)}
            >
              {isShown ? t.hide : t.show}
            </button>
          </div>
          {autocomplete === "new-password" && value !== "" && <StrengthMeter password={value} />}
        </>
      )}
    </Field>
  )
}
