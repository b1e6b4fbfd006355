import { Either } from "effect"
import { daysKept_days, firstDayKept, firstHourKept, hoursKept_days } from "../../visits/VisitMaintenance.ts"
import * as Iso8601 from "../../model/Iso8601.ts"
import { dayHours, hour_ms, hourOf } from "../../model/Visit.ts"
import { type Fault, faulty, oneFault, type Problem } from "../exchange/Problem.ts"
import { pointsMax, type StatsParameters } from "../contract/StatsSchemas.ts"

/** Whole hours or days, from hour `from` to before hour `to`. */
export interface StatsRange {
  readonly interval: "hour" | "day"
  readonly from: number
  readonly to: number
}

/** Hours of a point. */
export const hoursOf = { hour: 1, day: dayHours } as const

/** Points of a range without `from`. */
const pointsByDefault = { hour: 24, day: 30 } as const

const kept = {
  hour: {
    first: firstHourKept,
    text: `are kept by the hour for ${hoursKept_days} days: ask for interval=day`
  },
  day: { first: firstDayKept, text: `are kept by the day for ${daysKept_days} days` }
} as const

const fault = (path: string, message: string) => oneFault("invalid-request", path, message)

/** Checks the query parameters at `now` (milliseconds since the Unix epoch): gives the range, or the problem to answer. */
export const check = (
  parameters: typeof StatsParameters.Type,
  now: number
): Either.Either<StatsRange, Problem> => {
  const faults: Array<Fault> = []
  const momentOf = (path: "from" | "to") => {
    const text = parameters[path]
    if (text === undefined) return undefined
    const moment = typeof text === "string" ? Iso8601.parseMoment(text) : undefined
    if (moment === undefined || moment < 0) {
      faults.push({ path, message: "must be an RFC 3339 date-time since 1970 such as 2027-01-01T00:00:00Z" })
    }
    return moment
  }
  const { interval = "day" } = parameters
  const [fromMoment, toMoment = now] = [momentOf("from"), momentOf("to")]
  if (interval !== "hour" && interval !== "day") {
    faults.push({ path: "interval", message: "must be hour or day" })
    return Either.left(faulty("invalid-request", faults))
  }
  if (faults.length > 0) return Either.left(faulty("invalid-request", faults))

  const hours = hoursOf[interval]
  const to = Math.ceil(toMoment / (hour_ms * hours)) * hours
  const from =
    fromMoment === undefined
      ? to - pointsByDefault[interval] * hours
      : Math.floor(fromMoment / (hour_ms * hours)) * hours
  if (fromMoment !== undefined && fromMoment >= toMoment) return fault("from", "must lie before to")
  if (from < kept[interval].first(hourOf(now)))
    return fault("from", `lies too far back: visits ${kept[interval].text}`)
  if ((to - from) / hours > pointsMax) return fault("to", `must lie within ${pointsMax} ${interval}s of from`)
  return Either.right({ interval, from, to })
}
