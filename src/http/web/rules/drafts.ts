import type { Link } from "../api/Types.ts"
import { addressOf } from "../ui/address.ts"
import { fromLocalInput, toLocalInput } from "../ui/format.ts"
import { tagsOf as partsOf } from "../ui/tags.ts"

type Rule = NonNullable<Link["rules"]>[number]
type Variant = NonNullable<Link["variants"]>[number]
type Conditions = Rule["when"]
type Hours = NonNullable<Conditions["hours"]>

/** Hours as inputs have them. */
export interface HoursDraft {
  readonly timeZone: string
  readonly from: string
  readonly until: string
  readonly days: ReadonlyArray<string>
}

/** Conditions as inputs have them: lists that are chosen, or texts with commas between their parts. */
export interface ConditionsDraft {
  readonly devices?: ReadonlyArray<string>
  readonly os?: ReadonlyArray<string>
  readonly languages?: string
  readonly countries?: string
  readonly query?: string
  readonly from?: string
  readonly until?: string
  readonly hours?: HoursDraft
  readonly networks?: string
}

/** The name of a condition. */
export type ConditionName = keyof ConditionsDraft

/** A rule as inputs have it. `id` is one that no other draft of the page has. */
export interface RuleDraft {
  readonly id: number
  readonly url: string
  readonly name: string
  readonly when: ConditionsDraft
}

/** A variant as inputs have it. */
export interface VariantDraft {
  readonly id: number
  readonly url: string
  readonly name: string
  readonly weight: string
}

/** Rules and variants as inputs have them. */
export interface RoutingDraft {
  readonly rules: ReadonlyArray<RuleDraft>
  readonly variants: ReadonlyArray<VariantDraft>
}

let drafts = 0

/** A rule that is still to be said. */
export const newRule = (): RuleDraft => ({ id: ++drafts, url: "", name: "", when: {} })

/** A variant that is still to be said. */
export const newVariant = (): VariantDraft => ({ id: ++drafts, url: "", name: "", weight: "1" })

/** What a condition begins with. */
export const newCondition = (name: ConditionName, timeZone: string): ConditionsDraft => {
  switch (name) {
    case "devices":
    case "os":
      return { [name]: [] }
    case "hours":
      return { hours: { timeZone, from: "09:00", until: "17:00", days: ["1", "2", "3", "4", "5"] } }
    default:
      return { [name]: "" }
  }
}

const textOf = (values: ReadonlyArray<string>) => values.join(", ")

/** What would be taken for a sign between parameters is written as in a URL. */
const encoded = (text: string) => text.replace(/[%,=]|^\s|\s$/gu, encodeURIComponent)

const decoded = (text: string) => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

const parameterText = ({ name, value }: NonNullable<Conditions["query"]>[number]) =>
  value === undefined ? encoded(name) : `${encoded(name)}=${encoded(value)}`

const parameterOf = (text: string) => {
  const at = text.indexOf("=")
  return at === -1
    ? { name: decoded(text) }
    : { name: decoded(text.slice(0, at)), value: decoded(text.slice(at + 1)) }
}

const conditionsDraftOf = (when: Conditions): ConditionsDraft => {
  const { countries, devices, from, hours, languages, networks, os, query, until } = when
  return {
    ...(devices && { devices }),
    ...(os && { os }),
    ...(languages && { languages: textOf(languages) }),
    ...(countries && { countries: textOf(countries) }),
    ...(query && { query: textOf(query.map(parameterText)) }),
    ...(from && { from: toLocalInput(from) }),
    ...(until && { until: toLocalInput(until) }),
    ...(hours && {
      hours: {
        timeZone: hours.timeZone,
        from: hours.from ?? "",
        until: hours.until ?? "",
        days: (hours.days ?? []).map(String)
      }
    }),
    ...(networks && { networks: textOf(networks) })
  }
}

const hoursOf = ({ days, from, timeZone, until }: HoursDraft): Hours => ({
  timeZone: timeZone.trim(),
  ...(days.length > 0 && { days: days.map(Number).toSorted() as NonNullable<Hours["days"]> }),
  ...(from !== "" && { from }),
  ...(until !== "" && { until })
})

/** A moment of an input; what is no moment is left to the service to refuse. */
const momentOf = (local: string) => (local === "" ? "" : fromLocalInput(local))

const conditionsOf = (draft: ConditionsDraft): Conditions => {
  const { countries, devices, from, hours, languages, networks, os, query, until } = draft
  return {
    ...(devices && { devices: devices as NonNullable<Conditions["devices"]> }),
    ...(os && { os: os as NonNullable<Conditions["os"]> }),
    ...(languages !== undefined && { languages: partsOf(languages) }),
    ...(countries !== undefined && { countries: partsOf(countries.toUpperCase()) }),
    ...(query !== undefined && { query: partsOf(query).map(parameterOf) }),
    ...(from !== undefined && { from: momentOf(from) }),
    ...(until !== undefined && { until: momentOf(until) }),
    ...(hours && { hours: hoursOf(hours) }),
    ...(networks !== undefined && { networks: partsOf(networks) })
  }
}

const named = (name: string) => (name.trim() === "" ? {} : { name: name.trim() })

/** What inputs begin with for a link, or for a new one. */
export const draftOf = ({ rules = [], variants = [] }: Pick<Link, "rules" | "variants">): RoutingDraft => ({
  rules: rules.map(({ name = "", url, when }) => ({
    id: ++drafts,
    url,
    name,
    when: conditionsDraftOf(when)
  })),
  variants: variants.map(({ name = "", url, weight }) => ({
    id: ++drafts,
    url,
    name,
    weight: String(weight)
  }))
})

/** The rules as the service is told. */
export const rulesOf = (drafts: RoutingDraft["rules"]): ReadonlyArray<Rule> =>
  drafts.map(({ name, url, when }) => ({ url: addressOf(url), ...named(name), when: conditionsOf(when) }))

/** The variants as the service is told. */
export const variantsOf = (drafts: RoutingDraft["variants"]): ReadonlyArray<Variant> =>
  drafts.map(({ name, url, weight }) => ({ url: addressOf(url), ...named(name), weight: Number(weight) }))

const saidOf = (draft: RoutingDraft) => ({
  rules: rulesOf(draft.rules),
  variants: variantsOf(draft.variants)
})

/** What a new link is told of rules and variants: nothing where there are none. */
export const choicesOf = (draft: RoutingDraft): Pick<Link, "rules" | "variants"> => {
  const { rules, variants } = saidOf(draft)
  return { ...(rules.length > 0 && { rules }), ...(variants.length > 0 && { variants }) }
}

/** Whether two say the same. */
const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)

/** What differs from before, as a change tells the service: `null` where none are left. */
export const changeOf = (before: RoutingDraft, after: RoutingDraft) => {
  const [was, is] = [saidOf(before), saidOf(after)]
  return {
    ...(!isSame(was.rules, is.rules) && { rules: is.rules.length === 0 ? null : is.rules }),
    ...(!isSame(was.variants, is.variants) && { variants: is.variants.length === 0 ? null : is.variants })
  }
}

/** The share of a variant in percent; `undefined` as long as a weight is no number. */
export const shareOf = (variants: RoutingDraft["variants"], { weight }: VariantDraft): number | undefined => {
  const sum = variants.reduce((sum, other) => sum + Number(other.weight), 0)
  const share = Math.round((100 * Number(weight)) / sum)
  return Number.isFinite(share) ? share : undefined
}
