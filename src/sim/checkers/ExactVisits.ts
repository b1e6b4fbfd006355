import { Array } from "effect"
import type { Checker } from "../Evidence.ts"
import type { Exchange } from "../History.ts"
import { databaseTime } from "./databaseTime.ts"
import { createdLinks } from "./lives.ts"

/** Tries that the load balancer gives a redirect; how many it gave one that was never answered is not known. */
const triesMax = 4

/**
 * Visits that a request can have used: each try at a node one, but for the last when that was told that none is left. `hasEnded`: the link has ended otherwise by the answer; then the node may
 * have taken one, not heard so, and asked once more.
 */
const usedAtMost = ({ status, tries }: Exchange, hasEnded: boolean): number => {
  if (status === 0) return triesMax
  return status === 410 && !hasEnded ? tries - 1 : tries
}

/**
 * C5: a link with `maxVisits` redirects so often and no more; and it is not said to be used up before so many were asked for. What was granted counts, also
 * when the answer was lost on the way.
 */
export const ExactVisits: Checker = {
  name: "exact visits",
  check: (evidence) => {
    const { end_us, exchanges, lives } = evidence
    const time = databaseTime(evidence)
    const redirects = Array.groupBy(
      exchanges.filter(({ kind }) => kind === "redirect"),
      ({ key }) => key ?? ""
    )
    return [...createdLinks(exchanges, lives)].flatMap(([life, { create }]) => {
      const { maxVisits } = create
      if (maxVisits === undefined) return []
      const { bound_us, ended_us, freed_us, link, versions } = life
      const { key } = link
      const asked = (redirects[key] ?? []).filter(
        ({ answered_us = end_us, sent_us }) => answered_us >= bound_us && sent_us <= freed_us
      )
      const violation = (at_us: number, text: string) => [
        { checker: ExactVisits.name, at_us, text, keys: [key] }
      ]
      const followed = asked.filter(
        ({ location, status }) => status === 302 && versions.some(({ url }) => url === location)
      )
      if (followed.length > maxVisits) {
        const last = followed.at(-1)!
        return violation(
          last.answered_us!,
          `${key} has ${maxVisits} visits, and redirected ${followed.length} times`
        )
      }
      const ended = asked.find(({ sent_us, status }) => status === 410 && sent_us >= bound_us)
      if (ended === undefined) return []
      const at_us = ended.answered_us!
      const hasEnded = ({ answeredBy, answered_us = end_us, sent_us }: Exchange) =>
        ended_us <= answered_us || time.mayHaveExpired(link, answeredBy, sent_us, answered_us)
      if (hasEnded(ended)) return []
      const used = asked
        .filter(({ sent_us }) => sent_us < at_us)
        .reduce((sum, exchange) => sum + usedAtMost(exchange, hasEnded(exchange)), 0)
      return used < maxVisits
        ? violation(at_us, `${key} has ${maxVisits} visits, and was said to have ended after ${used} at most`)
        : []
    })
  }
}
