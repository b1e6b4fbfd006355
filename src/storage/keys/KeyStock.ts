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
 * The ways in which keys that are minted ahead are stocked:
 *
 * - `none`: not at all; a refill has its keys minted when it needs them.
 * - `table`: rows of a table, deleted when they are taken.
 * - `status`: rows with a column that says whether they are used; they stay.
 * - `two-table`: rows of a table of unused keys, which move to one of used keys.
 * - `file`: a file of a single process, read from its beginning; see `KeyStockFile`. It does not notice a key that is added twice.
 */
export const stockKinds = ["none", "table", "status", "two-table", "file"] as const
/** See {@link stockKinds}. */
export type StockKind = (typeof stockKinds)[number]

/**
 * The stock of keys, and the records of batches on their way into the pools.
 *
 * Keys enter the stock in two ways: keys that are free again by `add`, and keys that were minted ahead by `fill`. The former are always in
 * the table of `table`; the kinds of stock differ in where the latter are. Both are taken alike, the former first.
 *
 * A batch record exists from before its keys are pushed until the pool no longer needs it: a crash in
 * between leaves the record, and the next owner finishes it.
 *
 * Laws:
 * 1. `claim` gives a greater epoch each time. Every other operation that takes a claim fails with `Fenced`, and
 *    does nothing, unless its epoch is the newest of the shard.
 * 2. A key leaves the stock in the transaction that records it in a batch. It leaves a `file` before that: a crash in between loses the keys.
 * 3. No two `take`s give the same key that was added once, on any node.
 * 4. `openBatches` lists what was recorded until it is closed, without the keys that `LinkLifetime` has freed meanwhile.
 * 5. A key is in one place of the stock at most, also while several kinds of stock are used at once.
 */
export class KeyStock extends Context.Tag("linkmint/KeyStock")<
  KeyStock,
  {
    /** Makes the caller the shard's newest owner, with an epoch that is also greater than `above`: a pool may know epochs that the database has forgotten. */
    readonly claim: (shard: number, above?: number) => Effect.Effect<PoolClaim, StorageError>
    /** Adds keys that are free again; a key that is in the stock already is not added twice. */
    readonly add: (keys: PackedKeys) => Effect.Effect<void, StorageError>
    /**
     * Adds minted keys: those minted ahead, and those of an interrupted request. Gives how many of them are new: a key that its kind knows, as unused or
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
     * Moves up to `count` keys that a kind of stock which is not in use any more has left, to the keys that every kind takes first. Gives how
     * many it moved: 0 when there are no more.
     */
    readonly adopt: (count: number) => Effect.Effect<number, StorageError>
  }
>() {}
