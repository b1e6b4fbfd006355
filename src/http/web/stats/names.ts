const regions = new Intl.DisplayNames(undefined, { type: "region" })

const common: Readonly<Record<string, string>> = { other: "Other", unknown: "Unknown", bot: "Bots" }

const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** Names such as iOS are right already. */
const capital = (text: string): string => (/^[a-z ]+$/.test(text) ? capitalised(text) : text)

/** A browser, system or device. */
export const nameOf = (value: string): string => common[value] ?? capital(value)

/** A country by its code (ISO 3166). */
export const countryOf = (value: string): string =>
  common[value] ?? (/^[A-Z]{2}$/.test(value) ? (regions.of(value) ?? value) : value)

/** The host of a page that led here. */
export const referrerOf = (value: string): string =>
  ({ ...common, direct: "Typed, or an app", internal: "This service" })[value] ?? value

/** A rule or variant by its name. */
export const targetOf = (value: string): string =>
  ({ default: "The long URL", other: "Before there were any" })[value] ??
  (/^(rule|variant) \d+$/.test(value) ? capitalised(value) : value)

/** A UTM parameter's value. */
export const utmOf = (value: string): string => (value === "other" ? "None or another" : value)
