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

const pace = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 })
const large = new Intl.NumberFormat(undefined, {
  notation: "compact",
  compactDisplay: "long",
  maximumFractionDigits: 2
})
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" })

/** How often something happens: 0, 3.4, 1,250; a dash where that is not known. */
export const formatPace = (perSecond: number | null): string =>
  perSecond === null ? "–" : pace.format(perSecond < 10 ? perSecond : Math.round(perSecond))

/** 3.52 trillion */
export const formatLarge = (value: number): string => large.format(value)

/** 10:00:03 */
export const formatClock = (time: string): string => clock.format(new Date(time))

const spans = [
  ["year", 31_556_952],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
  ["second", 1]
] as const

/** 12 seconds, 3 hours, 9,300 years: in the greatest unit of which there is one at least, and from 100 on no more exact than one can tell. */
export const formatSpan = (seconds: number): string => {
  const [unit, length] = spans.find(([, length]) => seconds >= length) ?? spans.at(-1)!
  const count = Math.floor(seconds / length)
  return count >= 1_000_000
    ? `${formatLarge(count)} ${unit}s`
    : new Intl.NumberFormat(undefined, {
        style: "unit",
        unit,
        unitDisplay: "long",
        ...(count >= 100 && { maximumSignificantDigits: 2 })
      }).format(count)
}

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
