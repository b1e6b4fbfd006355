/** A time to look back on. Hours are kept for 35 days, days for 1,100. */
export interface Range {
  readonly id: string
  readonly name: string
  readonly past: string
  readonly days: number
  readonly interval: "hour" | "day"
}

/** What can be chosen. */
export const ranges: ReadonlyArray<Range> = [
  { id: "day", name: "24 hours", past: "in the last 24 hours", days: 1, interval: "hour" },
  { id: "week", name: "7 days", past: "in the last 7 days", days: 7, interval: "hour" },
  { id: "month", name: "30 days", past: "in the last 30 days", days: 30, interval: "day" },
  { id: "quarter", name: "90 days", past: "in the last 90 days", days: 90, interval: "day" },
  { id: "year", name: "A year", past: "in the last year", days: 365, interval: "day" }
]

/** What is shown where nothing was chosen. */
const usual = ranges[2]!

/** The range that an address has. */
export const rangeOf = ({ searchParams }: URL): Range =>
  ranges.find(({ id }) => id === searchParams.get("range")) ?? usual

/** The address of the same place with another value of a parameter; without it where the value is empty. */
export const withParameter = ({ pathname, searchParams }: URL, name: string, value: string): string => {
  const others = [...searchParams].filter(([other]) => other !== name)
  const query = new URLSearchParams(value === "" ? others : [...others, [name, value]]).toString()
  return query === "" ? pathname : `${pathname}?${query}`
}

/** The address of the same place with another range. */
export const pathOf = (at: URL, { id }: Range): string =>
  withParameter(at, "range", id === usual.id ? "" : id)

const day_ms = 86_400_000

/** When a range begins: such that it has as many whole hours or days as its name says, the one under way included. */
export const beginningOf = ({ days, interval }: Range, now: number): string =>
  new Date(now - days * day_ms + (interval === "day" ? day_ms : day_ms / 24)).toISOString()
