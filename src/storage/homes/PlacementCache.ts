import { Duration, Effect, Schedule, type Scope } from "effect"
import * as Pulse from "../../time/Pulse.ts"
import { bucketCount } from "../../keys/Buckets.ts"
import { type BucketPlacement, firstPlace, type Placement } from "../links/buckets/BucketPlacement.ts"
import type { Tenure } from "../links/buckets/LinkTenure.ts"
import type { StorageError } from "../StorageError.ts"

/** How often the placement is read, and how often while buckets are being moved. */
export const readEvery = Duration.seconds(1)
export const readWhileMovingEvery = Duration.millis(100)

/** A placement, and what follows from it for each database. */
export interface KnownPlacement extends Placement {
  /** By the number of the database. */
  readonly tenures: ReadonlyArray<Tenure>
  /** Numbers of databases that buckets are leaving. */
  readonly leaving: ReadonlySet<number>
  /** Numbers of databases that have buckets which are not leaving. */
  readonly staying: ReadonlySet<number>
}

/** Where a node believes buckets to be. It is never older than what it read last, and may be older than what is so: databases refuse what is asked under an old epoch. */
export interface PlacementCache {
  readonly current: () => KnownPlacement
  /** Reads the placement, no earlier than now. */
  readonly read: Effect.Effect<KnownPlacement, StorageError>
  /** Calls back, as long as the scope is open, when buckets may have been elsewhere than it was believed: with the new placement, before anybody goes by it. Must not throw. */
  readonly whenMoved: (moved: () => void) => Effect.Effect<void, never, Scope.Scope>
}

/** What is known of `databases` databases by a placement. */
export const knownOf = (placement: Placement, databases: number): KnownPlacement => {
  const leaving = new Set(placement.places.flatMap(({ home, movingTo }) => (movingTo === null ? [] : [home])))
  const staying = new Set(placement.places.flatMap(({ home, movingTo }) => (movingTo === null ? [home] : [])))
  return {
    ...placement,
    leaving,
    staying,
    tenures: Array.from({ length: databases }, (_, home) => ({
      epoch: placement.epochs.get(home) ?? 0,
      buckets: placement.places.flatMap((place, bucket) => (place.home === home ? [bucket] : [])),
      isLeaving: leaving.has(home)
    }))
  }
}

/** How many moves from a database have ended: its epoch tells of one that is under way, too. */
const departures = ({ epoch, isLeaving }: Tenure): number => epoch - Number(isLeaving)

/** Whether buckets have come to other homes between two placements; some may have come back. */
const haveMoved = (before: KnownPlacement, now: KnownPlacement): boolean =>
  before.tenures.some((tenure, home) => departures(tenure) !== departures(now.tenures[home]!)) ||
  before.places.some(({ home }, bucket) => home !== now.places[bucket]!.home)

/** Reads the placement once, and then again and again until its scope closes. */
export const make = (
  { read }: typeof BucketPlacement.Service,
  databases: number
): Effect.Effect<PlacementCache, StorageError, Scope.Scope> =>
  Effect.gen(function* () {
    let known = knownOf(
      { places: Array.from({ length: bucketCount }, () => firstPlace), epochs: new Map() },
      databases
    )
    const subscribers = new Set<() => void>()
    let begun = 0
    let newest = 0
    // Answers can come out of order.
    const readNow = Effect.suspend(() => {
      const number = ++begun
      return Effect.map(read, (placement) => {
        if (number > newest) {
          newest = number
          const before = known
          known = knownOf(placement, databases)
          if (haveMoved(before, known)) subscribers.forEach((moved) => moved())
        }
        return known
      })
    })
    yield* readNow
    const pause = Effect.suspend(() => Pulse.pause(known.leaving.size > 0 ? readWhileMovingEvery : readEvery))
    yield* Effect.zipRight(pause, Effect.ignore(readNow)).pipe(
      Effect.repeat(Schedule.forever),
      Effect.forkScoped
    )
    return {
      current: () => known,
      read: readNow,
      whenMoved: (moved) =>
        Effect.acquireRelease(
          Effect.sync(() => void subscribers.add(moved)),
          () => Effect.sync(() => void subscribers.delete(moved))
        )
    }
  })
