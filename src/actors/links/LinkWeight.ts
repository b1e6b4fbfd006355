import type { Link } from "../../model/Link.ts"
import type { Rule } from "../../model/Rules.ts"

/** Bytes of a cached row without its texts: its members, and its entry in the cache. */
const rowBytes = 512

/** Bytes of a text without its characters, and of its place in what has it. */
const textBytes = 32

/** Bytes of a list or an object without its members. */
const groupBytes = 32

/** What redirects make ready of a rule for many decisions (`http/redirects/rules/Decision`): bytes of a rule with all kinds of conditions, and of one network. */
const compiledRuleBytes = 1_536
const compiledNetworkBytes = 400

/** Two bytes a character: V8 takes so many for all characters of a text that has one beyond Latin-1. */
const textWeight = (text: string): number => textBytes + 2 * text.length

const weightOfAny = (value: unknown): number => {
  if (typeof value === "string") return textWeight(value)
  if (typeof value !== "object" || value === null) return 8
  let sum = groupBytes
  for (const member of Object.values(value)) sum += weightOfAny(member)
  return sum
}

const compiledWeight = (rules: ReadonlyArray<Rule>): number => {
  let sum = 0
  for (const { when } of rules) sum += compiledRuleBytes + compiledNetworkBytes * (when.networks?.length ?? 0)
  return sum
}

const extrasWeight = (extras: NonNullable<Link["extras"]>): number => {
  const { rules, variants } = extras
  // What is compiled has the values of conditions, and the targets, once more.
  const routing = rules === undefined && variants === undefined ? 0 : weightOfAny([rules, variants])
  return weightOfAny(extras) + routing + compiledWeight(rules ?? [])
}

/**
 * How many bytes a cached row takes, as an estimate from the lengths of its texts, with what is compiled of its rules. A row without extras costs a few additions.
 */
export const weightOf = ({ extras, key, passwordHash, tags, title, url }: Link): number => {
  // A URL is ASCII, as the WHATWG URL Standard writes it.
  let sum = rowBytes + url.length + key.length
  if (title !== null) sum += textWeight(title)
  if (passwordHash !== null) sum += passwordHash.length
  for (const tag of tags) sum += textWeight(tag)
  return extras === undefined ? sum : sum + extrasWeight(extras)
}
