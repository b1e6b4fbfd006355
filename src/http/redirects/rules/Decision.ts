import { LRUCache } from "lru-cache"
import { DateTime } from "luxon"
import { atMost } from "../../../fibers/LruCacheOptions.ts"
import { remembering } from "../../../fibers/Remembered.ts"
import { type Address, contains, type Network, parse as parseNetwork } from "../../../model/Network.ts"
import {
  type Conditions,
  defaultTarget,
  type Hours,
  type Routing,
  targetNameOf,
  type Variant
} from "../../../model/Rules.ts"

/** What conditions look at of a visitor. Each is found when the first condition asks for it; `undefined` where it is not known. */
export interface Facts {
  /** Milliseconds since the Unix epoch. */
  readonly now: number
  readonly device: () => string | undefined
  readonly os: () => string | undefined
  /** The language that the browser prefers, in lower case. */
  readonly language: () => string | undefined
  /** ISO 3166-1, two letters. */
  readonly country: () => string | undefined
  readonly query: () => URLSearchParams
  readonly address: () => Address | undefined
  /** A number from 0 to 2^48 − 1 that is drawn once for the visitor, the link and the day. */
  readonly draw: () => number
}

/** Where a visitor is led, and the name by which the visit is counted. */
export interface Target {
  readonly url: string
  readonly name: string
}

type Holds = (facts: Facts) => boolean

interface CompiledRule {
  readonly conditions: ReadonlyArray<Holds>
  readonly target: Target
}

/** Variants, each with the sum of the weights up to and with its own. */
interface Shares {
  readonly ends: ReadonlyArray<number>
  readonly targets: ReadonlyArray<Target>
}

/** Rules and variants, made ready for many decisions. */
export interface Compiled {
  readonly rules: ReadonlyArray<CompiledRule>
  readonly shares: Shares | undefined
  readonly otherwise: Target
  /** Request headers by which targets differ, for `Vary`; `undefined`: none. */
  readonly vary: string | undefined
}

const isAnyOf = (values: ReadonlyArray<string>, factOf: (facts: Facts) => string | undefined): Holds => {
  const all = new Set(values)
  return (facts) => {
    const fact = factOf(facts)
    return fact !== undefined && all.has(fact)
  }
}

/** `de` is any language that begins with it, `de-at` itself alone and what is more special (RFC 4647, section 3.3.1). */
const isInRange = (language: string, range: string): boolean =>
  language.startsWith(range) && (language.length === range.length || language[range.length] === "-")

const isLanguage = (languages: ReadonlyArray<string>): Holds => {
  const ranges = languages.map((language) => language.toLowerCase())
  return (facts) => {
    const language = facts.language()
    if (language === undefined) return false
    for (const range of ranges) if (isInRange(language, range)) return true
    return false
  }
}

const hasParameters =
  (parameters: NonNullable<Conditions["query"]>): Holds =>
  (facts) => {
    const query = facts.query()
    return parameters.every(({ name, value }) =>
      value === undefined ? query.has(name) : query.getAll(name).includes(value)
    )
  }

const minute_ms = 60_000
const dayMinutes = 24 * 60

/** A minute of a week somewhere. */
interface LocalMinute {
  /** Whole minutes since the Unix epoch. */
  readonly minute: number
  /** From 1, Monday, to 7. */
  readonly day: number
  readonly ofDay: number
}

/** The last minute that was asked for of each of the latest time zones: the same for all visitors of a minute. */
const localMinutes = new LRUCache<string, LocalMinute>(atMost(64))

/** The one name of a time zone, whose name may be spelt in capital and small letters at will: Luxon keeps a formatter for each spelling, of some 57 KB, for good. */
const zoneNameOf = remembering(
  1_024,
  (timeZone) => new Intl.DateTimeFormat("en", { timeZone }).resolvedOptions().timeZone
)

const localMinuteOf = (now: number, timeZone: string): LocalMinute => {
  const minute = Math.floor(now / minute_ms)
  const known = localMinutes.get(timeZone)
  if (known?.minute === minute) return known
  const local = DateTime.fromMillis(now, { zone: timeZone })
  const found = { minute, day: local.weekday, ofDay: 60 * local.hour + local.minute }
  localMinutes.set(timeZone, found)
  return found
}

const minutesOf = (time: string): number => 60 * Number(time.slice(0, 2)) + Number(time.slice(3))

const dayBefore = (day: number): number => (day === 1 ? 7 : day - 1)

const isWithinHours = ({ days, from = "00:00", timeZone: spelling, until }: Hours): Holds => {
  const timeZone = zoneNameOf(spelling)
  const all = new Set<number>(days ?? [1, 2, 3, 4, 5, 6, 7])
  const first = minutesOf(from)
  const end = until === undefined ? dayMinutes : minutesOf(until)
  return ({ now }) => {
    const { day, ofDay } = localMinuteOf(now, timeZone)
    if (first < end) return all.has(day) && ofDay >= first && ofDay < end
    // It goes on after midnight, as a part of the day on which it began.
    return (ofDay >= first && all.has(day)) || (ofDay < end && all.has(dayBefore(day)))
  }
}

const isInNetworks = (texts: ReadonlyArray<string>): Holds => {
  const networks = texts.map(parseNetwork).filter((network): network is Network => network !== undefined)
  return (facts) => {
    const address = facts.address()
    return address !== undefined && contains(networks, address)
  }
}

/** What conditions ask for, what costs the least first. */
const compileConditions = (conditions: Conditions): ReadonlyArray<Holds> => {
  const { countries, devices, from, hours, languages, networks, os, query, until } = conditions
  const all: Array<Holds> = []
  // As they are stored. `Iso8601.parseMoment` does not know the years before 0 and after 9999, which some links have from when these were not refused.
  if (from !== undefined) {
    const first = Date.parse(from)
    all.push(({ now }) => now >= first)
  }
  if (until !== undefined) {
    const end = Date.parse(until)
    all.push(({ now }) => now < end)
  }
  if (hours !== undefined) all.push(isWithinHours(hours))
  if (query !== undefined) all.push(hasParameters(query))
  if (devices !== undefined) all.push(isAnyOf(devices, (facts) => facts.device()))
  if (os !== undefined) all.push(isAnyOf(os, (facts) => facts.os()))
  if (languages !== undefined) all.push(isLanguage(languages))
  if (networks !== undefined) all.push(isInNetworks(networks))
  if (countries !== undefined) all.push(isAnyOf(countries, (facts) => facts.country()))
  return all
}

const sharesOf = (variants: ReadonlyArray<Variant>): Shares => {
  let sum = 0
  return {
    ends: variants.map(({ weight }) => (sum += weight)),
    targets: variants.map((variant, index) => ({
      url: variant.url,
      name: targetNameOf("variant", variant, index)
    }))
  }
}

const varyOf = (rules: NonNullable<Routing["rules"]>): string | undefined => {
  const names = [
    ...(rules.some(({ when: { devices, os } }) => devices !== undefined || os !== undefined)
      ? ["user-agent"]
      : []),
    ...(rules.some(({ when: { languages } }) => languages !== undefined) ? ["accept-language"] : [])
  ]
  return names.length === 0 ? undefined : names.join(", ")
}

/** Makes rules and variants ready that have passed the checks of a link. `url`: where visitors are led who get neither. */
export const compile = ({ rules = [], variants }: Routing, url: string): Compiled => ({
  rules: rules.map((rule, index) => ({
    conditions: compileConditions(rule.when),
    target: { url: rule.url, name: targetNameOf("rule", rule, index) }
  })),
  shares: variants === undefined ? undefined : sharesOf(variants),
  otherwise: { url, name: defaultTarget },
  vary: varyOf(rules)
})

const holds = ({ conditions }: CompiledRule, facts: Facts): boolean => {
  for (const condition of conditions) if (!condition(facts)) return false
  return true
}

/** Decides where a visitor is led: by the first rule that holds, else by the variant whose share they are in, else by the link's own URL. */
export const decide = ({ otherwise, rules, shares }: Compiled, facts: Facts): Target => {
  for (const rule of rules) if (holds(rule, facts)) return rule.target
  if (shares === undefined) return otherwise
  const { ends, targets } = shares
  const point = facts.draw() % ends.at(-1)!
  return targets[ends.findIndex((end) => point < end)]!
}
