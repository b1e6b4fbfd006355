import { useState } from "preact/hooks"
import { Field } from "../ui/Field.tsx"
import { fromLocalInput, toLocalInput } from "../ui/format.ts"
import { settings } from "../app/Settings.ts"
import { words } from "./words.ts"

/** When a new link ends, as a create says it. */
export type Expiry = { readonly expiresIn?: string; readonly expiresAt?: string }

const durations = [
  ["PT1H", "hour"],
  ["P1D", "day"],
  ["P7D", "week"],
  ["P30D", "month"],
  ["P365D", "year"]
] as const

interface ExpiryFieldProps {
  readonly onChange: (expiry: Expiry) => void
  readonly fault: string | undefined
}

/** When a new link ends. */
export const ExpiryField = ({ fault, onChange }: ExpiryFieldProps) => {
  const t = words()
  const [choice, setChoice] = useState("")
  const [date, setDate] = useState("")
  const choose = (value: string) => {
    setChoice(value)
    if (value === "date") {
      const tomorrow = toLocalInput(new Date(Date.now() + 86_400_000).toISOString())
      setDate(tomorrow)
      onChange({ expiresAt: fromLocalInput(tomorrow) })
    } else onChange(value === "" ? {} : { expiresIn: value })
  }
  return (
    <Field label={t.ends} fault={fault}>
      {(control) => (
        <div class="stack">
          <select {...control} value={choice} onChange={({ currentTarget }) => choose(currentTarget.value)}>
            <option value="">{settings.defaultExpiry ? t.endsByDefault : t.never}</option>
            {durations.map(([value, name]) => (
              <option key={value} value={value}>
                {t[name]}
              </option>
            ))}
            <option value="date">{t.onDate}</option>
          </select>
          {choice === "date" && (
            <input
              type="datetime-local"
              aria-label={t.dateOfEnd}
              value={date}
              required
              onInput={({ currentTarget: { value } }) => {
                setDate(value)
                if (value !== "") onChange({ expiresAt: fromLocalInput(value) })
              }}
            />
          )}
        </div>
      )}
    </Field>
  )
}
