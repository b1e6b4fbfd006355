import type { Conditions, Hours } from "../../../model/Rules.ts"
import { aheadBy_min, type TimeZone } from "../../clients/Drafts.ts"
import { factsOf, queryOf } from "../../clients/Visitors.ts"
import type { Wish } from "../../History.ts"

/** The time by which a node may have answered: from one moment to another, in milliseconds since the Unix epoch. */
export interface Moments {
  readonly least_ms: number
  readonly most_ms: number
}

/** Of an answer of which it does not matter when it was given. */
export const whenever: Moments = { least_ms: Number.NEGATIVE_INFINITY, most_ms: Number.POSITIVE_INFINITY }

const minute_ms = 60_000
const day_min = 24 * 60

const minuteOf = (time: string): number => 60 * Number(time.slice(0, 2)) + Number(time.slice(3))

const isKnownZone = (name: string): name is TimeZone => Object.hasOwn(aheadBy_min, name)

/** Whether it is such an hour at a moment. Hours whose end is not after their beginning belong to the day on which they begin. */
const isHour = ({ days, from = "00:00", timeZone, until = "24:00" }: Hours, at_ms: number): boolean => {
  if (!isKnownZone(timeZone)) throw new Error(`no checker knows the time zone ${timeZone}`)
  const local_min = Math.floor(at_ms / minute_ms) + aheadBy_min[timeZone]
  const [first, end] = [minuteOf(from), minuteOf(until)]
  const length = end > first ? end - first : end + day_min - first
  // The first of January 1970 was a Thursday.
  return [0, 1].some((before) => {
    const day = Math.floor(local_min / day_min) - before
    const since_min = local_min - day * day_min - first
    const weekday = ((day + 3) % 7) + 1
    return since_min >= 0 && since_min < length && (days === undefined || days.includes(weekday as 1))
  })
}

/** Moments that are further apart say nothing of hours, which can come and go in between. */
const apartMax_ms = 30_000

type Answer = boolean | undefined

const isLanguage = (wanted: string, language: string | undefined): boolean =>
  language === wanted.toLowerCase() || language?.startsWith(`${wanted.toLowerCase()}-`) === true

/** The parameters of a query string with its question mark, of which clients send none that is encoded. */
export const parametersOf = (
  query: string
): ReadonlyArray<{ readonly name: string; readonly value: string }> =>
  query
    .slice(1)
    .split("&")
    .filter((parameter) => parameter !== "")
    .map((parameter) => {
      const [name = "", value = ""] = parameter.split("=")
      return { name, value }
    })

/** Networks that clients name, and how the addresses in them begin. */
const networks = new Map([
  ["203.0.113.0/25", (address: string) => /^203\.0\.113\.\d{1,2}$/.test(address)],
  ["203.0.113.130", (address: string) => address === "203.0.113.130"],
  ["2001:db8::/32", (address: string) => address.startsWith("2001:db8:")]
])

/** Whether a rule with such conditions holds of a visitor's request, by what docs/api.md says of them; `undefined` where that depends on when in a time it was answered. */
export const holds = (
  conditions: Conditions,
  { from, query, visitor }: Pick<Wish, "from" | "query" | "visitor">,
  { least_ms, most_ms }: Moments
): Answer => {
  const { address = from, country, device, language, os } = factsOf(visitor)
  const sent = parametersOf(queryOf(visitor, query))
  const since = (moment: string): Answer => {
    const at_ms = Date.parse(moment)
    return least_ms >= at_ms ? true : most_ms < at_ms ? false : undefined
  }
  const not = (answer: Answer): Answer => (answer === undefined ? undefined : !answer)
  const duringHours = (hours: Hours): Answer => {
    if (most_ms - least_ms > apartMax_ms) return undefined
    const first = isHour(hours, least_ms)
    return isHour(hours, most_ms) === first ? first : undefined
  }
  const answers: ReadonlyArray<Answer> = [
    conditions.devices?.includes(device) ?? true,
    conditions.os?.includes(os!) ?? true,
    conditions.languages?.some((wanted) => isLanguage(wanted, language)) ?? true,
    conditions.countries?.includes(country!) ?? true,
    conditions.query?.every((wanted) =>
      sent.some(
        ({ name, value }) => name === wanted.name && (wanted.value === undefined || wanted.value === value)
      )
    ) ?? true,
    conditions.from === undefined ? true : since(conditions.from),
    conditions.until === undefined ? true : not(since(conditions.until)),
    conditions.hours === undefined ? true : duringHours(conditions.hours),
    conditions.networks?.some((network) => address !== undefined && networks.get(network)!(address)) ?? true
  ]
  if (answers.includes(false)) return false
  return answers.includes(undefined) ? undefined : true
}
