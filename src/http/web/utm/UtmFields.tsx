import { useState } from "preact/hooks"
import { fill, rich } from "../language/fill.tsx"
import { Field } from "../ui/Field.tsx"
import { Icon } from "../ui/Icon.tsx"
import { forget, hasRoomFor, keep, templateNameMax, templates, templatesMax } from "./templates.ts"
import { type UtmName, utmNames, utmOf, type UtmValues, withUtm } from "./utm.ts"
import { words } from "./words.ts"
import "./utm.css"

/** What each is for, by an example. */
const examples: { readonly [Name in UtmName]: string } = {
  source: "newsletter",
  medium: "email",
  campaign: "spring-sale",
  term: "running shoes",
  content: "header button"
}

interface TemplatesProps {
  readonly values: UtmValues
  readonly onChoose: (values: UtmValues) => void
}

/** Chooses a template, keeps the values as one, and forgets the chosen one. */
const Templates = ({ onChoose, values }: TemplatesProps) => {
  const t = words()
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
      <Field label={t.template} hint={t.templateHint}>
        {(control) => (
          <div class="utm-template">
            <select {...control} value={chosen} onChange={({ currentTarget }) => choose(currentTarget.value)}>
              <option value="">{templates.value.length === 0 ? t.noneYet : t.none}</option>
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
                aria-label={fill(t.forget, { name: chosen })}
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
      <Field label={t.keepAs} {...(isFull && { fault: fill(t.full, { max: templatesMax }) })}>
        {(control) => (
          <div class="utm-template">
            <input
              {...control}
              autocomplete="off"
              placeholder={t.name}
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
              {t.keep}
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
        <Icon name="forth" /> {words().title}
      </summary>
      <div class="options-grid">
        <Templates values={values} onChoose={(values) => onChange({ ...changes, ...values })} />
        {utmNames.map((name) => (
          <Field key={name} label={words()[name]}>
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
          <p class="utm-built hint">{rich(words().leadsTo, { target: () => <output>{built}</output> })}</p>
        )}
      </div>
    </details>
  )
}
