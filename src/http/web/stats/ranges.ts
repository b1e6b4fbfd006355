import type { StatsQuery } from "../api/Types.ts"

/** A time to look back on. By default hours are kept for 35 days, days for 1,100. */
export interface Range {
  readonly id: "day" | "week" | "month" | "quarter" | "year"
  readonly interval: "hour" | "day"
  /** Whole days, the one under way included. */
  readonly days: number
}

/** What can be chosen. */
export const ranges: ReadonlyArray<Range> = [
  { id: "day", days: 1, interval: "hour" },
  { id: "week", days: 7, interval: "hour" },
  { id: "month", days: 30, interval: "day" },
  { id: "quarter", days: 90, interval: "day" },
  { id: "year", days: 365, interval: "day" }
]

/** What is shown where nothing was chosen. */
const usual = ranges[2]!

/** Days of UTC, as `2027-01-31`: both are in it. */
export interface Dates {
  readonly first: string
  readonly last: string
}

/** What an address shows, with or without bots. */
export interface Shown {
  readonly range: Range
  /** Own dates take precedence over the range. */
  readonly dates: Dates | undefined
  readonly bots: boolean
  readonly interval: Range["interval"]
}

const day_ms = 86_400_000

const isDay = (text: string | null): text is string =>
  text !== null && /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text))

const datesOf = ({ searchParams }: URL): Dates | undefined => {
  const [first, last] = [searchParams.get("from"), searchParams.get("to")]
  return isDay(first) && isDay(last) && first <= last ? { first, last } : undefined
}

/** What an address shows. */
export const shownAt = (at: URL): Shown => {
  const bots = at.searchParams.get("bots") !== "exclude"
  const dates = datesOf(at)
  if (dates !== undefined) return { range: usual, dates, bots, interval: "day" }
  const range = ranges.find(({ id }) => id === at.searchParams.get("range")) ?? usual
  return { range, dates, bots, interval: range.interval }
}

/** The address of the same place with other values of parameters; without those that are empty. */
const withParameters = (
  { pathname, searchParams }: URL,
  values: Readonly<Record<string, string>>
): string => {
  const others = [...searchParams].filter(([name]) => !Object.hasOwn(values, name))
  const given = Object.entries(values).filter(([, value]) => value !== "")
  const query = new URLSearchParams([...others, ...given]).toString()
  return query === "" ? pathname : `${pathname}?${query}`
}

/** The address of the same place with another value of a parameter; without it where the value is empty. */
export const withParameter = (at: URL, name: string, value: string): string =>
  withParameters(at, { [name]: value })

/** The address of the same place with another range. */
export const pathOf = (at: URL, { id }: Range): string =>
  withParameters(at, { from: "", to: "", range: id === usual.id ? "" : id })

/** The address of the same place with own dates. */
export const pathOfDates = (at: URL, { first, last }: Dates): string =>
  withParameters(at, { range: "", from: first, to: last })

/** The first and the last day of what is shown. */
export const daysOf = ({ dates, range }: Shown, now: number): Dates => {
  if (dates !== undefined) return dates
  const dayOf = (at: number) => new Date(at).toISOString().slice(0, 10)
  const back = range.interval === "day" ? range.days - 1 : range.days
  return { first: dayOf(now - back * day_ms), last: dayOf(now) }
}

/** When a range begins: such that it has as many whole hours or days as its name says, the one under way included. */
const beginningOf = ({ days, interval }: Range, now: number): string =>
  new Date(now - days * day_ms + (interval === "day" ? day_ms : day_ms / 24)).toISOString()

/** What is asked for. */
export const queryOf = ({ bots, dates, interval, range }: Shown, now: number): StatsQuery => ({
  ...(dates === undefined
    ? { from: beginningOf(range, now) }
    : {
        from: new Date(Date.parse(dates.first)).toISOString(),
        to: new Date(Date.parse(dates.last) + day_ms).toISOString()
      }),
  interval,
  ...(!bots && { bots: "exclude" })
})
