const number = new Intl.NumberFormat()
const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" })
const moment = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" })

/** 12,345 */
export const formatNumber = (value: number): string => number.format(value)

/** 1 visit, 2 visits */
export const formatCount = (value: number, one: string, many = `${one}s`): string =>
  `${number.format(value)} ${value === 1 ? one : many}`

/** 21 Nov 2026 */
export const formatDay = (time: string): string => day.format(new Date(time))

/** 21 Nov 2026, 10:00 */
export const formatMoment = (time: string): string => moment.format(new Date(time))

/** A URL as it is read: without what all have in common. */
export const formatUrl = (url: string): string => url.replace(/^https?:\/\/(www\.)?/, "").replace(/\/$/, "")

/** A moment as an input of `datetime-local` has it: local, to the minute. */
export const toLocalInput = (time: string | null | undefined): string => {
  if (time === null || time === undefined) return ""
  const date = new Date(time)
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

/** A moment of such an input as the service reads it. */
export const fromLocalInput = (local: string): string => new Date(local).toISOString()
