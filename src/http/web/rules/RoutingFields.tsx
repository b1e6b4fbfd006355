import { rulesMax, variantsMax, weightMax } from "../../../model/RuleBounds.ts"
import type { ApiError } from "../api/Client.ts"
import { addressInput } from "../ui/address.ts"
import { Field } from "../ui/Field.tsx"
import { Icon } from "../ui/Icon.tsx"
import { ConditionFields } from "./ConditionFields.tsx"
import {
  type ConditionName,
  newCondition,
  newRule,
  newVariant,
  type RoutingDraft,
  type RuleDraft,
  shareOf,
  type VariantDraft
} from "./drafts.ts"
import { conditionLabels, conditionNames } from "./words.ts"
import "./rules.css"

/** What is wrong with a field, and with nothing in it. */
const faultAt = (error: ApiError | undefined, path: string) =>
  error?.faults.some((fault) => fault.path === path) === true ? error.faultOf(path) : undefined

const Fault = ({ text }: { readonly text: string | undefined }) =>
  text === undefined ? null : <p class="fault">{text}</p>

interface TargetFieldsProps {
  readonly target: RuleDraft | VariantDraft
  readonly place: string
  readonly path: string
  readonly error: ApiError | undefined
  readonly onChange: (change: { readonly url?: string; readonly name?: string }) => void
}

/** What rules and variants have in common. */
const TargetFields = ({ error, onChange, path, place, target }: TargetFieldsProps) => (
  <>
    <Field label="Leads to" class="rule-target" fault={error?.faultOf(`${path}.url`)}>
      {(control) => (
        <input
          {...control}
          {...addressInput}
          placeholder="https://example.com/"
          value={target.url}
          onInput={({ currentTarget }) => onChange({ url: currentTarget.value })}
        />
      )}
    </Field>
    <Field label="Called" hint="In statistics." fault={error?.faultOf(`${path}.name`)}>
      {(control) => (
        <input
          {...control}
          autocomplete="off"
          placeholder={place}
          value={target.name}
          onInput={({ currentTarget }) => onChange({ name: currentTarget.value })}
        />
      )}
    </Field>
  </>
)

interface RemoveButtonProps {
  readonly place: string
  readonly onClick: () => void
}

const RemoveButton = ({ onClick, place }: RemoveButtonProps) => (
  <button type="button" class="button plain small" aria-label={`Remove ${place}`} onClick={onClick}>
    Remove
  </button>
)

interface ListProps<Draft> {
  readonly drafts: ReadonlyArray<Draft>
  readonly error: ApiError | undefined
  readonly onChange: (drafts: ReadonlyArray<Draft>) => void
}

const withAt = <A,>(list: ReadonlyArray<A>, index: number, change: Partial<A>): ReadonlyArray<A> =>
  list.map((one, place) => (place === index ? { ...one, ...change } : one))

const movedUp = <A,>(list: ReadonlyArray<A>, index: number): ReadonlyArray<A> =>
  list.map((one, place) => (place === index ? list[index - 1]! : place === index - 1 ? list[index]! : one))

const ownTimeZone = Intl.DateTimeFormat().resolvedOptions().timeZone

const RuleList = ({ drafts, error, onChange }: ListProps<RuleDraft>) => (
  <>
    {drafts.map((rule, index) => {
      const path = `rules.${index}`
      const place = `rule ${index + 1}`
      const set = (change: Partial<RuleDraft>) => onChange(withAt(drafts, index, change))
      const free = conditionNames.filter((name) => !(name in rule.when))
      return (
        <fieldset key={rule.id} class="rule">
          <legend>Rule {index + 1}</legend>
          <TargetFields target={rule} place={place} path={path} error={error} onChange={set} />
          <ConditionFields
            rule={place}
            when={rule.when}
            faultOf={(name) => error?.faultOf(`${path}.when.${name}`)}
            onChange={(when) => set({ when })}
          />
          <Fault text={faultAt(error, `${path}.when`)} />
          <div class="actions">
            {free.length > 0 && (
              <select
                class="rule-add"
                aria-label={`Add a condition to ${place}`}
                value=""
                onChange={({ currentTarget }) => {
                  const name = currentTarget.value as ConditionName
                  currentTarget.value = ""
                  set({ when: { ...rule.when, ...newCondition(name, ownTimeZone) } })
                }}
              >
                <option value="">{free.length === conditionNames.length ? "If…" : "And if…"}</option>
                {free.map((name) => (
                  <option key={name} value={name}>
                    {conditionLabels[name]}
                  </option>
                ))}
              </select>
            )}
            {index > 0 && (
              <button
                type="button"
                class="button plain small"
                aria-label={`Move ${place} up`}
                onClick={() => onChange(movedUp(drafts, index))}
              >
                Up
              </button>
            )}
            <RemoveButton place={place} onClick={() => onChange(drafts.toSpliced(index, 1))} />
          </div>
        </fieldset>
      )
    })}
    <Fault text={faultAt(error, "rules")} />
    {drafts.length < rulesMax && (
      <button type="button" class="button plain" onClick={() => onChange([...drafts, newRule()])}>
        <Icon name="plus" /> Add a rule
      </button>
    )}
  </>
)

const VariantList = ({ drafts, error, onChange }: ListProps<VariantDraft>) => (
  <>
    {drafts.map((variant, index) => {
      const path = `variants.${index}`
      const place = `variant ${index + 1}`
      const share = shareOf(drafts, variant)
      const set = (change: Partial<VariantDraft>) => onChange(withAt(drafts, index, change))
      return (
        <fieldset key={variant.id} class="rule">
          <legend>Variant {index + 1}</legend>
          <TargetFields target={variant} place={place} path={path} error={error} onChange={set} />
          <Field
            label="Weight"
            fault={error?.faultOf(`${path}.weight`)}
            {...(share !== undefined && { hint: `${share}% of the visitors.` })}
          >
            {(control) => (
              <input
                {...control}
                type="number"
                min={1}
                max={weightMax}
                inputMode="numeric"
                value={variant.weight}
                onInput={({ currentTarget }) => set({ weight: currentTarget.value })}
              />
            )}
          </Field>
          <div class="actions">
            <RemoveButton place={place} onClick={() => onChange(drafts.toSpliced(index, 1))} />
          </div>
        </fieldset>
      )
    })}
    <Fault text={faultAt(error, "variants")} />
    {drafts.length < variantsMax && (
      <button
        type="button"
        class="button plain"
        // One alone would be no choice.
        onClick={() => onChange([...drafts, newVariant(), ...(drafts.length === 0 ? [newVariant()] : [])])}
      >
        <Icon name="plus" /> {drafts.length === 0 ? "Divide visitors" : "Add a variant"}
      </button>
    )}
  </>
)

/** What edits rules and variants. */
export interface RoutingFieldsProps {
  readonly draft: RoutingDraft
  readonly error: ApiError | undefined
  readonly onChange: (draft: RoutingDraft) => void
}

/** Where a link leads whom: rules, and the variants among which it divides the others. */
export const RoutingFields = ({ draft, error, onChange }: RoutingFieldsProps) => {
  const { rules, variants } = draft
  return (
    <div class="rules">
      <p class="hint">The first rule of which all conditions hold decides where a visitor is led.</p>
      <RuleList drafts={rules} error={error} onChange={(rules) => onChange({ ...draft, rules })} />
      <p class="hint">
        Visitors whom no rule leads go to the long URL, or are divided among variants by weight. They keep
        theirs for a day.
      </p>
      <VariantList
        drafts={variants}
        error={error}
        onChange={(variants) => onChange({ ...draft, variants })}
      />
    </div>
  )
}
