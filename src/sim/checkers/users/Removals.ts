import type { Checker } from "../../Evidence.ts"
import type { Exchange } from "../../History.ts"
import { s_us } from "../../world/Time.ts"
import type { Life } from "../facts/lives.ts"
import { mayBeAskedUnseen } from "../facts/remembered.ts"
import { removalsOf } from "../facts/removals.ts"

/** How long after the removal of their owner, after they were made, and after all faults, links may be there: `LinkRemoval` has a turn every ten seconds. */
const removedWithin_us = 15 * s_us

/**
 * A link is deleted only if somebody asked for that, or for the end of all links like it, or of its owner, which those who remove a user do or do not. Where they did, none of these links
 * is left after a while, whatever happens meanwhile.
 */
export const Removals: Checker = {
  name: "removals",
  check: ({ end_us, exchanges, healed_us, journal, lives, row }) => {
    const violation = (at_us: number, text: string, key: string) => ({
      checker: Removals.name,
      at_us,
      text,
      keys: [key]
    })
    const removals = removalsOf(exchanges)
    const deletes = new Map<string, Exchange>()
    for (const exchange of exchanges) {
      const { key, kind } = exchange
      if (kind === "delete" && key !== undefined && !deletes.has(key)) deletes.set(key, exchange)
    }
    const mayBeUnseen = mayBeAskedUnseen(journal)
    /** Whether somebody asked for the end of a link by then, or may have. */
    const isAsked = (life: Life, by_us: number) =>
      mayBeUnseen(by_us) ||
      (deletes.get(life.link.key)?.sent_us ?? end_us) <= by_us ||
      removals.mayEnd(life, by_us)
    const isKept = (name: string) =>
      exchanges.some(({ kind, links, user }) => kind === "remove user" && links !== "delete" && user === name)
    /** Who asks once more and is told that there is no such user has removed it before, where nobody else does. */
    const isGone = (name: string) =>
      removals.all.some(
        ({ answered_us = end_us, status, user }) =>
          user === name &&
          (status === 204 || (status === 404 && !isKept(name))) &&
          Math.max(answered_us, healed_us) + removedWithin_us < end_us
      )
    return [
      ...journal.flatMap((entry) => {
        if (entry.tag === "owner gone" && !removals.areAsked(entry.owner) && !mayBeUnseen(entry.at_us))
          return [
            violation(
              entry.at_us,
              `the links of ${entry.owner} are to be deleted, which nobody asked for`,
              ""
            )
          ]
        if (entry.tag !== "deleted") return []
        const { at_us, by, key } = entry
        const life = lives.get(key)?.findLast(({ bound_us }) => bound_us <= at_us)
        return life === undefined || isAsked(life, at_us)
          ? []
          : [violation(at_us, `${key} was deleted by ${by}, which nobody asked for`, key)]
      }),
      ...Array.from(lives).flatMap(([key, all]) => {
        const link = row(key)
        if (all.at(-1)!.bound_us + removedWithin_us > end_us) return []
        return link?.deletedAt === null && link.owner !== null && isGone(link.owner)
          ? [violation(end_us, `${key} is still there, and was to be deleted with ${link.owner}`, key)]
          : []
      })
    ]
  }
}
