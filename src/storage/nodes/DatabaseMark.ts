import { Context, type Effect } from "effect"
import type { StorageError } from "../StorageError.ts"
import type { Testimony } from "./Witness.ts"

/** The mark of a database. */
export interface Mark {
  readonly mark: number
  /** The mark that the last recovery gave the database; 0 if there was none. What was read under another lineage may have been forgotten. */
  readonly lineage: number
  /** Which promotion of a standby the server that said so is of; 0 for a database without standbys. */
  readonly timeline: number
}

/** The database had forgotten commits, and was recovered. Times are the database's, in milliseconds since the Unix epoch. */
export interface Regression {
  /** When it was noticed. */
  readonly at: number
  /** When the last move was made that the database still knew; {@link sinceUnknown} where nobody knows how much it has forgotten. */
  readonly since: number
  /** Its mark then, and the one that was witnessed: the moves between them are lost, and what was committed beside them. */
  readonly mark: number
  readonly witnessed: number
  /** Keys of ranges that were skipped, since they had been handed out. */
  readonly skipped: number
  /** Stocked and recorded keys that were given up, since they may have been handed out. */
  readonly dropped: number
}

/** Before all links: a regression since then has forgotten a time of any length. */
export const sinceUnknown = 0

/** What identifies a database: see {@link Testimony}. */
export type Identity = Pick<Testimony, "system" | "timeline">

/** What must hold of a database whose mark is moved. */
export interface Least extends Pick<Mark, "timeline"> {
  /** Its mark is this at least. */
  readonly floor: number
}

/**
 * A number in the database that each move of keys out of it raises, so that a comparison shows whether the database has forgotten commits.
 *
 * Laws:
 * 1. `move` durably raises the mark by one and gives it; where the mark is below `floor`, or the server is of another promotion than `timeline`, it does nothing and gives `undefined`. No two moves give the
 *    same mark of one lineage.
 * 2. `recover` does nothing where the mark is not below the witnessed one, or the server is of another promotion. Otherwise, in one transaction: the mark, and the lineage with it, becomes greater than the witnessed one; no watermark is below its
 *    witnessed one; the stock and the records of batches are empty, and the claims of all pool shards are void; the regression is recorded.
 */
export class DatabaseMark extends Context.Tag("linkmint/DatabaseMark")<
  DatabaseMark,
  {
    readonly move: (least: Least) => Effect.Effect<Mark | undefined, StorageError>
    readonly look: Effect.Effect<Mark, StorageError>
    readonly recover: (
      witnessed: Pick<Testimony, "mark" | "timeline" | "watermarks">
    ) => Effect.Effect<Regression | undefined, StorageError>
    /** The newest regressions, ten at most, newest first. */
    readonly regressions: Effect.Effect<ReadonlyArray<Regression>, StorageError>
    readonly identity: Effect.Effect<Identity, StorageError>
  }
>() {}

/** How many regressions are listed at most. */
export const toldMax = 10
