import { Effect, Fiber } from "effect"
import { count, fromStrings, type PackedKeys } from "../../keys/PackedKeys.ts"
import { drawId } from "../../model/RandomId.ts"
import { type BatchName, KeyPool, type Pushed, textOfName } from "./KeyPool.ts"
import type { BatchRecord, PoolClaim } from "./KeyStock.ts"
import { Fenced, type StorageError } from "../StorageError.ts"

/** The server's answer to a claim whose epoch is not a new one, or a push whose epoch is not the newest: the newest one, which is greater than 0, negative. */
export const staleBy = (newest: number): number => -newest

/** The commands of one pool shard's server. Each happens at one moment there, whole or not at all. */
export interface Commands {
  /** Remembers the epoch: 0, or what {@link staleBy} makes of the one that it knows, if that is as great or greater. */
  readonly claim: (epoch: number) => Effect.Effect<number, StorageError>
  /**
   * Adds the keys, at the end of a list, unless the batch's id is known, and remembers epoch and id. Gives how many keys there are then,
   * or, where nothing was done, what {@link staleBy} makes of a greater epoch.
   */
  readonly push: (epoch: number, batch: string, keys: PackedKeys) => Effect.Effect<number, StorageError>
  /** The ids of batches that it remembers. */
  readonly batches: Effect.Effect<ReadonlyArray<string>, StorageError>
  /** Takes up to so many keys, from the beginning of a list. */
  readonly pop: (wanted: number) => Effect.Effect<ReadonlyArray<string>, StorageError>
  /** Adds the keys, at the beginning of a list in their order, unless the return's id is known, and remembers the id. */
  readonly giveBack: (id: number, keys: PackedKeys) => Effect.Effect<unknown, StorageError>
  readonly length: Effect.Effect<number, StorageError>
}

/** One shard of a `KeyPool` over its server, which keeps the keys itself: a batch is settled as soon as it is pushed. */
export const make = (shard: number, commands: Commands) => {
  const fenced = (claim: PoolClaim, answer: Effect.Effect<number, StorageError>) =>
    Effect.filterOrFail(
      answer,
      (level) => level >= 0,
      (newest) => new Fenced({ shard, epoch: claim.epoch, newest: -newest })
    )

  const giveBack = (id: number, keys: PackedKeys) =>
    count(keys) === 0 ? Effect.void : Effect.asVoid(commands.giveBack(id, keys))

  const pop = (wanted: number) => Effect.map(commands.pop(wanted), fromStrings)

  return {
    claim: (claim: PoolClaim) => Effect.asVoid(fenced(claim, commands.claim(claim.epoch))),

    push: (
      claim: PoolClaim,
      { epoch, keys, sequence }: Omit<BatchRecord, "shard">
    ): Effect.Effect<Pushed, StorageError | Fenced> =>
      Effect.map(
        fenced(claim, commands.push(claim.epoch, textOfName({ epoch, sequence }), keys)),
        (level) => ({
          level,
          settled: [{ epoch, sequence }]
        })
      ),

    known: <B extends BatchName>(batches: ReadonlyArray<B>) =>
      Effect.map(commands.batches, (ids) => {
        const known = new Set(ids)
        return batches.filter((batch) => known.has(textOfName(batch)))
      }),

    /** Keys that arrive after the caller was interrupted are put back: they are nowhere else. */
    lease: (wanted: number) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.flatMap(Effect.fork(pop(wanted)), (popping) =>
          Effect.onInterrupt(restore(Fiber.join(popping)), () =>
            Effect.ignore(
              Effect.flatMap(Effect.all([drawId, Fiber.join(popping)]), ([id, keys]) => giveBack(id, keys))
            )
          )
        )
      ),

    giveBack,
    level: commands.length
  }
}

/** See {@link make}. */
export type Shard = ReturnType<typeof make>

/** The pools of all shards, in their order. */
export const join = (shards: ReadonlyArray<Shard>): typeof KeyPool.Service =>
  KeyPool.of({
    shards: shards.length,
    claim: (claim) => shards[claim.shard]!.claim(claim),
    push: (claim, batch) => shards[claim.shard]!.push(claim, batch),
    known: (shard, batches) => shards[shard]!.known(batches),
    lease: (shard, wanted) => shards[shard]!.lease(wanted),
    giveBack: (shard, id, keys) => shards[shard]!.giveBack(id, keys),
    level: (shard) => shards[shard]!.level
  })
