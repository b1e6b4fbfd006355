import { settings } from "../app/Settings.ts"
import { Field } from "../ui/Field.tsx"
import { type Availability, useAvailability } from "./aliasAvailability.ts"
import { words } from "./words.ts"

const faults: ReadonlySet<Availability> = new Set(["malformed", "reserved", "taken"])

interface AliasFieldProps {
  /** The host of the further domain that the link will be in; empty: the default one. */
  readonly domain: string
  readonly value: string
  readonly onInput: (alias: string) => void
  /** What the service said of it. */
  readonly fault: string | undefined
}

/** The word behind the slash, where one wants to choose it. */
export const AliasField = ({ domain, fault, onInput, value }: AliasFieldProps) => {
  const t = words()
  const availability = useAvailability(value, domain)
  return (
    <Field
      label={t.alias}
      fault={fault ?? (faults.has(availability) ? t[availability] : undefined)}
      hint={
        <span class={availability === "free" ? "good" : ""} role="status">
          {t[availability]}
        </span>
      }
    >
      {(control) => (
        <div class="prefixed">
          <span aria-hidden="true">{domain === "" ? settings.shortHost : domain}/</span>
          <input
            {...control}
            name="alias"
            value={value}
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
            onInput={({ currentTarget }) => onInput(currentTarget.value.trim())}
          />
        </div>
      )}
    </Field>
  )
}
