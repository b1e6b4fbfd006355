import { Clock, Effect } from "effect"
import type { Link } from "../../model/Link.ts"
import { LinkAnnouncer } from "../../storage/links/LinkInvalidationsLocal.ts"
import { LinkRemovals, lookedFor_ms } from "../../storage/links/LinkRemovals.ts"
import type { Tables } from "./LinkLifetimeMemory.ts"

const oldestFirst = (one: Link, other: Link) =>
  one.createdAt - other.createdAt || (one.key < other.key ? -1 : 1)

/** The links of an owner among rows that are not deleted, the oldest first. */
export const leftOf = (rows: Pick<ReadonlyMap<string, Link>, "values">, owner: string): ReadonlyArray<Link> =>
  Array.from(rows.values())
    .filter((link) => link.owner === owner && link.deletedAt === null)
    .toSorted(oldestFirst)

/** Makes tombstones of links at a moment, in milliseconds since the Unix epoch: gives their keys. */
export const end = (
  { ended, links }: Pick<Tables, "ended" | "links">,
  some: ReadonlyArray<Link>,
  now: number
): ReadonlyArray<string> =>
  some.map((link) => {
    const { createId: _, ...row } = link
    links.set(row.key, { ...row, deletedAt: now, updatedAt: now })
    ended.set(row.key, now)
    return row.key
  })

/** Owners who are gone, and when their links' deletion was asked for, the first first. */
export const firstAsked = (
  asked: ReadonlyMap<string, number>
): ReadonlyArray<readonly [owner: string, at: number]> =>
  Array.from(asked).toSorted(([one, at], [other, otherAt]) => at - otherAt || (one < other ? -1 : 1))

/** `LinkRemovals` over tables, which others may look into. `asked`: owners who are gone, and when their links' deletion was asked for, in milliseconds since the Unix epoch. */
export const makeOver = (
  tables: Pick<Tables, "ended" | "links">,
  asked = new Map<string, number>()
): Effect.Effect<typeof LinkRemovals.Service> =>
  Effect.map(LinkAnnouncer, (announce) => {
    const { links } = tables
    return LinkRemovals.of({
      ask: (owner) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          if (!asked.has(owner)) asked.set(owner, now)
        }),
      remove: (count) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          const some = firstAsked(asked)
            .map(([owner]) => leftOf(links, owner))
            .find(({ length }) => length > 0)
          const keys = end(tables, (some ?? []).slice(0, count), now)
          for (const [gone, at] of Array.from(asked))
            if (at <= now - lookedFor_ms && leftOf(links, gone).length === 0) asked.delete(gone)
          announce(keys)
          return keys
        })
    })
  })
