import { computed } from "@preact/signals"
import { locale } from "../language/Language.ts"

/** What writes numbers and times in the page's language. */
const formats = computed(() => {
  const tag = locale.value
  const numbers = (options: Intl.NumberFormatOptions = {}) => new Intl.NumberFormat(tag, options)
  const times = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(tag, options)
  return {
    number: numbers(),
    percent: numbers({ style: "percent", maximumFractionDigits: 1 }),
    pace: numbers({ maximumFractionDigits: 1 }),
    large: numbers({ notation: "compact", compactDisplay: "long", maximumFractionDigits: 2 }),
    day: times({ dateStyle: "medium" }),
    dayOfUtc: times({ dateStyle: "medium", timeZone: "UTC" }),
    moment: times({ dateStyle: "medium", timeStyle: "short" }),
    clock: times({ timeStyle: "medium" }),
    weekday: times({ weekday: "long", timeZone: "UTC" })
  }
})

/** 12,345 */
export const formatNumber = (value: number): string => formats.value.number.format(value)

/** 12%, of a share from 0 to 1. */
export const formatPercent = (share: number): string => formats.value.percent.format(share)

/** 21 Nov 2026 */
export const formatDay = (time: string): string => formats.value.day.format(new Date(time))

/** 21 Nov 2026, of a day of UTC. */
export const formatDayOfUtc = (time: string): string => formats.value.dayOfUtc.format(new Date(time))

/** 21 Nov 2026, 10:00 */
export const formatMoment = (time: string): string => formats.value.moment.format(new Date(time))

/** Monday, of a day of the week from 1 to 7. */
export const formatWeekday = (day: number): string =>
  // The first of January 2024 was a Monday.
  formats.value.weekday.format(new Date(Date.UTC(2024, 0, day)))

/** How often something happens: 0, 3.4, 1,250; a dash where that is not known. */
export const formatPace = (perSecond: number | null): string =>
  perSecond === null ? "–" : formats.value.pace.format(perSecond < 10 ? perSecond : Math.round(perSecond))

/** 3.52 trillion */
export const formatLarge = (value: number): string => formats.value.large.format(value)

/** 10:00:03 */
export const formatClock = (time: string): string => formats.value.clock.format(new Date(time))

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
  return new Intl.NumberFormat(locale.value, {
    style: "unit",
    unit,
    unitDisplay: "long",
    ...(count >= 1_000_000
      ? { notation: "compact", compactDisplay: "long", maximumFractionDigits: 2 }
      : count >= 100 && { maximumSignificantDigits: 2 })
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
