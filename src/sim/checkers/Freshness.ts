import type { Checker } from "../Evidence.ts"
import type { Exchange } from "../History.ts"
import { ms_us, s_us } from "../world/Time.ts"
import { databaseTime } from "./databaseTime.ts"
import { createdLinks, type Life, lifeOf, type Lives } from "./lives.ts"

/** For each link, how many targets it had when a change of it was acknowledged, and when that was. */
const acknowledgedChanges = (exchanges: ReadonlyArray<Exchange>, lives: Lives) => {
  const changes = new Map<Life, Array<{ readonly index: number; readonly answered_us: number }>>()
  for (const { answered_us, key, kind, status, url } of exchanges) {
    if (kind !== "change" || status !== 200 || key === undefined || answered_us === undefined) continue
    const life = lifeOf(lives, key, url, answered_us)
    if (life === undefined) continue
    const index = life.versions.findIndex((version) => version.url === url)
    changes.set(life, [...(changes.get(life) ?? []), { index, answered_us }])
  }
  return changes
}

/**
 * C4: within 1 s of a change's answer no node redirects to an earlier target, and of a delete's, or of a link's expiry, not at all. A node that has not reached
 * the database since may miss changes and deletes, for `staleRedirects_s` from its last heartbeat that was answered; never an expiry.
 */
export const Freshness: Checker = {
  name: "freshness",
  check: (evidence) => {
    const { exchanges, lives, options, silences } = evidence
    const time = databaseTime(evidence)
    const created = createdLinks(exchanges, lives)
    const changes = acknowledgedChanges(exchanges, lives)
    const stale_us = options.staleRedirects_s * s_us
    /** Whether a node may not have known at `sent_us` what had been acknowledged at `acknowledged_us`. */
    const isExcused = (node: string | undefined, sent_us: number, acknowledged_us: number) =>
      silences.some(
        ({ by, from_us, until_us }) =>
          by === node &&
          from_us <= acknowledged_us + s_us &&
          sent_us <= Math.min(until_us, from_us + stale_us)
      )
    return exchanges.flatMap(({ answered_us, answeredBy, key, kind, location, sent_us, status }) => {
      if (kind !== "redirect" || status !== 302 || key === undefined) return []
      const life = lifeOf(lives, key, location, answered_us!)
      const link = life && created.get(life)
      if (life === undefined || link === undefined) return []
      const violation = (text: string) => [
        { checker: Freshness.name, at_us: answered_us!, text: `${text}, by ${answeredBy}`, keys: [key] }
      ]
      if (sent_us > link.deleted_us + s_us && !isExcused(answeredBy, sent_us, link.deleted_us)) {
        const late_ms = Math.round((sent_us - link.deleted_us) / ms_us)
        return violation(`${key} was asked for ${late_ms} ms after its deletion, and redirected`)
      }
      // The load balancer sends a change on that was not answered, so that its target may come back after another one.
      const index = life.versions.findLastIndex(
        ({ since_us, url }) => url === location && since_us <= answered_us!
      )
      const missed = changes
        .get(life)
        ?.find(
          (change) =>
            change.index > index &&
            sent_us > change.answered_us + s_us &&
            !isExcused(answeredBy, sent_us, change.answered_us)
        )
      if (missed !== undefined) {
        const late_ms = Math.round((sent_us - missed.answered_us) / ms_us)
        return violation(`${key} was asked for ${late_ms} ms after a change, and led to ${location}`)
      }
      const { expiresAt } = life.link
      const sent_ms = time.least_ms(answeredBy, sent_us, answered_us!)
      return expiresAt !== null && sent_ms > expiresAt + 1_000
        ? violation(
            `${key} was asked for ${Math.round(sent_ms - expiresAt)} ms after it expired, and redirected`
          )
        : []
    })
  }
}
