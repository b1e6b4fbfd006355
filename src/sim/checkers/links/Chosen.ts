import type { Checker } from "../../Evidence.ts"
import {
  type Choices,
  choiceNames,
  choiceOf,
  chosenAs,
  clearedOf,
  isSameChoice,
  saidOf
} from "../../clients/Choices.ts"
import { endOf } from "../../clients/Lasting.ts"
import type { Link } from "../../../model/Link.ts"
import type { Exchange } from "../../History.ts"
import { databaseTime } from "../facts/databaseTime.ts"
import { lifeLeftBy, versionLeftBy } from "../facts/lives.ts"

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
  check: (evidence) => {
    const { exchanges, lives } = evidence
    const time = databaseTime(evidence)
    /** Whether a link that a create has made ends when that chose, by what the node may have taken for now. */
    const endsAsChosen = ({ answered_us, answeredBy, lasts, sent_us, tries }: Exchange, link: Link) => {
      if (lasts === undefined || link.expiresAt === null)
        return lasts === undefined && link.expiresAt === null
      const { least_ms, most_ms } = time.moments(tries > 1 ? undefined : answeredBy, sent_us, answered_us!)
      return (
        endOf(Math.floor(least_ms), lasts) <= link.expiresAt &&
        link.expiresAt <= endOf(Math.ceil(most_ms), lasts)
      )
    }
    return exchanges.flatMap((exchange) => {
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
      const isNew = kind === "create" && !exchange.isReplay && exchange.reuse !== true
      if (isNew && !endsAsChosen(exchange, link))
        return [
          {
            checker: Chosen.name,
            at_us: answered_us,
            text: `${key} was to last ${textOf(exchange.lasts)} after a create, and ends at ${textOf(link.expiresAt)}`,
            keys: [key]
          }
        ]
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
}
