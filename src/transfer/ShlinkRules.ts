// Redirect rules of Shlink, as its API shows them, and what they are here.

import type { EntryMessage } from "./Messages.ts"

interface Condition {
  readonly type: string
  readonly matchKey: string
  readonly matchValue: string
}

/** What a condition holds for is said in another way here. */
type When = Readonly<Record<string, unknown>>

/** What Shlink calls devices: systems, and kinds of devices. */
const devices: ReadonlyMap<string, When> = new Map(
  Object.entries({
    android: { os: ["Android"] },
    ios: { os: ["iOS"] },
    windows: { os: ["Windows"] },
    macos: { os: ["macOS"] },
    linux: { os: ["Linux"] },
    chromeos: { os: ["Chrome OS"] },
    desktop: { devices: ["desktop"] },
    // A tablet is a mobile device there.
    mobile: { devices: ["mobile", "tablet"] }
  })
)

/** The network of an address, a CIDR block, or an IPv4 address that ends in wildcards: `192.0.2.*`. */
const networkOf = (text: string): string | undefined => {
  if (!text.includes("*")) return text
  const parts = text.split(".")
  const fixed = parts.findIndex((part) => part === "*")
  const isNetwork = parts.length === 4 && parts.slice(fixed).every((part) => part === "*")
  if (!isNetwork) return undefined
  return `${parts.map((part) => (part === "*" ? "0" : part)).join(".")}/${8 * fixed}`
}

/** `undefined`: it has no counterpart. */
const whenOf = ({ matchKey, matchValue, type }: Condition): When | undefined => {
  switch (type) {
    case "device":
      return devices.get(matchValue.toLowerCase())
    case "language":
      return { languages: [matchValue.replaceAll("_", "-")] }
    case "query-param":
      return { query: [{ name: matchKey, value: matchValue }] }
    case "any-value-query-param":
      return { query: [{ name: matchKey }] }
    case "ip-address": {
      const network = networkOf(matchValue)
      return network === undefined ? undefined : { networks: [network] }
    }
    case "geolocation-country-code":
      return { countries: [matchValue.toUpperCase()] }
    case "before-date":
      return { until: matchValue }
    case "after-date":
      return { from: matchValue }
    default:
      return undefined
  }
}

const objectOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {}

const listOf = (value: unknown): ReadonlyArray<Readonly<Record<string, unknown>>> =>
  Array.isArray(value) ? value.map(objectOf) : []

const textOf = (value: unknown): string => (typeof value === "string" ? value : "")

/** What is wrong with a condition. */
type ConditionFault =
  `the condition ${string} has no counterpart here${"" | " beside another one of its kind"}`

/** The conditions of a rule together; or why they cannot be here. Of those of one kind all must hold there, and here one of them: only query parameters are alike. */
const conditionsOf = (
  conditions: ReadonlyArray<Readonly<Record<string, unknown>>>
): When | ConditionFault => {
  const all: Record<string, unknown> = {}
  for (const given of conditions) {
    const condition = {
      type: textOf(given["type"]),
      matchKey: textOf(given["matchKey"]),
      matchValue: textOf(given["matchValue"])
    }
    const what = `${condition.type} ${condition.matchKey || condition.matchValue}`.trim().slice(0, 80)
    const when = whenOf(condition)
    if (when === undefined) return `the condition ${what} has no counterpart here`
    for (const [name, value] of Object.entries(when)) {
      if (name === "query")
        all[name] = [...((all[name] as ReadonlyArray<unknown>) ?? []), ...(value as ReadonlyArray<unknown>)]
      else if (name in all)
        return `the condition ${what} has no counterpart here beside another one of its kind`
      else all[name] = value
    }
  }
  return all
}

/** The rules of a link, in the order in which they are tried; or what is wrong with one. */
export const rulesOf = (value: unknown): ReadonlyArray<object> | EntryMessage => {
  const given = listOf(value).toSorted(
    (one, other) => Number(one["priority"] ?? 0) - Number(other["priority"] ?? 0)
  )
  const rules: Array<object> = []
  for (const [place, rule] of given.entries()) {
    const when = conditionsOf(listOf(rule["conditions"]))
    if (typeof when === "string") return `rule ${place + 1}: ${when}`
    rules.push({ url: textOf(rule["longUrl"]), when })
  }
  return rules
}
