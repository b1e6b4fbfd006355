import type { Checker } from "../Evidence.ts"
import type { Exchange } from "../History.ts"
import { ms_us, s_us } from "../world/Time.ts"
import { createdLinks } from "./createdLinks.ts"
import { type Version, versionsOf } from "./versions.ts"

/** For each key, how many targets it had when a change of it was acknowledged, and when that was. */
const acknowledgedChanges = (
  exchanges: ReadonlyArray<Exchange>,
  versions: ReadonlyMap<string, ReadonlyArray<Version>>
) => {
  const changes = new Map<string, Array<{ readonly index: number; readonly answered_us: number }>>()
  for (const { answered_us, key, kind, status, url } of exchanges) {
    if (kind !== "change" || status !== 200 || key === undefined || answered_us === undefined) continue
    const index = versions.get(key)?.findIndex((version) => version.url === url) ?? -1
    changes.set(key, [...(changes.get(key) ?? []), { index, answered_us }])
  }
  return changes
}

/** C4: within 1 s of a change's answer no node redirects to an earlier target, and of a delete's, or of a link's expiry, not at all. */
export const Freshness: Checker = {
  name: "freshness",
  check: ({ beginning_ms, exchanges, journal, options }) => {
    const created = createdLinks(exchanges)
    const versions = versionsOf(journal)
    const changes = acknowledgedChanges(exchanges, versions)
    // Expiry is told by a node's own clock.
    const clocksJump = options.faults.clockJump.perMinute > 0
    return exchanges.flatMap(({ answered_us, answeredBy, key, kind, location, sent_us, status }) => {
      const link = key === undefined ? undefined : created.get(key)
      if (kind !== "redirect" || status !== 302 || link === undefined) return []
      const violation = (text: string) => [
        { checker: Freshness.name, at_us: answered_us!, text: `${text}, by ${answeredBy}`, keys: [key!] }
      ]
      if (sent_us > link.deleted_us + s_us) {
        const late_ms = Math.round((sent_us - link.deleted_us) / ms_us)
        return violation(`${key} was asked for ${late_ms} ms after its deletion, and redirected`)
      }
      // The load balancer sends a change on that was not answered, so that its target may come back after another one.
      const index =
        versions
          .get(key!)
          ?.findLastIndex(({ since_us, url }) => url === location && since_us <= answered_us!) ?? -1
      const missed = changes
        .get(key!)
        ?.find((change) => change.index > index && sent_us > change.answered_us + s_us)
      if (missed !== undefined) {
        const late_ms = Math.round((sent_us - missed.answered_us) / ms_us)
        return violation(`${key} was asked for ${late_ms} ms after a change, and led to ${location}`)
      }
      const { expiresAt_ms } = link.create
      const sent_ms = beginning_ms + sent_us / ms_us
      return expiresAt_ms !== undefined && !clocksJump && sent_ms > expiresAt_ms + 1_000
        ? violation(
            `${key} was asked for ${Math.round(sent_ms - expiresAt_ms)} ms after it expired, and redirected`
          )
        : []
    })
  }
}
