import { Check } from "../ui/Check.tsx"
import { Field } from "../ui/Field.tsx"
import { Icon } from "../ui/Icon.tsx"
import type { ExtrasDraft } from "./extras.ts"

const precedences = [
  ["append", "Both stay"],
  ["request", "The short link's stays"],
  ["target", "The long URL's stays"]
] as const

/** The inputs of a text each. */
const texts = [
  ["expiredUrl", "After its end", "expiredUrl", "Where visitors go then. Empty: a page says it."],
  ["cardTitle", "Headline", "card.title", "What chats and social sites show of it."],
  ["cardDescription", "Summary", "card.description", undefined],
  ["cardImage", "Picture", "card.image", "The address of an image."]
] as const

const addresses: ReadonlySet<string> = new Set(["expiredUrl", "cardImage"])

interface ExtraFieldsProps {
  readonly draft: ExtrasDraft
  readonly onChange: (change: Partial<ExtrasDraft>) => void
  /** What is wrong with a field of the service. */
  readonly faultOf: (name: string) => string | undefined
}

/** What few links have: a note, where they lead after their end, what they pass on, and their card. */
export const ExtraFields = ({ draft, faultOf, onChange }: ExtraFieldsProps) => (
  <details
    class="options"
    open={
      [...texts.map(([, , name]) => name), "note"].some((name) => faultOf(name) !== undefined) || undefined
    }
  >
    <summary>
      <Icon name="forth" /> Note, paths, preview card, after its end
    </summary>
    <Field label="Note" fault={faultOf("note")} hint="Visitors never see it.">
      {(control) => (
        <textarea
          {...control}
          rows={3}
          value={draft.note}
          onInput={({ currentTarget: { value } }) => onChange({ note: value })}
        />
      )}
    </Field>
    <div class="options-grid">
      {texts.map(([name, label, field, hint]) => (
        <Field key={name} label={label} fault={faultOf(field)} {...(hint !== undefined && { hint })}>
          {(control) => (
            <input
              {...control}
              autocomplete="off"
              {...(addresses.has(name) && { inputMode: "url", spellcheck: false, autocapitalize: "none" })}
              value={draft[name]}
              onInput={({ currentTarget: { value } }) => onChange({ [name]: value })}
            />
          )}
        </Field>
      ))}
      <div class="checks">
        <Check checked={draft.forwardPath} onChange={(forwardPath) => onChange({ forwardPath })}>
          Append the path behind the short link
        </Check>
        <Check checked={draft.forwardQuery} onChange={(forwardQuery) => onChange({ forwardQuery })}>
          Pass the short link's query on
        </Check>
      </div>
      {draft.forwardQuery && (
        <Field label="Same parameter in both" fault={faultOf("queryPrecedence")}>
          {(control) => (
            <select
              {...control}
              value={draft.queryPrecedence}
              onChange={({ currentTarget: { value } }) => onChange({ queryPrecedence: value })}
            >
              {precedences.map(([value, name]) => (
                <option key={value} value={value}>
                  {name}
                </option>
              ))}
            </select>
          )}
        </Field>
      )}
    </div>
  </details>
)
