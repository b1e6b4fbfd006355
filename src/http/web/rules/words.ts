import { deviceNames, osNames } from "../../../model/RuleBounds.ts"
import { wordsOf } from "../language/Language.ts"
import english from "../messages/en/rules.ts"
import { formatWeekday } from "../ui/format.ts"
import type { ConditionName } from "./drafts.ts"

/** The texts of this area. */
export const words = wordsOf("rules", english)

/** Conditions in the order in which they are offered. */
export const conditionNames = Object.keys(english.condition) as ReadonlyArray<ConditionName>

/** Conditions that are written as a text, each with an example. */
export const placeholders = {
  languages: "de, fr-CH",
  countries: "DE, AT, CH",
  query: "ref=letter, beta",
  networks: "192.0.2.0/24, 2001:db8::/32"
} as const

/** Devices and what they are called. */
export const devices = () => deviceNames.map((name) => [name, words().device[name]] as const)

/** Operating systems and what they are called. */
export const systems = () => osNames.map((name) => [name, name] as const)

/** The days of the week, from Monday on, and what they are called. */
export const weekdays = () => [1, 2, 3, 4, 5, 6, 7].map((day) => [String(day), formatWeekday(day)] as const)
