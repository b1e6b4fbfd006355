/** A time to look back on. Hours are kept for 35 days, days for 1,100. */
export interface Range {
  readonly id: string
  readonly name: string
  readonly days: number
  readonly interval: "hour" | "day"
}

/** What can be chosen. */
export const ranges: ReadonlyArray<Range> = [
  { id: "day", name: "24 hours", days: 1, interval: "hour" },
  { id: "week", name: "7 days", days: 7, interval: "hour" },
  { id: "month", name: "30 days", days: 30, interval: "day" },
  { id: "quarter", name: "90 days", days: 90, interval: "day" },
  { id: "year", name: "A year", days: 365, interval: "day" }
]

const day_ms = 86_400_000

/** When a range begins: such that it has as many whole hours or days as its name says, the one under way included. */
export const beginningOf = ({ days, interval }: Range, now: number): string =>
  new Date(now - days * day_ms + (interval === "day" ? day_ms : day_ms / 24)).toISOString()
