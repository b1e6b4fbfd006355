import { Clock, Effect } from "effect"
import type { Link } from "../../model/Link.ts"
import { subjectOfLink } from "../../model/Visit.ts"
import { count, fromStrings, toStrings } from "../../keys/PackedKeys.ts"
import { plainKeyOf } from "../../keys/QualifiedKey.ts"
import type { BatchRecord } from "../../storage/keys/KeyStock.ts"
import { type Forgotten, isUnused, LinkLifetime } from "../../storage/links/LinkLifetime.ts"

/** What a `LinkLifetime` in memory works on: the tables of the links, of the stock and of the open batches. */
export interface Tables {
  readonly links: Map<string, Link>
  /** When each tombstone was written, in milliseconds since the Unix epoch. */
  readonly ended: Map<string, number>
  readonly stock: Set<string>
  readonly batches: Map<string, BatchRecord>
  /** Subjects whose visits are to be forgotten. */
  readonly removals?: Set<string>
  /** What the database has forgotten so far. */
  readonly regressions?: ReadonlyArray<Forgotten>
  /** Whether another transaction has locked the row of a key, so that it is passed over. */
  readonly isLocked?: (key: string) => boolean
}

/** Keys whose quarantine is over, which began by `until`: those that have waited longest, `max` at most. */
export const recyclable = (
  { ended, isLocked = () => false }: Pick<Tables, "ended" | "isLocked">,
  until: number,
  max: number
): ReadonlyArray<string> =>
  Array.from(ended)
    .filter(([key, at]) => at <= until && !isLocked(key))
    .toSorted(([, one], [, other]) => one - other)
    .slice(0, max)
    .map(([key]) => key)

/** Takes keys that are free again out of the records of open batches. */
export const strikeFrom = (batches: Map<string, BatchRecord>, keys: ReadonlySet<string>) => {
  for (const [id, batch] of batches) {
    const left = toStrings(batch.keys).filter((key) => !keys.has(key))
    if (left.length < count(batch.keys)) batches.set(id, { ...batch, keys: fromStrings(left) })
  }
}

/** `LinkLifetime` over tables, which others may look into. */
export const makeOver = ({
  batches,
  ended,
  isLocked = () => false,
  links,
  regressions = [],
  removals = new Set(),
  stock
}: Tables): typeof LinkLifetime.Service => {
  const hasExpired = (link: Link, now: number): boolean =>
    link.deletedAt === null && link.expiresAt !== null && link.expiresAt <= now && !isLocked(link.key)

  const expire = (wanted: ReadonlyArray<Link>, now: number) =>
    wanted.map((link) => {
      const { createId: _, ...row } = link
      links.set(row.key, { ...row, deletedAt: now, updatedAt: now })
      ended.set(row.key, now)
      return row.key
    })

  const recycle = (due: ReadonlyArray<string>, quarantine_ms: number) => {
    strikeFrom(batches, new Set(due.filter((key) => !links.get(key)!.custom).map(plainKeyOf)))
    return due.map((key) => {
      const { createdAt, custom } = links.get(key)!
      if (!custom && isUnused({ createdAt, endedAt: ended.get(key)! }, quarantine_ms, regressions))
        stock.add(plainKeyOf(key))
      links.delete(key)
      ended.delete(key)
      removals.add(subjectOfLink({ key, createdAt }))
      return { key, createdAt }
    })
  }

  return LinkLifetime.of({
    expire: (keys) =>
      Effect.map(Clock.currentTimeMillis, (now) =>
        expire(
          Array.from(new Set(keys), (key) => links.get(key)).filter(
            (link) => link !== undefined && hasExpired(link, now)
          ) as ReadonlyArray<Link>,
          now
        )
      ),
    expireSome: (count) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const due = Array.from(links.values()).filter((link) => hasExpired(link, now))
        return expire(due.toSorted((one, other) => one.expiresAt! - other.expiresAt!).slice(0, count), now)
      }),
    recycle: ({ count: max, quarantine_ms }) =>
      Effect.map(Clock.currentTimeMillis, (now) =>
        recycle(recyclable({ ended, isLocked }, now - quarantine_ms, max), quarantine_ms)
      ),
    toForget: (count) => Effect.sync(() => [...removals].toSorted().slice(0, count)),
    forgotten: (subjects) => Effect.sync(() => subjects.forEach((subject) => removals.delete(subject)))
  })
}
