import type { Checker } from "../../Evidence.ts"
import { ms_us, s_us } from "../../world/Time.ts"
import { databaseTime } from "../facts/databaseTime.ts"
import { knownOf } from "../facts/known.ts"
import { leads } from "../facts/targets.ts"
import { createdLinks, lifeLedBy } from "../facts/lives.ts"

/**
 * C4: within 1 s of a change's answer no node redirects as the link was before, and of a delete's, or of a link's expiry, not at all. A store can make a change after its client was
 * answered 503: nodes must know such a change two seconds after its commit, or after a process alone over SQLite has the answer. A node that has not reached the database since may miss changes and deletes, for `staleRedirects_s` from its
 * last heartbeat that was answered; never an expiry.
 */
export const Freshness: Checker = {
  name: "freshness",
  check: (evidence) => {
    const { exchanges, lives } = evidence
    const time = databaseTime(evidence)
    const created = createdLinks(exchanges, lives)
    const { countsFrom_us, isExcused, missedBy, versionsFor } = knownOf(evidence)
    return exchanges.flatMap((exchange) => {
      const { answered_us, answeredBy, key, kind, location, sent_us, status } = exchange
      if (kind !== "redirect" || status !== 302 || key === undefined) return []
      const life = lifeLedBy(lives, key, location, answered_us!)
      const link = life && created.get(life)
      if (life === undefined || link === undefined) return []
      const violation = (text: string) => [
        { checker: Freshness.name, at_us: answered_us!, text: `${text}, by ${answeredBy}`, keys: [key] }
      ]
      const deleted_us = Math.min(link.deleted_us, countsFrom_us(life.ended_us))
      if (sent_us > deleted_us + s_us && !isExcused(life, exchange, deleted_us)) {
        const late_ms = Math.round((sent_us - deleted_us) / ms_us)
        return violation(`${key} was asked for ${late_ms} ms after its deletion, and redirected`)
      }
      // The load balancer sends a change on that was not answered, so that its target may come back after another one.
      const index = life.versions.findLastIndex(
        (version) => version.since_us <= answered_us! && leads(version.link, exchange)
      )
      // What no version leads to is told by `Leading`.
      const missed = index === -1 ? undefined : missedBy(life, index, exchange)
      if (missed !== undefined) {
        const late_ms = Math.round((sent_us - missed.answered_us) / ms_us)
        return violation(`${key} was asked for ${late_ms} ms after a change, and led to ${location}`)
      }
      const sent_ms = time.least_ms(answeredBy, sent_us, answered_us!)
      // What ended last of what it may have gone by.
      const expiresAt = versionsFor(life, exchange)
        .filter((version) => leads(version.link, exchange))
        .reduce((most, version) => Math.max(most, version.link.expiresAt ?? Number.POSITIVE_INFINITY), 0)
      return expiresAt > 0 && sent_ms > expiresAt + 1_000
        ? violation(
            `${key} was asked for ${Math.round(sent_ms - expiresAt)} ms after it expired, and redirected`
          )
        : []
    })
  }
}
