import type { Checker, Violation } from "../Evidence.ts"
import type { Exchange } from "../History.ts"
import { type Life, lifeOf } from "./lives.ts"

/**
 * C1: no key is ever bound to two links at once, and a short URL leads where the one who was given it meant it to lead. Nor does a create take its own link
 * for somebody else's.
 */
export const UniqueBinding: Checker = {
  name: "unique binding",
  check: ({ exchanges, journal, lives }) => {
    const violations: Array<Violation> = []
    const found = (at_us: number, key: string, text: string) =>
      violations.push({ checker: UniqueBinding.name, at_us, text, keys: [key] })

    const bound = new Map<string, string>()
    for (const entry of journal) {
      if (entry.tag === "freed") bound.delete(entry.key)
      if (entry.tag !== "bound") continue
      const { key, url } = entry.link
      const before = bound.get(key)
      if (before !== undefined) found(entry.at_us, key, `${key} was bound to ${before}, and then to ${url}`)
      else bound.set(key, url)
    }

    const given = new Map<Life, Exchange>()
    for (const exchange of exchanges) {
      const { alias, answered_us, idempotencyKey, key, kind, location, status, url } = exchange
      if (answered_us === undefined) continue
      // Whoever repeats a create with its key is answered while it is still under way; who has none asks once.
      const isOwn = ({ bound_us, ended_us, link }: Life) =>
        // An earlier try of the same create may come to the store when the alias is free again. What somebody has deleted meanwhile is a tombstone, which keeps the alias from whoever asks for it.
        link.url === url && bound_us <= answered_us && ended_us > answered_us
      const isRefused = status === 409 && alias !== undefined && idempotencyKey === undefined
      if (isRefused && lives.get(alias)?.some(isOwn) === true)
        found(answered_us, alias, `${alias} was refused for ${url} as taken, and is bound to it`)
      if (key === undefined) continue
      const boundTo = () =>
        lives
          .get(key)
          ?.map(({ link }) => link.url)
          .join(", ") ?? "nothing"
      if (kind === "create" && status === 201) {
        const life = lifeOf(lives, key, url, answered_us)
        const before = life && given.get(life)
        if (life === undefined)
          found(answered_us, key, `${key} was given for ${url}, and is bound to ${boundTo()}`)
        // A repeat is given its link again.
        else if (
          before !== undefined &&
          (idempotencyKey === undefined || idempotencyKey !== before.idempotencyKey)
        )
          found(answered_us, key, `${key} was given for ${before.url}, and for ${url}`)
        else given.set(life, exchange)
      }
      if (kind !== "redirect" || status !== 302) continue
      if (lifeOf(lives, key, location, answered_us) === undefined)
        found(answered_us, key, `${key} led to ${location}, and is bound to ${boundTo()}`)
    }
    return violations
  }
}
