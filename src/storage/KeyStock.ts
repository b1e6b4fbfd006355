import { Context, type Effect } from "effect"
import type { PackedKeys } from "../PackedKeys.ts"
import type { Fenced, StorageError } from "./StorageError.ts"

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
 * The table of stocked keys (recycled, or minted ahead), and the records of batches on their way into the pools.
 *
 * A batch record stands from before its keys are pushed until the pool alone can answer for them: a crash in
 * between leaves the record, and the next owner finishes it.
 *
 * Laws:
 * 1. `claim` gives a greater epoch each time. Every other operation that takes a claim fails with `Fenced`, and
 *    does nothing, unless its epoch is the newest of the shard.
 * 2. A key leaves the stock only together with being recorded in a batch (one transaction).
 * 3. No two `take`s give the same key, whoever asks.
 * 4. What was recorded is listed by `openBatches` until it is closed, without the keys that `LinkLifetime` has freed meanwhile.
 */
export class KeyStock extends Context.Tag("linkmint/KeyStock")<
  KeyStock,
  {
    /** Makes the caller the shard's newest owner. */
    readonly claim: (shard: number) => Effect.Effect<PoolClaim, StorageError>
    /** Puts keys into the stock; a key that is there already stays there once. */
    readonly add: (keys: PackedKeys) => Effect.Effect<void, StorageError>
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
    /** How many keys are stocked. */
    readonly size: Effect.Effect<number, StorageError>
  }
>() {}
