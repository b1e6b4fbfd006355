import type { Checker, Violation } from "../Evidence.ts"
import type { Exchange } from "../History.ts"
import { versionsOf } from "./versions.ts"

/** C1: no key is ever bound to two links, and a short URL leads where the one who was given it meant it to lead. */
export const UniqueBinding: Checker = {
  name: "unique binding",
  check: ({ exchanges, journal }) => {
    const violations: Array<Violation> = []
    const found = (at_us: number, key: string, text: string) =>
      violations.push({ checker: UniqueBinding.name, at_us, text, keys: [key] })

    const bound = new Map<string, string>()
    for (const entry of journal) {
      if (entry.tag !== "bound") continue
      const { key, url } = entry.link
      const before = bound.get(key)
      if (before !== undefined) found(entry.at_us, key, `${key} was bound to ${before}, and then to ${url}`)
      else bound.set(key, url)
    }

    const versions = versionsOf(journal)
    const given = new Map<string, Exchange>()
    for (const exchange of exchanges) {
      const { answered_us, idempotencyKey, key, kind, location, status, url } = exchange
      if (answered_us === undefined || key === undefined) continue
      if (kind === "create" && status === 201) {
        const before = given.get(key)
        // A repeat is given its link again.
        if (
          before !== undefined &&
          (idempotencyKey === undefined || idempotencyKey !== before.idempotencyKey)
        )
          found(answered_us, key, `${key} was given for ${before.url}, and for ${url}`)
        given.set(key, exchange)
      }
      if (kind !== "redirect" || status !== 302) continue
      const isTarget = versions
        .get(key)
        ?.some((version) => version.url === location && version.since_us <= answered_us)
      if (isTarget !== true) {
        found(answered_us, key, `${key} led to ${location}, and is bound to ${bound.get(key)}`)
      }
    }
    return violations
  }
}
