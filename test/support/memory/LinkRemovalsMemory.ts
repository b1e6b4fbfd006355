import { Clock, Effect } from "effect"
import type { Link } from "../../../src/model/Link.ts"
import { LinkAnnouncer } from "../../../src/storage/links/LinkInvalidationsLocal.ts"
import type { Tables } from "../../../src/sim/stores/LinkLifetimeMemory.ts"
import { LinkRemovals, lookedFor_ms } from "../../../src/storage/links/LinkRemovals.ts"

/** `LinkRemovals` over tables, which others may look into. */
export const makeOver = ({
  ended,
  links
}: Pick<Tables, "ended" | "links">): Effect.Effect<typeof LinkRemovals.Service> =>
  Effect.map(LinkAnnouncer, (announce) => {
    const asked = new Map<string, number>()

    const isDue = ({ deletedAt, owner }: Link) => deletedAt === null && owner !== null && asked.has(owner)

    return LinkRemovals.of({
      ask: (owner) => Effect.map(Clock.currentTimeMillis, (now) => void asked.set(owner, now)),
      remove: (count) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          const due = [...links.values()].filter(isDue)
          const some = due.filter(({ owner }) => owner === due[0]!.owner).slice(0, count)
          for (const { createId: _, ...row } of some) {
            links.set(row.key, { ...row, deletedAt: now, updatedAt: now })
            ended.set(row.key, now)
          }
          const owners = new Set(due.map(({ owner }) => owner))
          for (const [owner, at] of asked) {
            if (!owners.has(owner) && at <= now - lookedFor_ms) asked.delete(owner)
          }
          const keys = some.map(({ key }) => key)
          announce(keys)
          return keys
        })
    })
  })
