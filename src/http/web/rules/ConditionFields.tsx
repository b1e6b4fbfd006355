import { useId } from "preact/hooks"
import { fill } from "../language/fill.tsx"
import { Check } from "../ui/Check.tsx"
import { Field } from "../ui/Field.tsx"
import { Icon } from "../ui/Icon.tsx"
import type { ConditionName, ConditionsDraft, HoursDraft } from "./drafts.ts"
import { devices, placeholders, systems, weekdays, words } from "./words.ts"

/** Says what is wrong with a field of a condition, by its place in the condition. */
type FaultOf = (path: string) => string | undefined

interface ChoicesProps {
  readonly label: string
  readonly names: ReadonlyArray<readonly [value: string, name: string]>
  readonly chosen: ReadonlyArray<string>
  readonly fault: string | undefined
  readonly onChange: (chosen: ReadonlyArray<string>) => void
}

/** Some of a few. */
const Choices = ({ chosen, fault, label, names, onChange }: ChoicesProps) => {
  const id = useId()
  return (
    <fieldset class="rule-choices" aria-describedby={fault && id}>
      <legend>{label}</legend>
      {names.map(([value, name]) => (
        <Check
          key={value}
          checked={chosen.includes(value)}
          onChange={(isChosen) =>
            onChange(isChosen ? [...chosen, value] : chosen.filter((one) => one !== value))
          }
        >
          {name}
        </Check>
      ))}
      {fault && (
        <p class="fault" id={id}>
          {fault}
        </p>
      )}
    </fieldset>
  )
}

interface TextProps {
  readonly label: string
  readonly value: string
  readonly fault: string | undefined
  readonly type?: "datetime-local" | "text" | "time"
  readonly hint?: string
  readonly placeholder?: string
  readonly onInput: (value: string) => void
}

const Text = ({ fault, hint, label, onInput, placeholder, type = "text", value }: TextProps) => (
  <Field label={label} fault={fault} {...(hint !== undefined && { hint })}>
    {(control) => (
      <input
        {...control}
        {...({ type } as object)}
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        placeholder={placeholder}
        value={value}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
      />
    )}
  </Field>
)

interface HoursProps {
  readonly value: HoursDraft
  readonly faultOf: FaultOf
  readonly onChange: (value: HoursDraft) => void
}

const Hours = ({ faultOf, onChange, value }: HoursProps) => {
  const t = words()
  const set = (change: Partial<HoursDraft>) => onChange({ ...value, ...change })
  return (
    <div class="stack">
      <div class="two">
        <Text
          label={t.from}
          type="time"
          value={value.from}
          fault={faultOf("hours.from")}
          onInput={(from) => set({ from })}
        />
        <Text
          label={t.until}
          type="time"
          value={value.until}
          fault={faultOf("hours.until")}
          onInput={(until) => set({ until })}
        />
        <Text
          label={t.timeZone}
          value={value.timeZone}
          placeholder="Europe/Berlin"
          fault={faultOf("hours.timeZone")}
          onInput={(timeZone) => set({ timeZone })}
        />
      </div>
      <Choices
        label={t.days}
        names={weekdays()}
        chosen={value.days}
        fault={faultOf("hours.days")}
        onChange={(days) => set({ days })}
      />
      <p class="hint">{t.daysHint}</p>
    </div>
  )
}

interface ConditionProps {
  readonly name: ConditionName
  readonly when: ConditionsDraft
  readonly faultOf: FaultOf
  readonly onChange: (when: ConditionsDraft) => void
}

const Condition = ({ faultOf, name, onChange, when }: ConditionProps) => {
  const t = words()
  const label = t.condition[name]
  switch (name) {
    case "devices":
    case "os":
      return (
        <Choices
          label={label}
          names={name === "os" ? systems() : devices()}
          chosen={when[name] ?? []}
          fault={faultOf(name)}
          onChange={(chosen) => onChange({ ...when, [name]: chosen })}
        />
      )
    case "hours":
      return (
        when.hours && (
          <Hours value={when.hours} faultOf={faultOf} onChange={(hours) => onChange({ ...when, hours })} />
        )
      )
    case "from":
    case "until":
      return (
        <Text
          label={label}
          type="datetime-local"
          value={when[name] ?? ""}
          fault={faultOf(name)}
          onInput={(value) => onChange({ ...when, [name]: value })}
        />
      )
    default:
      return (
        <Text
          label={label}
          value={when[name] ?? ""}
          fault={faultOf(name)}
          hint={t[`${name}Hint`]}
          placeholder={placeholders[name]}
          onInput={(value) => onChange({ ...when, [name]: value })}
        />
      )
  }
}

interface ConditionFieldsProps {
  /** The rule's place from 1 on, for those who do not see where a button is. */
  readonly rule: number
  readonly when: ConditionsDraft
  readonly faultOf: FaultOf
  readonly onChange: (when: ConditionsDraft) => void
}

/** The conditions of a rule, each with a way to remove it. */
export const ConditionFields = ({ faultOf, onChange, rule, when }: ConditionFieldsProps) => (
  <>
    {(Object.keys(when) as Array<ConditionName>).map((name) => (
      <div key={name} class="rule-condition">
        <Condition name={name} when={when} faultOf={faultOf} onChange={onChange} />
        <button
          type="button"
          class="icon-button"
          aria-label={fill(words().removeCondition, {
            condition: words().conditionInText[name],
            number: rule
          })}
          onClick={() => {
            const { [name]: _, ...others } = when
            onChange(others)
          }}
        >
          <Icon name="close" />
        </button>
      </div>
    ))}
  </>
)
