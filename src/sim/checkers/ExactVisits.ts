import { Array } from "effect"
import type { Checker } from "../Evidence.ts"
import type { Exchange } from "../History.ts"
import { ms_us } from "../world/Time.ts"
import { createdLinks } from "./createdLinks.ts"

/** Tries that the load balancer gives a redirect; how many it gave one that was never answered is not known. */
const triesMax = 4

/** Visits that a request can have used: each try at a node one, but for the last when that was told that none is left. */
const usedAtMost = ({ status, tries }: Exchange): number => {
  if (status === 0) return triesMax
  return status === 410 ? tries - 1 : tries
}

/**
 * C5: a link with `maxVisits` redirects so often and no more; and it is not said to be used up before so many were asked for. What was granted counts, also
 * when the answer was lost on the way.
 */
export const ExactVisits: Checker = {
  name: "exact visits",
  check: ({ beginning_ms, exchanges, options }) => {
    const clocksJump = options.faults.clockJump.perMinute > 0
    const redirects = Array.groupBy(
      exchanges.filter(({ kind }) => kind === "redirect"),
      ({ key }) => key ?? ""
    )
    return [...createdLinks(exchanges)].flatMap(([key, { create, deleteSent_us }]) => {
      const { expiresAt_ms, maxVisits } = create
      if (maxVisits === undefined) return []
      const asked = redirects[key] ?? []
      const violation = (at_us: number, text: string) => [
        { checker: ExactVisits.name, at_us, text, keys: [key] }
      ]
      const followed = asked.filter(({ status }) => status === 302)
      if (followed.length > maxVisits) {
        const last = followed.at(-1)!
        return violation(
          last.answered_us!,
          `${key} has ${maxVisits} visits, and redirected ${followed.length} times`
        )
      }
      const ended = asked.find(({ status }) => status === 410)
      if (ended === undefined) return []
      const at_us = ended.answered_us!
      const hasExpired =
        expiresAt_ms !== undefined && (clocksJump || beginning_ms + at_us / ms_us >= expiresAt_ms)
      if (deleteSent_us < at_us || hasExpired) return []
      const used = asked
        .filter(({ sent_us }) => sent_us < at_us)
        .reduce((sum, exchange) => sum + usedAtMost(exchange), 0)
      return used < maxVisits
        ? violation(at_us, `${key} has ${maxVisits} visits, and was said to have ended after ${used} at most`)
        : []
    })
  }
}
