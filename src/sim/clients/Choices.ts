import { formatMoment } from "../../model/Iso8601.ts"
import { type ExtrasChange, type Link, type LinkChange, unlessChosen } from "../../model/Link.ts"

/** What clients choose of a link beside its target, by the fields of a body. `null` clears one. */
export type Choices = Pick<LinkChange, "maxVisits" | "tags" | "title"> &
  Pick<
    ExtrasChange,
    "archived" | "card" | "expiredUrl" | "forwardPath" | "note" | "publicStats" | "rules" | "variants"
  > & {
    readonly [Name in "crawlable" | "forwardQuery" | "redirectStatus"]?: Link[Name] | null
  } & {
    /** RFC 3339. */
    readonly validSince?: string | null
    readonly password?: string | null
    readonly queryPrecedence?: "append" | "request" | "target" | null
  }

/** The names of all choices. */
export const choiceNames = [
  "maxVisits",
  "password",
  "tags",
  "title",
  "crawlable",
  "forwardQuery",
  "redirectStatus",
  "validSince",
  "archived",
  "card",
  "expiredUrl",
  "forwardPath",
  "note",
  "publicStats",
  "queryPrecedence",
  "rules",
  "variants"
] as const satisfies ReadonlyArray<keyof Choices>

/** What a link has of a choice; `null`: nothing. The virtual hash of a password is itself. */
export const choiceOf = (link: Link, name: keyof Choices): unknown => {
  switch (name) {
    case "maxVisits":
    case "tags":
    case "title":
    case "crawlable":
    case "forwardQuery":
    case "redirectStatus":
      return link[name]
    case "password":
      return link.passwordHash
    case "validSince":
      return link.validSince === null ? null : formatMoment(link.validSince)
    default:
      return link.extras?.[name] ?? null
  }
}

/** The same as it is shown: of a password, whether there is one. */
export const shownOf = (link: Link, name: keyof Choices): unknown => {
  const choice = choiceOf(link, name)
  return name === "password" && choice !== null ? true : choice
}

/** What an answer says of a choice, as `shownOf`. */
export const saidOf = (answer: Partial<Record<string, unknown>>, name: keyof Choices): unknown =>
  name === "password" ? answer["hasPassword"] || null : (answer[name] ?? null)

/** What clears a choice. */
export const clearedOf = (name: string): null | readonly [] => (name === "tags" ? [] : null)

/** What a link has of a choice that is made like this. */
export const chosenAs = (name: keyof Choices, choice: unknown): unknown => {
  if (choice === null && (name === "crawlable" || name === "forwardQuery" || name === "redirectStatus"))
    return unlessChosen[name]
  return name === "queryPrecedence" && choice === "append" ? null : choice
}

const inOneOrder = (_: string, value: unknown): unknown =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
    : value

/** Whether two values of a choice are alike, in whatever order their members are. */
export const isSameChoice = (one: unknown, other: unknown): boolean =>
  one === other ||
  JSON.stringify(one) === JSON.stringify(other) ||
  JSON.stringify(one, inOneOrder) === JSON.stringify(other, inOneOrder)
