import { valueLengthMax } from "../model/Visit.ts"

/** The values of `utm_source`, `utm_medium` and `utm_campaign` that are counted. */
export type UtmParameters = readonly [
  source: string | undefined,
  medium: string | undefined,
  campaign: string | undefined
]

const none: UtmParameters = [undefined, undefined, undefined]

/** A control character cannot be stored, and `other` is the rest in statistics. */
const counted = (text: string | null): string | undefined => {
  const value = text?.trim() ?? ""
  return value === "" || value === "other" || value.length > valueLengthMax || /\p{Cc}/u.test(value)
    ? undefined
    : value
}

/**
 * The UTM parameters in the query of a path, without white space around them; of a parameter that is there twice, the first. One that is empty, is longer than `valueLengthMax`, has control
 * characters or is `other` has no value.
 */
export const parse = (url: string): UtmParameters => {
  // Most have none, and need not be parsed.
  if (!url.includes("utm_")) return none
  const at = url.indexOf("?")
  if (at === -1) return none
  const query = new URLSearchParams(url.slice(at + 1))
  return [
    counted(query.get("utm_source")),
    counted(query.get("utm_medium")),
    counted(query.get("utm_campaign"))
  ]
}
