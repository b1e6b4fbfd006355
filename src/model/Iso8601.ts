import { DateTime } from "effect"
import { DateTime as Moment, Duration as Period } from "luxon"

/** A duration in ISO 8601's designator form. The length of its months and years depends on when it begins. */
export type Duration = Period

/** The first moment that a link can be given, in milliseconds since the Unix epoch: the beginning of year 0. */
export const momentMin = Date.parse("0000-01-01T00:00:00.000Z")

/** The last moment that a link can be given, in milliseconds since the Unix epoch: the end of year 9999. */
export const momentMax = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/** Parses `P30D`, `PT10M` or `P1Y2M3DT4H5M6S`; `undefined` for anything else, and for durations below a millisecond. */
export const parseDuration = (text: string): Duration | undefined => {
  if (!/^P(?=.)[0-9.,YMWD]*(T(?=.)[0-9.,HMS]+)?$/.test(text)) return undefined
  const period = Period.fromISO(text)
  return period.isValid && period.toMillis() >= 1 ? period : undefined
}

/** The moment a duration after another, in whole milliseconds since the Unix epoch; `NaN` where there is none. */
export const after = (start_ms: number, duration: Duration): number =>
  // A fraction of a week or a day need not be whole milliseconds, and the database has only those.
  Math.round(Moment.fromMillis(start_ms, { zone: "utc" }).plus(duration).toMillis())

/** RFC 3339's syntax, which has no hour 24, without leap seconds. It does not check that the day exists. */
const dateTime =
  /^\d{4}-\d\d-\d\d[Tt]([01]\d|2[0-3])(:[0-5]\d){2}(\.\d{1,9})?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$/

/**
 * Parses a date-time of RFC 3339, section 5.6, in any offset; gives milliseconds since the Unix epoch, `undefined` for anything else, such as
 * the 30th of February. Leap seconds are not accepted.
 */
export const parseMoment = (text: string): number | undefined => {
  if (!dateTime.test(text)) return undefined
  const moment = Moment.fromISO(text.toUpperCase(), { setZone: true })
  return moment.isValid ? moment.toMillis() : undefined
}

/** The last second, as a text without its end: the links of a bulk have moments of one second or two. */
let latest = { second: Number.NaN, text: "" }

/** Formats a moment, a whole number, in UTC, with milliseconds. */
export const formatMoment = (moment_ms: number): string => {
  const second = Math.floor(moment_ms / 1_000)
  if (second !== latest.second) {
    const text = DateTime.formatIso(DateTime.unsafeMake(second * 1_000))
    latest = { second, text: text.slice(0, -"000Z".length) }
  }
  return `${latest.text}${String(moment_ms - second * 1_000).padStart(3, "0")}Z`
}

/** {@link formatMoment}, or `null` for `null`. */
export const formatOptionalMoment = (moment_ms: number | null): string | null =>
  moment_ms === null ? null : formatMoment(moment_ms)
