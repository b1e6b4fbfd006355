import type { ExtrasChange, Link, LinkChange } from "../../model/Link.ts"
import type { Conditions } from "../../model/Rules.ts"

/** What clients choose of a link beside its target, by the fields of a body. `null` clears one. */
export type Choices = Pick<LinkChange, "maxVisits" | "tags" | "title"> &
  Pick<ExtrasChange, "archived" | "forwardPath" | "note" | "publicStats" | "rules" | "variants">

/** The names of all choices. */
export const choiceNames = [
  "maxVisits",
  "tags",
  "title",
  "archived",
  "forwardPath",
  "note",
  "publicStats",
  "rules",
  "variants"
] as const satisfies ReadonlyArray<keyof Choices>

/** What a link has of a choice; `null`: nothing. */
export const choiceOf = (link: Link, name: keyof Choices): unknown =>
  name === "maxVisits" || name === "tags" || name === "title" ? link[name] : (link.extras?.[name] ?? null)

/** What clears a choice. */
export const clearedOf = (name: string): null | readonly [] => (name === "tags" ? [] : null)

/** Whether two values of a choice are alike. */
export const isSameChoice = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one) === JSON.stringify(other)

/** Visitors of whom rules know something, each something else, and how they are known. */
const known = {
  German: {
    when: { languages: ["de"] },
    headers: { "accept-language": "de-AT,de;q=0.9,en;q=0.5" },
    query: ""
  },
  telephone: {
    when: { devices: ["mobile"] },
    headers: {
      "user-agent":
        "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Mobile Safari/537.36"
    },
    query: ""
  },
  reader: { when: { query: [{ name: "from", value: "letter" }] }, headers: {}, query: "from=letter" }
} as const satisfies Readonly<
  Record<
    string,
    { readonly when: Conditions; readonly headers: Readonly<Record<string, string>>; readonly query: string }
  >
>

/** A visitor of whom rules know something. No rule holds of others. */
export type Visitor = keyof typeof known

/** All of them. */
export const visitors = Object.keys(known) as ReadonlyArray<Visitor>

/** The conditions of a rule that holds of one of them alone. */
export const whenOf = (visitor: Visitor): Conditions => known[visitor].when

/** Whether a rule with such conditions holds of a visitor. */
export const holdsOf = (when: Conditions, visitor: Visitor | undefined): boolean =>
  visitor !== undefined && Object.keys(known[visitor].when).every((name) => name in when)

/** What a visitor's request has by which rules know them. */
export const signsOf = (
  visitor: Visitor | undefined
): { readonly headers: Readonly<Record<string, string>>; readonly query: string } =>
  visitor === undefined ? { headers: {}, query: "" } : known[visitor]
