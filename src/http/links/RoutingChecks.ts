import { Either } from "effect"
import { IANAZone } from "luxon"
import * as Iso8601 from "../../model/Iso8601.ts"
import { parse as parseNetwork } from "../../model/Network.ts"
import {
  type Conditions,
  isReservedName,
  type Routing,
  routingLengthMax,
  type Rule,
  type Variant
} from "../../model/Rules.ts"
import { oneFault, type Problem } from "../exchange/Problem.ts"
import { checkMoment, checkUrl, type LinkPolicy } from "./LinkChecks.ts"
import type { Message } from "../../model/Messages.ts"

/** Characters of a time zone's name at most. */
const timeZoneLengthMax = 64

const refuse = (path: string, message: Message) => oneFault("invalid-request", path, message)

const checkNetworks = (path: string, networks: ReadonlyArray<string>): Either.Either<void, Problem> => {
  const faulty = networks.findIndex((network) => parseNetwork(network) === undefined)
  return faulty === -1
    ? Either.void
    : refuse(`${path}.${faulty}`, "must be an IP address, or a network such as 192.0.2.0/24")
}

const isTimeZone = (name: string) => name.length <= timeZoneLengthMax && IANAZone.isValidZone(name)

/** Conditions as they are stored: moments in UTC. `path`: where they stand in the body. */
const checkConditions = (path: string, conditions: Conditions): Either.Either<Conditions, Problem> =>
  Either.gen(function* () {
    const momentOf = (name: "from" | "until") => {
      const text = conditions[name]
      return text === undefined ? Either.right(undefined) : checkMoment(`${path}.${name}`, text)
    }
    const [from, until] = [yield* momentOf("from"), yield* momentOf("until")]
    if (Object.keys(conditions).length === 0) yield* refuse(path, "must have a condition")
    if (from !== undefined && until !== undefined && from >= until) {
      yield* refuse(`${path}.until`, "must lie after from")
    }
    const { hours, networks } = conditions
    if (hours !== undefined) {
      const { days, from, timeZone, until } = hours
      if (!isTimeZone(timeZone)) {
        yield* refuse(`${path}.hours.timeZone`, "must be a time zone such as Europe/Berlin")
      }
      if (days === undefined && from === undefined && until === undefined) {
        yield* refuse(`${path}.hours`, "must have days, from or until")
      }
    }
    if (networks !== undefined) yield* checkNetworks(`${path}.networks`, networks)
    return {
      ...conditions,
      ...(from !== undefined && { from: Iso8601.formatMoment(from) }),
      ...(until !== undefined && { until: Iso8601.formatMoment(until) })
    }
  })

/** Takes the name of a rule or a variant, which no other one of the link may have. */
const checkName = (
  path: string,
  { name }: Rule | Variant,
  taken: Set<string>
): Either.Either<void, Problem> => {
  if (name === undefined) return Either.void
  if (isReservedName(name)) return refuse(`${path}.name`, `may not be "${name}", which statistics use`)
  if (taken.has(name)) return refuse(`${path}.name`, "is that of another rule or variant")
  taken.add(name)
  return Either.void
}

/**
 * Checks rules and variants as they are said, and gives them as they are stored. `beside`: those that the link keeps. The problem's path names the rule, such as `rules.3.url`, whose place is counted
 * from 0.
 */
export const checkRouting = (
  { rules, variants }: { readonly [Name in keyof Routing]: Routing[Name] | undefined },
  policy: LinkPolicy,
  beside: Routing = {}
): Either.Either<Routing, Problem> =>
  Either.gen(function* () {
    const checkedRules: Array<Rule> = []
    const checkedVariants: Array<Variant> = []
    const taken = new Set<string>()
    for (const { name } of [...(beside.rules ?? []), ...(beside.variants ?? [])]) {
      if (name !== undefined) taken.add(name)
    }
    for (const [index, rule] of (rules ?? []).entries()) {
      const path = `rules.${index}`
      const url = yield* checkUrl(rule.url, policy, `${path}.url`)
      yield* checkName(path, rule, taken)
      const when = yield* checkConditions(`${path}.when`, rule.when)
      checkedRules.push({ ...rule, url, when })
    }
    for (const [index, variant] of (variants ?? []).entries()) {
      const path = `variants.${index}`
      const url = yield* checkUrl(variant.url, policy, `${path}.url`)
      yield* checkName(path, variant, taken)
      checkedVariants.push({ ...variant, url })
    }
    const checked: Routing = {
      ...(rules !== undefined && { rules: checkedRules }),
      ...(variants !== undefined && { variants: checkedVariants })
    }
    if (
      JSON.stringify({ rules: beside.rules, variants: beside.variants, ...checked }).length > routingLengthMax
    ) {
      yield* refuse(
        rules === undefined ? "variants" : "rules",
        `and variants may have ${routingLengthMax.toLocaleString("en")} characters together at most`
      )
    }
    return checked
  })
