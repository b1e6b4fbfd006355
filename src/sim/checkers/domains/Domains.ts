import { factsOf } from "../../clients/Visitors.ts"
import { changingHost } from "../../deployment/FurtherDomains.ts"
import { endedUrls } from "../../deployment/Visitors.ts"
import type { Checker } from "../../Evidence.ts"
import { ms_us } from "../../world/Time.ts"
import { keptFromReading, knownWithin_us } from "../facts/domainReads.ts"
import { domainStates } from "../facts/domainStates.ts"
import { createdLinks, lifeAt } from "../facts/lives.ts"

/**
 * Two seconds after a domain was verified or removed every node goes by that: while it is served there are no links of the default domain at its host, and otherwise all of them. While the
 * database does not answer a node, what that has read last holds.
 */
export const Domains: Checker = {
  name: "domains",
  check: (evidence) => {
    const { domainChanges, exchanges, lives } = evidence
    const created = createdLinks(exchanges, lives)
    const states = domainStates(evidence.journal)
    const isKeptFromReading = keptFromReading(evidence)
    /** Whether a key has a row from a request's beginning to its end, as far as clients know. */
    const isThere = (key: string, sent_us: number, answered_us: number) => {
      const life = lifeAt(lives, key, sent_us)
      const link = life && created.get(life)
      return (
        link !== undefined &&
        link.create.answered_us! < sent_us &&
        link.life.freed_us > answered_us &&
        link.life.versions.every((version) => version.link.validSince === null)
      )
    }
    return exchanges.flatMap(({ answered_us, answeredBy, key, kind, location, sent_us, status, visitor }) => {
      if (kind !== "probe" || answered_us === undefined || answeredBy === undefined || key === undefined)
        return []
      const last = domainChanges.findLast(({ at_us }) => at_us <= answered_us)
      const passed_us = sent_us - (last?.at_us ?? Number.NEGATIVE_INFINITY)
      if (passed_us <= knownWithin_us || isKeptFromReading(answeredBy, sent_us)) return []
      const isWrong =
        last?.isServed === true
          ? (status === 302 && location?.startsWith(endedUrls) !== true) || status === 410
          : status === 404 && isThere(key, sent_us, answered_us)
      if (
        states.all.length > 1 &&
        last?.isServed === true &&
        !isWrong &&
        factsOf(visitor).isPerson === true &&
        status < 500
      ) {
        const may = states.in(sent_us - knownWithin_us, answered_us)
        if (may.some((one) => one !== null && one.targets.unknown === (location ?? null))) return []
        return [
          {
            checker: Domains.name,
            at_us: answered_us,
            text: `${key} was asked for at ${changingHost}, and led to ${location} by ${answeredBy}, where nobody is sent`,
            keys: [key]
          }
        ]
      }
      if (!isWrong) return []
      const since =
        last === undefined
          ? "which had not been verified yet"
          : `${Math.round(passed_us / ms_us)} ms after that was ${last.isServed ? "verified" : "removed"}`
      return [
        {
          checker: Domains.name,
          at_us: answered_us,
          text: `${key} was asked for at ${changingHost}, ${since}, and answered ${status} by ${answeredBy}`,
          keys: [key]
        }
      ]
    })
  }
}
