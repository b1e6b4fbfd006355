import { rulesMax, variantsMax, weightMax } from "../../../model/RuleBounds.ts"
import type { ApiError } from "../api/Client.ts"
import { fill } from "../language/fill.tsx"
import { addressInput } from "../ui/address.ts"
import { Field } from "../ui/Field.tsx"
import { formatPercent } from "../ui/format.ts"
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
import { conditionNames, words } from "./words.ts"
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
    <Field label={words().leadsTo} class="rule-target" fault={error?.faultOf(`${path}.url`)}>
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
    <Field label={words().called} hint={words().calledHint} fault={error?.faultOf(`${path}.name`)}>
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
  /** What it removes. */
  readonly label: string
  readonly onClick: () => void
}

const RemoveButton = ({ label, onClick }: RemoveButtonProps) => (
  <button type="button" class="button plain small" aria-label={label} onClick={onClick}>
    {words().remove}
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
      const t = words()
      const number = index + 1
      const set = (change: Partial<RuleDraft>) => onChange(withAt(drafts, index, change))
      const free = conditionNames.filter((name) => !(name in rule.when))
      return (
        <fieldset key={rule.id} class="rule">
          <legend>{fill(t.rule, { number })}</legend>
          <TargetFields
            target={rule}
            place={fill(t.rulePlaceholder, { number })}
            path={path}
            error={error}
            onChange={set}
          />
          <ConditionFields
            rule={number}
            when={rule.when}
            faultOf={(name) => error?.faultOf(`${path}.when.${name}`)}
            onChange={(when) => set({ when })}
          />
          <Fault text={faultAt(error, `${path}.when`)} />
          <div class="actions">
            {free.length > 0 && (
              <select
                class="rule-add"
                aria-label={fill(t.addCondition, { number })}
                value=""
                onChange={({ currentTarget }) => {
                  const name = currentTarget.value as ConditionName
                  currentTarget.value = ""
                  set({ when: { ...rule.when, ...newCondition(name, ownTimeZone) } })
                }}
              >
                <option value="">{free.length === conditionNames.length ? t.if : t.andIf}</option>
                {free.map((name) => (
                  <option key={name} value={name}>
                    {t.condition[name]}
                  </option>
                ))}
              </select>
            )}
            {index > 0 && (
              <button
                type="button"
                class="button plain small"
                aria-label={fill(t.moveUp, { number })}
                onClick={() => onChange(movedUp(drafts, index))}
              >
                {t.up}
              </button>
            )}
            <RemoveButton
              label={fill(t.removeRule, { number })}
              onClick={() => onChange(drafts.toSpliced(index, 1))}
            />
          </div>
        </fieldset>
      )
    })}
    <Fault text={faultAt(error, "rules")} />
    {drafts.length < rulesMax && (
      <button type="button" class="button plain" onClick={() => onChange([...drafts, newRule()])}>
        <Icon name="plus" /> {words().addRule}
      </button>
    )}
  </>
)

const VariantList = ({ drafts, error, onChange }: ListProps<VariantDraft>) => (
  <>
    {drafts.map((variant, index) => {
      const path = `variants.${index}`
      const t = words()
      const number = index + 1
      const share = shareOf(drafts, variant)
      const set = (change: Partial<VariantDraft>) => onChange(withAt(drafts, index, change))
      return (
        <fieldset key={variant.id} class="rule">
          <legend>{fill(t.variant, { number })}</legend>
          <TargetFields
            target={variant}
            place={fill(t.variantPlaceholder, { number })}
            path={path}
            error={error}
            onChange={set}
          />
          <Field
            label={t.weight}
            fault={error?.faultOf(`${path}.weight`)}
            {...(share !== undefined && { hint: fill(t.share, { share: formatPercent(share / 100) }) })}
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
            <RemoveButton
              label={fill(t.removeVariant, { number })}
              onClick={() => onChange(drafts.toSpliced(index, 1))}
            />
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
        <Icon name="plus" /> {drafts.length === 0 ? words().divide : words().addVariant}
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
      <p class="hint">{words().first}</p>
      <RuleList drafts={rules} error={error} onChange={(rules) => onChange({ ...draft, rules })} />
      <p class="hint">{words().others}</p>
      <VariantList
        drafts={variants}
        error={error}
        onChange={(variants) => onChange({ ...draft, variants })}
      />
    </div>
  )
}
