import { Check } from "../ui/Check.tsx"
import { Field } from "../ui/Field.tsx"
import { Icon } from "../ui/Icon.tsx"
import type { ExtrasDraft } from "./extras.ts"
import { words } from "./words.ts"

const precedences = ["append", "request", "target"] as const

/** The inputs of a text each. */
const texts = [
  ["expiredUrl", "expiredUrl", "expiredUrlHint"],
  ["cardTitle", "card.title", "cardTitleHint"],
  ["cardDescription", "card.description", undefined],
  ["cardImage", "card.image", "cardImageHint"]
] as const

const addresses: ReadonlySet<string> = new Set(["expiredUrl", "cardImage"])

interface ExtraFieldsProps {
  readonly draft: ExtrasDraft
  readonly onChange: (change: Partial<ExtrasDraft>) => void
  /** What is wrong with a field of the service. */
  readonly faultOf: (name: string) => string | undefined
}

/** What few links have: a note, where they lead after their end, what they pass on, their card, and statistics for anybody. */
export const ExtraFields = ({ draft, faultOf, onChange }: ExtraFieldsProps) => (
  <details
    class="options"
    open={[...texts.map(([, name]) => name), "note"].some((name) => faultOf(name) !== undefined) || undefined}
  >
    <summary>
      <Icon name="forth" /> {words().more}
    </summary>
    <div class="options-grid">
      <div class="whole">
        <Field label={words().note} fault={faultOf("note")} hint={words().noteHint}>
          {(control) => (
            <textarea
              {...control}
              rows={3}
              value={draft.note}
              onInput={({ currentTarget: { value } }) => onChange({ note: value })}
            />
          )}
        </Field>
      </div>
      {texts.map(([name, field, hint]) => (
        <Field
          key={name}
          label={words()[name]}
          fault={faultOf(field)}
          {...(hint !== undefined && { hint: words()[hint] })}
        >
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
          {words().forwardPath}
        </Check>
        <Check checked={draft.forwardQuery} onChange={(forwardQuery) => onChange({ forwardQuery })}>
          {words().forwardQuery}
        </Check>
        <Check checked={draft.publicStats} onChange={(publicStats) => onChange({ publicStats })}>
          {words().publicStats}
        </Check>
      </div>
      {draft.forwardQuery && (
        <Field label={words().sameParameter} fault={faultOf("queryPrecedence")}>
          {(control) => (
            <select
              {...control}
              value={draft.queryPrecedence}
              onChange={({ currentTarget: { value } }) => onChange({ queryPrecedence: value })}
            >
              {precedences.map((value) => (
                <option key={value} value={value}>
                  {words()[value]}
                </option>
              ))}
            </select>
          )}
        </Field>
      )}
    </div>
  </details>
)
