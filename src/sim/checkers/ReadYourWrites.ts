import type { Checker } from "../Evidence.ts"
import { ms_us } from "../world/Time.ts"
import { createdLinks } from "./createdLinks.ts"

/** C3: after a 201, every node redirects the key: it is never unknown, and it has ended only if it was deleted or has expired. */
export const ReadYourWrites: Checker = {
  name: "read your writes",
  check: ({ beginning_ms, exchanges, options }) => {
    const created = createdLinks(exchanges)
    const clocksJump = options.faults.clockJump.perMinute > 0
    return exchanges.flatMap(({ answered_us, answeredBy, key, kind, sent_us, status, tries }) => {
      const link = key === undefined ? undefined : created.get(key)
      if (kind === "delete" && status === 404 && tries === 1 && link?.deletes === 1) {
        const text = `${key} was created, and its only delete found nothing, said ${answeredBy}`
        const wasThere = link.create.answered_us! < sent_us
        return wasThere ? [{ checker: ReadYourWrites.name, at_us: answered_us!, text, keys: [key!] }] : []
      }
      if (kind !== "redirect" || answered_us === undefined || link === undefined) return []
      if (sent_us <= link.create.answered_us!) return []
      const violation = (text: string) => [
        {
          checker: ReadYourWrites.name,
          at_us: answered_us,
          text: `${text}, said ${answeredBy}`,
          keys: [key!]
        }
      ]
      if (status === 404) return violation(`${key} was created, and is unknown`)
      if (status !== 410 || link.deleteSent_us < answered_us) return []
      const { expiresAt_ms, maxVisits } = link.create
      // Whether it may be used up is told by `ExactVisits`.
      if (maxVisits !== undefined) return []
      if (expiresAt_ms === undefined) return violation(`${key} is said to have ended, and nobody deleted it`)
      const now_ms = beginning_ms + answered_us / ms_us
      return clocksJump || now_ms >= expiresAt_ms ? [] : violation(`${key} is said to have expired too early`)
    })
  }
}
