import type { Checker } from "../../Evidence.ts"
import type { Link } from "../../../model/Link.ts"
import { choiceNames, choiceOf, isSameChoice } from "../../clients/Choices.ts"
import { deletedLife, lifeLeftBy } from "../facts/lives.ts"

/** Whether two rows have all that clients choose alike. */
const isAlike = (one: Link | null, other: Link): boolean =>
  one !== null &&
  one.url === other.url &&
  choiceNames.every((name) => isSameChoice(choiceOf(one, name), choiceOf(other, name)))

/**
 * C2: what a client was told to be created or changed stands in the database at the end, unless it was changed once more or its key was freed, whatever
 * happened in between, and what it was told to be deleted is a tombstone, or was one.
 */
export const Durability: Checker = {
  name: "durability",
  check: ({ end_us, exchanges, lives, row }) =>
    exchanges.flatMap((exchange) => {
      const { answered_us, choices, key, kind, status, url = choices?.title } = exchange
      if (key === undefined || answered_us === undefined) return []
      const violation = (text: string) => [{ checker: Durability.name, at_us: end_us, text, keys: [key] }]
      if (kind === "delete" && status === 204) {
        const isLater = lives.get(key)?.at(-1) !== deletedLife(lives, key, exchange)
        return !isLater && row(key)?.deletedAt === null ? violation(`${key} was deleted, and lives`) : []
      }
      const isMade = kind === "create" && (status === 200 || status === 201)
      if (!isMade && !(kind === "change" && status === 200)) return []
      const life = lifeLeftBy(lives, key, exchange)
      const isFreed = life !== undefined && life.freed_us < end_us
      const stored = row(key)
      if (isFreed || (life !== undefined && isAlike(stored, life.versions.at(-1)!.link))) return []
      return violation(
        `${key} was ${kind}d for ${url}, and stands for ${stored?.url ?? "nothing"} at the end`
      )
    })
}
