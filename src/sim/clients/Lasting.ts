import { DateTime } from "effect"

/** How long a link is to last: whole months, then days, then seconds. */
export interface Lasting {
  readonly months: number
  readonly days: number
  readonly seconds: number
}

const partOf = (count: number, unit: string) => (count === 0 ? "" : `${count}${unit}`)

/** The same as the API is told it. */
export const durationOf = ({ days, months, seconds }: Lasting): string => {
  const date = partOf(Math.floor(months / 12), "Y") + partOf(months % 12, "M") + partOf(days, "D")
  return `P${date}${seconds === 0 ? "" : `T${seconds}S`}`
}

/** When it ends, where it begins at a moment: both are milliseconds since the Unix epoch. A month ends at its last day where it has no such day as the one that it begins at. */
export const endOf = (begins_ms: number, { days, months, seconds }: Lasting): number =>
  DateTime.toEpochMillis(
    DateTime.unsafeMake(begins_ms).pipe(
      DateTime.add({ months }),
      DateTime.add({ days }),
      DateTime.add({ seconds })
    )
  )
