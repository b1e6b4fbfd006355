import { Context, type Effect } from "effect"
import type { PackedKeys } from "../../keys/PackedKeys.ts"
import type { Fenced, StorageError } from "../StorageError.ts"

/** An owner's claim on a pool shard: its fencing token. */
export interface PoolClaim {
  readonly shard: number
  readonly epoch: number
}

/** A batch of keys on its way into a pool shard. Its id is unique in its shard: drawn by the claim's owner. */
export interface BatchId extends PoolClaim {
  /** A number that the owner of this epoch uses once. */
  readonly sequence: number
}

/** The record of a batch: the keys that were to go into the pool under its id. */
export interface BatchRecord extends BatchId {
  readonly keys: PackedKeys
}

/**
 * The ways in which keys are stocked that were minted ahead:
 *
 * - `none`: not at all; a refill has its keys minted when it needs them.
 * - `table`: rows of a table, deleted when they are taken.
 * - `status`: rows with a column that says whether they are used; they stay.
 * - `two-table`: rows of a table of unused keys, which move to one of used keys.
 * - `file`: a file of one process alone, read from its beginning; see `KeyStockFile`. It does not notice a key that is put in twice.
 */
export const stockKinds = ["none", "table", "status", "two-table", "file"] as const
/** See {@link stockKinds}. */
export type StockKind = (typeof stockKinds)[number]

/**
 * The stock of keys, and the records of batches on their way into the pools.
 *
 * Keys come into the stock in two ways: those that are free again, by `add`, and those that were minted ahead, by `fill`. The former always stand in
 * the table of `table`; where the latter stand is what tells the kinds of stock apart. Both are taken alike, the former first.
 *
 * A batch record stands from before its keys are pushed until the pool alone can answer for them: a crash in
 * between leaves the record, and the next owner finishes it.
 *
 * Laws:
 * 1. `claim` gives a greater epoch each time. Every other operation that takes a claim fails with `Fenced`, and
 *    does nothing, unless its epoch is the newest of the shard.
 * 2. A key leaves the stock only together with being recorded in a batch (one transaction). A `file` is left before: a crash in between loses the keys.
 * 3. No two `take`s give the same key that was put in once, no matter who asks.
 * 4. What was recorded is listed by `openBatches` until it is closed, without the keys that `LinkLifetime` has freed meanwhile.
 * 5. A key stands in one place of the stock at most, also while several kinds of stock are used at once.
 */
export class KeyStock extends Context.Tag("linkmint/KeyStock")<
  KeyStock,
  {
    /** Makes the caller the shard's newest owner, by an epoch greater than `above` as well: a pool may know of epochs that the database has forgotten. */
    readonly claim: (shard: number, above?: number) => Effect.Effect<PoolClaim, StorageError>
    /** Puts keys into the stock that are free again; a key that is there already stays there once. */
    readonly add: (keys: PackedKeys) => Effect.Effect<void, StorageError>
    /**
     * Puts keys into the stock that were minted ahead, and gives how many of them are new to it: a key that its kind knows, as unused or
     * (`status`, `two-table`) as used, is left out. A `file` knows none.
     */
    readonly fill: (keys: PackedKeys) => Effect.Effect<number, StorageError>
    /** Moves up to `count` keys from the stock into the record of a batch. */
    readonly take: (batch: BatchId, count: number) => Effect.Effect<PackedKeys, StorageError | Fenced>
    /** Adds keys to the record of a batch, opening it where it is not open. */
    readonly record: (batch: BatchId, keys: PackedKeys) => Effect.Effect<void, StorageError | Fenced>
    /** The shard's batches that are not closed, oldest first. */
    readonly openBatches: (shard: number) => Effect.Effect<ReadonlyArray<BatchRecord>, StorageError>
    /** Forgets the records of batches, which may be of earlier epochs. */
    readonly close: (
      claim: PoolClaim,
      batches: ReadonlyArray<Omit<BatchId, "shard">>
    ) => Effect.Effect<void, StorageError | Fenced>
    /** How many keys can be taken. */
    readonly size: Effect.Effect<number, StorageError>
    /**
     * Moves up to `count` keys that were minted ahead into another kind of stock, while that was in use, to the keys that every kind takes first. Gives how
     * many it moved: 0 when there are no more.
     */
    readonly adopt: (count: number) => Effect.Effect<number, StorageError>
  }
>() {}
