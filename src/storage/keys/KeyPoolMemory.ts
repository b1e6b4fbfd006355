import { Effect, Layer } from "effect"
import { concat, count, type PackedKeys, slice } from "../../keys/PackedKeys.ts"
import { type BatchName, KeyPool, textOfName } from "./KeyPool.ts"
import type { BatchRecord, PoolClaim } from "./KeyStock.ts"
import { Fenced } from "../StorageError.ts"

/** A pushed batch that is not settled, and the position of its last key in the order of all leases. */
interface Unsettled extends BatchName {
  readonly end: number
}

/**
 * Settled batches, and as many returns, remembered a shard. A record is closed soon after it settles, by its owner or with the next claim: only one
 * that is not closed is pushed again, and none that the pool has taken is left open for later. A return is repeated for some seconds at most.
 */
const knownMax = 1_000

/** Adds an id, and forgets the oldest ones beyond `knownMax`. */
const remember = <A>(known: Set<A>, id: A) => {
  known.add(id)
  for (const oldest of known) {
    if (known.size <= knownMax) break
    known.delete(oldest)
  }
}

/** One shard: a queue of blocks, the first of which may be leased in part. */
const makeShard = (shard: number, settleAfter: number) => {
  let epoch = 0
  let blocks: Array<PackedKeys> = []
  let level = 0
  /** Keys leased so far, less those given back. */
  let leased = 0
  const unsettled = new Map<string, Unsettled>()
  const settled = new Set<string>()
  const returns = new Set<number>()

  /** Makes the claim's epoch the newest one, if it is `least` at least. */
  const advance = (claimed: PoolClaim, least: number): Effect.Effect<void, Fenced> => {
    if (claimed.epoch < least) return new Fenced({ shard, epoch: claimed.epoch, newest: epoch })
    epoch = claimed.epoch
    return Effect.void
  }

  const settle = () => {
    const now = [...unsettled].filter(([, batch]) => batch.end + settleAfter <= leased)
    now.forEach(([id]) => {
      unsettled.delete(id)
      remember(settled, id)
    })
    return now.map(([, { epoch, sequence }]) => ({ epoch, sequence }))
  }

  return {
    claim: (claimed: PoolClaim) => Effect.suspend(() => advance(claimed, epoch + 1)),
    push: (claimed: PoolClaim, batch: Omit<BatchRecord, "shard">) =>
      Effect.map(
        Effect.suspend(() => advance(claimed, epoch)),
        () => {
          const { keys, sequence } = batch
          const name = { epoch: batch.epoch, sequence }
          const id = textOfName(name)
          if (settled.has(id)) return { level, settled: [name, ...settle()] }
          if (!unsettled.has(id)) {
            if (count(keys) > 0) blocks.push(keys)
            level += count(keys)
            unsettled.set(id, { ...name, end: leased + level })
          }
          return { level, settled: settle() }
        }
      ),
    known: <B extends BatchName>(batches: ReadonlyArray<B>) =>
      batches.filter((batch) => settled.has(textOfName(batch)) || unsettled.has(textOfName(batch))),
    lease: (wanted: number) => {
      const taken: Array<PackedKeys> = []
      for (let left = wanted; left > 0 && blocks[0] !== undefined;) {
        const block = blocks[0]
        const some = Math.min(left, count(block))
        taken.push(slice(block, 0, some))
        if (some === count(block)) blocks.shift()
        else blocks[0] = slice(block, some, count(block))
        left -= some
      }
      const keys = concat(...taken)
      level -= count(keys)
      leased += count(keys)
      return keys
    },
    giveBack: (id: number, keys: PackedKeys) => {
      if (count(keys) === 0 || returns.has(id)) return
      remember(returns, id)
      blocks = [keys, ...blocks]
      level += count(keys)
      leased -= count(keys)
    },
    level: () => level
  }
}

/**
 * `KeyPool` in this process's memory: for one process alone, and the reference that other backends are compared with.
 *
 * A kill of the process empties it, so a batch is settled only when all its keys and `settleAfter` more were leased.
 * With `settleAfter` at least as many as are added to the buffer while a key is in it (`followersMax` of `KeyRing`), all keys that a kill takes
 * from pool and buffer are still in a batch record.
 */
export const make = (options: { readonly shards: number; readonly settleAfter: number }) =>
  Effect.sync(() => {
    const shards = Array.from({ length: options.shards }, (_, shard) => makeShard(shard, options.settleAfter))
    return KeyPool.of({
      shards: options.shards,
      claim: (claim) => shards[claim.shard]!.claim(claim),
      push: (claim, batch) => shards[claim.shard]!.push(claim, batch),
      known: (shard, batches) => Effect.sync(() => shards[shard]!.known(batches)),
      lease: (shard, wanted) => Effect.sync(() => shards[shard]!.lease(wanted)),
      giveBack: (shard, id, keys) => Effect.sync(() => shards[shard]!.giveBack(id, keys)),
      level: (shard) => Effect.sync(() => shards[shard]!.level())
    })
  })

/** Pools of their own for each build of the layer. */
export const layer = (options: {
  readonly shards: number
  readonly settleAfter: number
}): Layer.Layer<KeyPool> => Layer.effect(KeyPool, make(options))
