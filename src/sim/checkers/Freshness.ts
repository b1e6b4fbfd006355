import type { Checker } from "../Evidence.ts"
import { ms_us, s_us } from "../world/Time.ts"
import { createdLinks } from "./createdLinks.ts"

/** C4: within 1 s of a delete's answer, or of a link's expiry, no node redirects the key any more. */
export const Freshness: Checker = {
  name: "freshness",
  check: ({ beginning_ms, exchanges, options }) => {
    const created = createdLinks(exchanges)
    // Expiry is told by a node's own clock.
    const clocksJump = options.faults.clockJump.perMinute > 0
    return exchanges.flatMap(({ answered_us, answeredBy, key, kind, sent_us, status }) => {
      const link = key === undefined ? undefined : created.get(key)
      if (kind !== "redirect" || status !== 302 || link === undefined) return []
      const violation = (text: string) => [
        { checker: Freshness.name, at_us: answered_us!, text: `${text}, by ${answeredBy}`, keys: [key!] }
      ]
      if (sent_us > link.deleted_us + s_us) {
        const late_ms = Math.round((sent_us - link.deleted_us) / ms_us)
        return violation(`${key} was asked for ${late_ms} ms after its deletion, and redirected`)
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
