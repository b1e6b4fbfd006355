import type { Checker, Violation } from "../../Evidence.ts"
import type { Exchange } from "../../History.ts"
import { databaseTime } from "../facts/databaseTime.ts"
import { createdLinks, isOfStranger, type Life, lifeAt } from "../facts/lives.ts"
import { removalsOf } from "../facts/removals.ts"

/** Whether it is known what came of it, and that it was asked once. */
const isPlain = ({ status, tries }: Exchange) => tries === 1 && (status === 204 || status === 404)

/**
 * C7 for deletes: at most one delete of a link is acknowledged, by itself or in a bulk edit. If each was sent once and answered, and no bulk edit may have deleted it, exactly one is. Later deletes are answered that there is no such link.
 */
export const RepeatedDeletes: Checker = {
  name: "repeated deletes",
  check: (evidence) => {
    const { end_us, exchanges, lives } = evidence
    const time = databaseTime(evidence)
    const deletes = new Map<Life, Array<Exchange>>()
    const created = createdLinks(exchanges, lives)
    const removals = removalsOf(exchanges)
    const inBulk = exchanges.flatMap(({ answered_us = end_us, edit, edited = [] }) =>
      edit?.act === "delete" ? edited.map(({ key, status }) => ({ answered_us, key, status })) : []
    )
    for (const exchange of exchanges) {
      const { answered_us = end_us, key, kind, sent_us } = exchange
      if (kind !== "delete" || key === undefined) continue
      const life = lifeAt(lives, key, answered_us)
      // One that was under way when the key was bound again may have been of either link.
      if (life === undefined || lifeAt(lives, key, sent_us) !== life) continue
      if (isOfStranger(exchange, life)) continue
      deletes.set(life, [...(deletes.get(life) ?? []), exchange])
    }
    return Array.from(deletes).flatMap(([life, all]): ReadonlyArray<Violation> => {
      const { key } = life.link
      const last = all.at(-1)!
      const violation = (text: string) => [
        { checker: RepeatedDeletes.name, at_us: last.answered_us ?? end_us, text, keys: [key] }
      ]
      const acknowledged =
        all.filter(({ status }) => status === 204).length +
        inBulk.filter(
          (one) => one.key === key && one.status === 204 && lifeAt(lives, key, one.answered_us) === life
        ).length
      if (acknowledged > 1) return violation(`${acknowledged} deletes of ${key} were acknowledged`)
      const hadExpired = life.versions.some(({ link }) =>
        time.mayHaveExpired(link, undefined, all[0]!.sent_us, last.answered_us ?? end_us)
      )
      const mayBeRemoved = removals.mayEnd(life, last.answered_us ?? end_us)
      const create = created.get(life)?.create
      // It may have been ended by a delete that was under way when the key was bound.
      const wasThere =
        create !== undefined &&
        all.every(({ sent_us }) => sent_us > create.answered_us!) &&
        all[0]!.sent_us <= life.ended_us
      return acknowledged === 0 &&
        wasThere &&
        !hadExpired &&
        !mayBeRemoved &&
        life.freed_us > end_us &&
        all.every(isPlain)
        ? violation(`${all.length} deletes of ${key} were answered, and not one was acknowledged`)
        : []
    })
  }
}
