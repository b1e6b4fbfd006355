import type { Checker, Violation } from "../../Evidence.ts"
import type { Exchange } from "../../History.ts"
import { type Life, lifeLedBy, lifeLeftBy } from "../facts/lives.ts"

/**
 * C1: no key is ever bound to two links at once, and a short URL leads where the one who was given it meant it to lead. Nor does a create take its own link
 * for somebody else's, or an alias for taken that was free.
 *
 * A refused create may bind its alias afterwards where an earlier try of it was not answered: a later try found the alias taken, by a link or a tombstone that was gone when the earlier one came to the store. It hurts
 * nobody: the answer was true when it was given, the alias was free and promised to nobody else, and it leads where its client wanted. A client that must not have it has an
 * `Idempotency-Key`: the refusal settles its guard, and the late try binds nothing.
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

    const unanswered_us = journal.flatMap(({ at_us, tag }) => (tag === "unanswered" ? [at_us] : []))
    const given = new Map<Life, Exchange>()
    /** The first answer to the creates with each `Idempotency-Key`. */
    const firstBodies = new Map<string, string | undefined>()
    for (const exchange of exchanges) {
      const { alias, answered_us, body, choices, idempotencyKey, isReplay, key, kind, location } = exchange
      const { reuse, sent_us, status, tries, url } = exchange
      if (answered_us === undefined) continue
      // Whoever repeats a create with its key is answered while it is still under way; who has none asks once.
      const isMeant = ({ link }: Life) =>
        link.url === url && (choices?.title === undefined || link.title === choices.title)
      const isOwn = (life: Life) =>
        // What somebody has deleted meanwhile is a tombstone, which keeps the alias from whoever asks for it.
        isMeant(life) && life.bound_us <= answered_us && life.ended_us > answered_us
      const isRefused = status === 409 && alias !== undefined && idempotencyKey === undefined
      if (isRefused) {
        const all = lives.get(alias) ?? []
        // Of several creates that want the same link one may have been given it.
        const isSole = reuse !== true
        if (isSole && all.some(isOwn))
          found(answered_us, alias, `${alias} was refused for ${url} as taken, and is bound to it`)
        if (!all.some(({ bound_us, freed_us }) => bound_us <= answered_us && freed_us >= sent_us))
          found(answered_us, alias, `${alias} was refused for ${url} as taken, and was free`)
        const isOneTry =
          tries <= 1 && !unanswered_us.some((at_us) => sent_us <= at_us && at_us <= answered_us)
        if (isSole && isOneTry && all.some((life) => isMeant(life) && life.bound_us > answered_us))
          found(
            answered_us,
            alias,
            `${alias} was refused for ${url} as taken, and was bound to it afterwards`
          )
      }
      if (key === undefined) continue
      const boundTo = () =>
        lives
          .get(key)
          ?.map(({ link }) => link.url)
          .join(", ") ?? "nothing"
      if (kind === "create" && status === 201) {
        // By then the key may be another link's, of the same target.
        if (isReplay && idempotencyKey !== undefined && firstBodies.get(idempotencyKey) === body) continue
        if (idempotencyKey !== undefined && !firstBodies.has(idempotencyKey))
          firstBodies.set(idempotencyKey, body)
        const life = lifeLeftBy(lives, key, exchange)
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
      if (lifeLedBy(lives, key, location, answered_us) === undefined)
        found(answered_us, key, `${key} led to ${location}, and is bound to ${boundTo()}`)
    }
    return violations
  }
}
