import { Effect } from "effect"
import { bucketOf, bucketOfName, bucketOfSubject } from "../../../keys/Buckets.ts"
import type { Link } from "../../../model/Link.ts"
import type { GuardedCreates } from "../../../storage/links/GuardedCreates.ts"
import type { LinkStore } from "../../../storage/links/LinkStore.ts"
import type { Tenure } from "../../../storage/links/buckets/LinkTenure.ts"
import { StorageError } from "../../../storage/StorageError.ts"
import type { VisitStore } from "../../../storage/visits/VisitStore.ts"

/** A barrier around the rows of a move; see `BucketBarrier`. */
export interface Barrier {
  readonly buckets: ReadonlySet<number>
  readonly isClosed: boolean
}

/** What one of several databases knows of the buckets that it has. */
export interface Home {
  /** See `LinkEpoch`. */
  epoch: number
  /** By the id of their move. */
  readonly barriers: Map<number, Barrier>
  /** Moves whose rows may be deleted here; see `BucketRows.deleteSome`. */
  readonly leftovers: Set<number>
  /** Keys that have been freed here, by the id of a move to here that their links may have come by; see `BucketFrees`. */
  readonly freed: Map<number, ReadonlySet<string>>
  /** What the caller of the transaction at hand knows of this database. */
  tenure: Tenure | undefined
}

/** Of a database that no bucket has left. */
export const empty = (): Home => ({
  epoch: 0,
  barriers: new Map(),
  leftovers: new Set(),
  freed: new Map(),
  tenure: undefined
})

/** The same, of its own. */
export const cloned = ({ barriers, epoch, freed, leftovers }: Home): Home => ({
  epoch,
  barriers: new Map(barriers),
  leftovers: new Set(leftovers),
  freed: new Map(freed),
  tenure: undefined
})

const isClosed = ({ barriers }: Home, bucket: number): boolean => {
  for (const barrier of barriers.values()) if (barrier.isClosed && barrier.buckets.has(bucket)) return true
  return false
}

/** Notes keys that are freed for each move whose links they may have been. */
export const noteFreed = ({ freed }: Home, keys: ReadonlyArray<string>): void => {
  for (const [move, noted] of freed) freed.set(move, new Set([...noted, ...keys]))
}

/** What would write rows behind a barrier that is closed is refused. */
export const barred = (operation: string): StorageError =>
  new StorageError({
    operation,
    applied: "no",
    reason: "the bucket of this row is moving, or has left this database"
  })

/** Whether upkeep passes over the row of a key: it is behind a barrier, or not at home by what the caller knows. */
export const isPassedOver = (home: Home, key: string): boolean => {
  const bucket = bucketOf(key)
  return isClosed(home, bucket) || home.tenure?.buckets.includes(bucket) === false
}

/** The rows that are at home by what the caller knows. */
export const atHome = (
  home: Home,
  rows: ReadonlyMap<string, Link>
): Pick<ReadonlyMap<string, Link>, "values"> => ({
  values: () => {
    const { tenure } = home
    return tenure === undefined
      ? rows.values()
      : new Map(Array.from(rows).filter(([key]) => tenure.buckets.includes(bucketOf(key)))).values()
  }
})

interface Stores {
  readonly links: typeof LinkStore.Service
  readonly guarded: typeof GuardedCreates.Service
  readonly visits: typeof VisitStore.Service
}

/** The stores of a database, behind its barriers: what would write rows behind one that is closed is refused, and what would delete some leaves those. */
export const behindBarriers = (home: Home, { guarded, links, visits }: Stores): Stores => {
  const unless = <A>(
    operation: string,
    buckets: () => ReadonlyArray<number>,
    then: Effect.Effect<A, StorageError>
  ): Effect.Effect<A, StorageError> =>
    Effect.suspend((): Effect.Effect<A, StorageError> =>
      home.barriers.size > 0 && buckets().some((bucket) => isClosed(home, bucket)) ? barred(operation) : then
    )
  const ofKeys = (rows: ReadonlyArray<{ readonly key: string }>) => () => rows.map(({ key }) => bucketOf(key))
  const ofNames = (rows: ReadonlyArray<{ readonly name: string }>) => () =>
    rows.map(({ name }) => bucketOfName(name))
  return {
    links: {
      ...links,
      insertMany: (rows) => unless("LinkStore.insertMany", ofKeys(rows), links.insertMany(rows)),
      deleteMany: (rows) => unless("LinkStore.deleteMany", ofKeys(rows), links.deleteMany(rows)),
      updateMany: (rows) => unless("LinkStore.updateMany", ofKeys(rows), links.updateMany(rows)),
      takeVisits: (rows) => unless("LinkStore.takeVisits", ofKeys(rows), links.takeVisits(rows))
    },
    guarded: {
      ...guarded,
      beginMany: (rows) => unless("GuardedCreates.beginMany", ofNames(rows), guarded.beginMany(rows)),
      settleMany: (rows) => unless("GuardedCreates.settleMany", ofNames(rows), guarded.settleMany(rows)),
      bindMany: (rows) =>
        unless(
          "GuardedCreates.bindMany",
          () => rows.flatMap(({ guards, link }) => [bucketOf(link.key), ...ofNames(guards)()]),
          guarded.bindMany(rows)
        )
    },
    visits: {
      ...visits,
      write: (batch) =>
        unless(
          "VisitStore.write",
          () => batch.hours.map(({ subject }) => bucketOfSubject(subject)),
          visits.write(batch)
        ),
      forget: (subjects) =>
        Effect.suspend(() =>
          visits.forget(subjects.filter((subject) => !isClosed(home, bucketOfSubject(subject))))
        )
    }
  }
}
