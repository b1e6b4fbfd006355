import { useState } from "preact/hooks"
import { Field } from "../ui/Field.tsx"
import { Icon } from "../ui/Icon.tsx"
import { forget, hasRoomFor, keep, templateNameMax, templates, templatesMax } from "./templates.ts"
import { type UtmName, utmNames, utmOf, type UtmValues, withUtm } from "./utm.ts"
import "./utm.css"

/** What each is for, by an example. */
const examples: { readonly [Name in UtmName]: string } = {
  source: "newsletter",
  medium: "email",
  campaign: "spring-sale",
  term: "running shoes",
  content: "header button"
}

const labels: { readonly [Name in UtmName]: string } = {
  source: "Source",
  medium: "Medium",
  campaign: "Campaign",
  term: "Term",
  content: "Content"
}

interface TemplatesProps {
  readonly values: UtmValues
  readonly onChoose: (values: UtmValues) => void
}

/** Chooses a template, keeps the values as one, and forgets the chosen one. */
const Templates = ({ onChoose, values }: TemplatesProps) => {
  const [chosen, setChosen] = useState("")
  const [name, setName] = useState("")
  const isEmpty = utmNames.every((one) => (values[one] ?? "").trim() === "")
  const trimmed = name.trim()
  const isFull = !hasRoomFor(trimmed)
  const choose = (name: string) => {
    setChosen(name)
    setName(name)
    const template = templates.value.find((one) => one.name === name)
    // What a template leaves open is left out: two that follow each other do not mix.
    if (template) onChoose({ ...Object.fromEntries(utmNames.map((one) => [one, ""])), ...template.values })
  }
  return (
    <>
      <Field label="Template" hint="Kept in this browser.">
        {(control) => (
          <div class="utm-template">
            <select {...control} value={chosen} onChange={({ currentTarget }) => choose(currentTarget.value)}>
              <option value="">{templates.value.length === 0 ? "None yet" : "None"}</option>
              {templates.value.map(({ name }) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </select>
            {chosen !== "" && (
              <button
                type="button"
                class="icon-button"
                aria-label={`Forget the template ${chosen}`}
                onClick={() => {
                  forget(chosen)
                  setChosen("")
                }}
              >
                <Icon name="close" />
              </button>
            )}
          </div>
        )}
      </Field>
      <Field
        label="Keep these values as"
        {...(isFull && { fault: `There are ${templatesMax} templates. Forget one first.` })}
      >
        {(control) => (
          <div class="utm-template">
            <input
              {...control}
              autocomplete="off"
              placeholder="Name of the template"
              maxLength={templateNameMax}
              value={name}
              onInput={({ currentTarget }) => setName(currentTarget.value)}
            />
            <button
              type="button"
              class="button plain"
              disabled={trimmed === "" || isEmpty || isFull}
              onClick={() => {
                keep({ name: trimmed, values })
                setChosen(trimmed)
              }}
            >
              Keep
            </button>
          </div>
        )}
      </Field>
    </>
  )
}

interface UtmFieldsProps {
  /** The URL as it is typed. */
  readonly url: string
  /** What differs from it. */
  readonly changes: UtmValues
  readonly onChange: (changes: UtmValues) => void
}

/** Builds the parameters of a campaign into a URL, and shows what it leads to then. What the URL has of them is in the fields already. */
export const UtmFields = ({ changes, onChange, url }: UtmFieldsProps) => {
  const values: UtmValues = { ...utmOf(url), ...changes }
  const built = withUtm(url.trim(), changes)
  return (
    <details class="options utm">
      <summary>
        <Icon name="forth" /> Campaign (UTM parameters)
      </summary>
      <div class="options-grid">
        <Templates values={values} onChoose={(values) => onChange({ ...changes, ...values })} />
        {utmNames.map((name) => (
          <Field key={name} label={labels[name]}>
            {(control) => (
              <input
                {...control}
                name={`utm_${name}`}
                autocomplete="off"
                autocapitalize="none"
                spellcheck={false}
                placeholder={examples[name]}
                value={values[name] ?? ""}
                onInput={({ currentTarget: { value } }) => onChange({ ...changes, [name]: value })}
              />
            )}
          </Field>
        ))}
        {url.trim() !== "" && (
          <p class="utm-built hint">
            Leads to <output>{built}</output>
          </p>
        )}
      </div>
    </details>
  )
}
