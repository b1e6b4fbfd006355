import { Context, type Effect } from "effect"
import type { PackedKeys } from "../../keys/PackedKeys.ts"
import type { BatchRecord, PoolClaim } from "./KeyStock.ts"
import type { Fenced, StorageError } from "../StorageError.ts"

/** How a pool shard keeps its keys: a list gives them in their order, a set in any. */
export type PoolKind = "list" | "set"

/** Every kind's name. */
export const poolKinds: ReadonlyArray<PoolKind> = ["list", "set"]

/** A batch's id within its shard. */
export type BatchName = Pick<BatchRecord, "epoch" | "sequence">

/** A batch's id within its shard as a text. */
export const textOfName = ({ epoch, sequence }: BatchName): string => `${epoch}/${sequence}`

/** What a push did to its pool shard. */
export interface Pushed {
  /** Keys in the shard now. */
  readonly level: number
  /**
   * Batches whose records the pool no longer needs. Each is reported once, and again when
   * its push is repeated.
   */
  readonly settled: ReadonlyArray<BatchName>
}

/**
 * The pools: for each pool shard the keys that are ready to be leased.
 *
 * Laws:
 * 1. `push` adds a batch's keys once for its id, however often it is repeated, and not at all (`Fenced`) unless
 *    the claim's epoch is the newest that the pool has seen for the shard.
 * 2. `claim` takes an epoch once, and only one that is greater than all that the pool has seen (`Fenced` tells the newest): a database that has forgotten
 *    a claim gives its epoch to another one, whose batches would have the ids of those that the pool knows.
 * 3. `giveBack` puts keys back once for its id, which its caller draws (see `RandomId`), however often it is repeated.
 * 4. `lease` gives each pushed or given-back key to one caller; a list, first in, first out.
 * 5. A key whose batch is not `settled` can be lost by the pool; one whose batch is settled is lost only
 *    with the pool's own data, or with the node that leased it.
 */
export class KeyPool extends Context.Tag("linkmint/KeyPool")<
  KeyPool,
  {
    /** Number of pool shards, 1 or more. */
    readonly shards: number
    /** Makes earlier epochs stale in the pool too. A claim that may have been applied is not repeated: the shard is claimed again. */
    readonly claim: (claim: PoolClaim) => Effect.Effect<void, StorageError | Fenced>
    /** Adds a batch, which may be one that an earlier epoch recorded. */
    readonly push: (
      claim: PoolClaim,
      batch: Omit<BatchRecord, "shard">
    ) => Effect.Effect<Pushed, StorageError | Fenced>
    /** Those of the batches whose keys a push would not add, since the pool has taken them. */
    readonly known: <B extends BatchName>(
      shard: number,
      batches: ReadonlyArray<B>
    ) => Effect.Effect<ReadonlyArray<B>, StorageError>
    /** Takes up to `count` keys. */
    readonly lease: (shard: number, count: number) => Effect.Effect<PackedKeys, StorageError>
    /** Puts leased keys back that were not used; in a list, before all others and in their order. Without keys it does nothing. */
    readonly giveBack: (shard: number, id: number, keys: PackedKeys) => Effect.Effect<void, StorageError>
    /** Keys in the shard now. */
    readonly level: (shard: number) => Effect.Effect<number, StorageError>
  }
>() {}
