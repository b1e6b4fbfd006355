import { Context, type Effect } from "effect"
import type { StorageError } from "../../StorageError.ts"

/** Where a bucket is: by the number of its database. */
export interface Place {
  readonly home: number
  /** Where it is being moved to, if so. Until it is there it is read at home, and not written. */
  readonly movingTo: number | null
}

/** Where all buckets are. */
export interface Placement {
  /** By bucket, 256 of them. */
  readonly places: ReadonlyArray<Place>
  /** The epochs of databases by their number; 0 for those that are not there. */
  readonly epochs: ReadonlyMap<number, number>
}

/** A move of buckets (0 … 255, each once, at least one) between two databases. */
export interface Move {
  readonly buckets: ReadonlyArray<number>
  readonly from: number
  readonly to: number
}

/**
 * Which database has which bucket.
 *
 * Laws:
 * 1. Before any move all buckets are in database 0, and all epochs are 0.
 * 2. `begin` applies to buckets that are in `from`, and that are not being moved anywhere but to `to`. It marks them as being moved, and raises the epoch of `from` by
 *    one if there was one that was not marked. Where it does not apply to all of them, it changes nothing and answers `false`.
 * 3. `end` applies to buckets that are being moved from `from` to `to`, or are in `to` and not being moved. Then they are in `to`. Where it does not apply to all of them, it changes
 *    nothing and answers `false`.
 * 4. So a repeat of either is answered as it was the first time, as long as no later move has begun.
 * 5. Whoever reads an epoch also reads, at once, all moves that raised it.
 */
export class BucketPlacement extends Context.Tag("linkmint/BucketPlacement")<
  BucketPlacement,
  {
    readonly read: Effect.Effect<Placement, StorageError>
    readonly begin: (move: Move) => Effect.Effect<boolean, StorageError>
    readonly end: (move: Move) => Effect.Effect<boolean, StorageError>
  }
>() {}

/** Where a bucket is of which nothing else is known. */
export const firstPlace: Place = { home: 0, movingTo: null }

/** Whether a move may begin, or has, for a bucket that is at `place`. */
export const canBegin = ({ from, to }: Move, { home, movingTo }: Place): boolean =>
  home === from && (movingTo === null || movingTo === to)

/** Whether a move may end, or has, for a bucket that is at `place`. */
export const canEnd = ({ from, to }: Move, { home, movingTo }: Place): boolean =>
  movingTo === null ? home === to : home === from && movingTo === to
