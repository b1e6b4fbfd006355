import { computed } from "@preact/signals"
import { fill } from "../language/fill.tsx"
import { locale } from "../language/Language.ts"
import { words } from "./words.ts"

const regions = computed(() => new Intl.DisplayNames(locale.value, { type: "region" }))

/** The name of a value that is none of its own, or of a device. */
const common = (value: string): string | undefined => {
  const { value: names } = words()
  return value === "other" ? names.rest : Object.hasOwn(names, value) ? names[value as "bot"] : undefined
}

const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** Names such as iOS are right already. */
const capital = (text: string): string => (/^[a-z ]+$/.test(text) ? capitalised(text) : text)

/** A browser, system or device. */
export const nameOf = (value: string): string => common(value) ?? capital(value)

/** Whether a value is the code of a country (ISO 3166). */
export const isCountry = (value: string): boolean => /^[A-Z]{2}$/.test(value)

/** A country by its code (ISO 3166). */
export const countryOf = (value: string): string =>
  common(value) ?? (isCountry(value) ? (regions.value.of(value) ?? value) : value)

/** A city, with its country's code behind it. */
export const cityOf = (value: string): string => (value === "other" ? words().cityOther : value)

/** The host of a page that led here. */
export const referrerOf = (value: string): string =>
  value === "direct" ? words().direct : value === "internal" ? words().internal : (common(value) ?? value)

/** A rule or variant by its name. */
export const targetOf = (value: string): string => {
  const t = words()
  if (value === "default") return t.default
  if (value === "other") return t.before
  const [, kind, number] = /^(rule|variant) (\d+)$/.exec(value) ?? []
  return number === undefined ? value : fill(kind === "rule" ? t.rule : t.variant, { number })
}

/** A UTM parameter's value. */
export const utmOf = (value: string): string => (value === "other" ? words().utmOther : value)
