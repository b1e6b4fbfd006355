import { settings } from "../app/Settings.ts"
import { Field } from "../ui/Field.tsx"
import { type Availability, useAvailability } from "./aliasAvailability.ts"

const faults: Partial<Record<Availability, string>> = {
  malformed: "3 to 64 of A–Z, a–z, 0–9, - and _, also in parts with / between them",
  reserved: "This word is reserved.",
  taken: "This is taken."
}

const hints: Partial<Record<Availability, string>> = {
  none: "Leave it empty for a minted key.",
  checking: "Looking whether it is free…",
  free: "Free.",
  unknown: "Whether it is free will show."
}

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
  const availability = useAvailability(value, domain)
  return (
    <Field
      label="Alias"
      fault={fault ?? faults[availability]}
      hint={
        <span class={availability === "free" ? "good" : ""} role="status">
          {hints[availability]}
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
