import { DateTime as Moment, Duration as Period } from "luxon"

/** A duration in ISO 8601's designator form; its months and years depend on when it begins. */
export type Duration = Period

/** The last moment that a link can be given, in milliseconds since the Unix epoch: the end of year 9999. */
export const momentMax = Moment.utc(9999, 12, 31, 23, 59, 59, 999).toMillis()

/** Understands `P30D`, `PT10M` or `P1Y2M3DT4H5M6S`; `undefined` for anything else, and for durations that are not above zero. */
export const parseDuration = (text: string): Duration | undefined => {
  if (!/^P(?=.)[0-9.,YMWD]*(T(?=.)[0-9.,HMS]+)?$/.test(text)) return undefined
  const period = Period.fromISO(text)
  return period.isValid && period.toMillis() > 0 ? period : undefined
}

/** The moment that lies a duration after another, in milliseconds since the Unix epoch; `NaN` where there is none. */
export const after = (start_ms: number, duration: Duration): number =>
  Moment.fromMillis(start_ms, { zone: "utc" }).plus(duration).toMillis()

/**
 * Understands a date-time of RFC 3339, section 5.6, in any offset; gives milliseconds since the Unix epoch, `undefined` for anything else, such as
 * the 30th of February. A leap second is not understood.
 */
export const parseMoment = (text: string): number | undefined => {
  if (!/^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)$/.test(text)) return undefined
  const moment = Moment.fromISO(text.toUpperCase(), { setZone: true })
  return moment.isValid ? moment.toMillis() : undefined
}

/** Writes a moment in UTC, with milliseconds. */
export const formatMoment = (moment_ms: number): string =>
  Moment.fromMillis(moment_ms, { zone: "utc" }).toISO()!
