import { deviceNames, osNames } from "../../../model/RuleBounds.ts"
import type { ConditionName } from "./drafts.ts"

/** What each condition is called. */
export const conditionLabels: { readonly [Name in ConditionName]: string } = {
  devices: "Devices",
  os: "Systems",
  languages: "Browser languages",
  countries: "Countries",
  query: "Query parameters",
  from: "Begins",
  until: "Ends before",
  hours: "Hours",
  networks: "Addresses"
}

/** In the order in which they are offered. */
export const conditionNames = Object.keys(conditionLabels) as ReadonlyArray<ConditionName>

/** How the text of a condition is written, and an example. */
export const textHints: {
  readonly [Name in ConditionName]?: { readonly hint: string; readonly placeholder: string }
} = {
  languages: { hint: "Any of these, separated by commas.", placeholder: "de, fr-CH" },
  countries: { hint: "Any of these codes (ISO 3166), separated by commas.", placeholder: "DE, AT, CH" },
  query: { hint: "All of these in the short link, separated by commas.", placeholder: "ref=letter, beta" },
  networks: { hint: "Any of these, separated by commas.", placeholder: "192.0.2.0/24, 2001:db8::/32" }
}

const deviceWords: { readonly [Name in (typeof deviceNames)[number]]: string } = {
  desktop: "Desktop",
  mobile: "Mobile",
  tablet: "Tablet",
  tv: "TV",
  bot: "Bots"
}

export const devices = deviceNames.map((name) => [name, deviceWords[name]] as const)

export const systems = osNames.map((name) => [name, name] as const)

export const weekdays = [
  ["1", "Monday"],
  ["2", "Tuesday"],
  ["3", "Wednesday"],
  ["4", "Thursday"],
  ["5", "Friday"],
  ["6", "Saturday"],
  ["7", "Sunday"]
] as const
