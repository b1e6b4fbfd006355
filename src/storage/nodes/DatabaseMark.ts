import { Context, type Effect } from "effect"
import type { StorageError } from "../StorageError.ts"
import type { Testimony } from "./Witness.ts"

/** How far a database has come. */
export interface Mark {
  readonly mark: number
  /** The mark that the database was given when it was recovered last; 0 where it never was. What was read under another lineage may have been forgotten. */
  readonly lineage: number
}

/** A database had forgotten what it had committed, and was recovered. Times are the database's, in milliseconds since the Unix epoch. */
export interface Regression {
  /** When it was noticed. */
  readonly at: number
  /** When the last move was made that the database still knew of. */
  readonly since: number
  /** Its mark then, and the one that was witnessed: so many moves are lost, and what was committed beside them. */
  readonly mark: number
  readonly witnessed: number
  /** Keys of ranges that were skipped, since they had been handed out. */
  readonly skipped: number
  /** Stocked and recorded keys that were given up, since they may have been handed out. */
  readonly dropped: number
}

/** What tells a database from others: see {@link Testimony}. */
export type Identity = Pick<Testimony, "system" | "timeline">

/**
 * A number in the database that each move of keys out of it raises, by which it can be seen whether the database has forgotten something.
 *
 * Laws:
 * 1. `move` raises the mark by one and gives it, durably, or gives nothing and does nothing where the mark is below `floor`. No two moves give the same mark of one lineage.
 * 2. `recover` does nothing where the mark is not below the witnessed one. Otherwise, in one transaction: the mark, and the lineage with it, becomes greater than the witnessed one; no watermark is below its
 *    witnessed one; the stock and the records of batches are empty, and the claims of all pool shards are void; the regression is recorded.
 */
export class DatabaseMark extends Context.Tag("linkmint/DatabaseMark")<
  DatabaseMark,
  {
    readonly move: (floor: number) => Effect.Effect<Mark | undefined, StorageError>
    readonly look: Effect.Effect<Mark, StorageError>
    readonly recover: (
      witnessed: Pick<Testimony, "mark" | "watermarks">
    ) => Effect.Effect<Regression | undefined, StorageError>
    /** The newest regressions, ten at most, newest first. */
    readonly regressions: Effect.Effect<ReadonlyArray<Regression>, StorageError>
    readonly identity: Effect.Effect<Identity, StorageError>
  }
>() {}

/** Regressions that are told at most. */
export const toldMax = 10
