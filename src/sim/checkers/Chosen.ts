import type { Checker } from "../Evidence.ts"
import {
  type Choices,
  choiceNames,
  choiceOf,
  chosenAs,
  clearedOf,
  isSameChoice,
  saidOf
} from "../clients/Choices.ts"
import type { Exchange } from "../History.ts"
import { lifeLeftBy, versionLeftBy } from "./facts/lives.ts"

const textOf = (value: unknown) => JSON.stringify(value ?? null)

/** What a create leaves that does not choose it; of passwords nothing is said. */
const unchosenAs = (name: keyof Choices, { maxVisits }: Exchange): unknown => {
  if (name === "maxVisits") return maxVisits ?? null
  return name === "password" ? undefined : chosenAs(name, clearedOf(name))
}

/**
 * C2 for what else is chosen of a link: it is as an acknowledged create or change chose it, a create leaves nothing else, a change leaves as it was what it does not name, and its answer says so. That it stays so
 * until the next change follows from the store's own record, and that redirects go by it is told by `Leading` and `Freshness`.
 */
export const Chosen: Checker = {
  name: "choices",
  check: ({ exchanges, lives }) =>
    exchanges.flatMap((exchange) => {
      const { answered_us, body, choices = {}, key, kind, status } = exchange
      const isMade = (kind === "create" && status === 201) || (kind === "change" && status === 200)
      if (key === undefined || answered_us === undefined || !isMade) return []
      const life = lifeLeftBy(lives, key, exchange)
      if (life === undefined) return []
      const index = versionLeftBy(life, exchange)
      const { link } = life.versions[index]!
      const before = life.versions[index - 1]?.link
      const answer =
        body === undefined || exchange.choices === undefined
          ? undefined
          : (JSON.parse(body) as Partial<Record<string, unknown>>)
      return choiceNames.flatMap((name: keyof Choices) => {
        const unchosen = kind === "create" ? unchosenAs(name, exchange) : before && choiceOf(before, name)
        const wanted = name in choices ? chosenAs(name, choices[name]) : unchosen
        const stored = choiceOf(link, name)
        const said = answer && saidOf(answer, name)
        const violation = (text: string) => [
          { checker: Chosen.name, at_us: answered_us, text: `${key} ${text}`, keys: [key] }
        ]
        if (wanted !== undefined && !isSameChoice(stored, wanted))
          return violation(
            `should have ${textOf(wanted)} as ${name} after a ${kind}, and has ${textOf(stored)}`
          )
        // Another change may have come between, of which the answer may tell.
        const isLast = life.versions.length === index + 1
        return isLast && answer !== undefined && !isSameChoice(said, stored)
          ? violation(`has ${textOf(stored)} as ${name}, and the answer to a ${kind} says ${textOf(said)}`)
          : []
      })
    })
}
