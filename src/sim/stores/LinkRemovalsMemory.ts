import { Clock, Effect } from "effect"
import type { Link } from "../../model/Link.ts"
import { LinkAnnouncer } from "../../storage/links/LinkInvalidationsLocal.ts"
import { LinkRemovals, lookedFor_ms } from "../../storage/links/LinkRemovals.ts"
import type { Tables } from "./LinkLifetimeMemory.ts"

const oldestFirst = (one: Link, other: Link) =>
  one.createdAt - other.createdAt || (one.key < other.key ? -1 : 1)

/** `LinkRemovals` over tables, which others may look into. `asked`: owners who are gone, and when their links' deletion was asked for, in milliseconds since the Unix epoch. */
export const makeOver = (
  { ended, links }: Pick<Tables, "ended" | "links">,
  asked = new Map<string, number>()
): Effect.Effect<typeof LinkRemovals.Service> =>
  Effect.map(LinkAnnouncer, (announce) => {
    const leftOf = (owner: string) =>
      Array.from(links.values()).filter((link) => link.owner === owner && link.deletedAt === null)

    /** The owner whose links are deleted next. */
    const next = () =>
      Array.from(asked)
        .toSorted(([one, at], [other, otherAt]) => at - otherAt || (one < other ? -1 : 1))
        .find(([owner]) => leftOf(owner).length > 0)?.[0]

    return LinkRemovals.of({
      ask: (owner) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          if (!asked.has(owner)) asked.set(owner, now)
        }),
      remove: (count) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          const owner = next()
          const some = owner === undefined ? [] : leftOf(owner).toSorted(oldestFirst).slice(0, count)
          for (const { createId: _, ...row } of some) {
            links.set(row.key, { ...row, deletedAt: now, updatedAt: now })
            ended.set(row.key, now)
          }
          for (const [gone, at] of Array.from(asked))
            if (at <= now - lookedFor_ms && leftOf(gone).length === 0) asked.delete(gone)
          const keys = some.map(({ key }) => key)
          announce(keys)
          return keys
        })
    })
  })
