import { Effect, Exit } from "effect"
import { count, toStrings } from "../../keys/PackedKeys.ts"
import { KeyPool, textOfName } from "../../storage/keys/KeyPool.ts"
import * as KeyPoolMemory from "../../storage/keys/KeyPoolMemory.ts"
import type { Journal } from "../Journal.ts"
import type { VirtualProcess } from "../world/VirtualProcess.ts"

/** A pool in the memory of a process. */
export interface PoolInMemory {
  readonly pool: typeof KeyPool.Service
  /** Takes all keys that are in it. */
  readonly drain: () => ReadonlyArray<string>
}

/** Its only shard. */
const shard = 0

/**
 * The pool of a process alone, as production has it, with the journal's entries of what happens to it. It ends with its process: its keys are gone then, and so is all that it knew of
 * leases, batches and epochs.
 */
export const make = (
  process: VirtualProcess,
  journal: Journal,
  settleAfter: number
): Effect.Effect<PoolInMemory> =>
  Effect.map(KeyPoolMemory.make({ shards: 1, settleAfter }), (pool) => {
    const by = process.id
    /** Makes a call with an epoch, and adds its entry, in one step: an interruption in between would leave no entry. */
    const fenced = <A, E>(epoch: number, call: Effect.Effect<A, E>, done: () => void) =>
      Effect.suspend(() => {
        const exit = Effect.runSyncExit(call)
        if (Exit.isSuccess(exit)) done()
        else journal.add({ tag: "fenced", by, shard, epoch })
        return exit
      })
    const levelNow = () => Effect.runSync(pool.level(shard))
    const drain = () => toStrings(Effect.runSync(pool.lease(shard, levelNow())))
    process.whenDead(() => {
      if (!process.world.isRunning) return
      journal.add({ tag: "forgot", by, shard, gone: drain(), again: [], unleased: "all" })
    })
    const noted = KeyPool.of({
      ...pool,
      claim: (claim) =>
        fenced(claim.epoch, pool.claim(claim), () =>
          journal.add({ tag: "poolClaimed", by, shard, epoch: claim.epoch })
        ),
      push: (claim, batch) =>
        Effect.suspend(() => {
          const { epoch } = claim
          const isKnown = Effect.runSync(pool.known(shard, [batch])).length > 0
          const noted = () => {
            if (isKnown) return
            const keys = toStrings(batch.keys)
            journal.add({ tag: "pushed", by, shard, epoch, batch: textOfName(batch), keys })
          }
          return Effect.tap(fenced(epoch, pool.push(claim, batch), noted), ({ settled }) =>
            settled.forEach((name) => journal.add({ tag: "settled", by, shard, batch: textOfName(name) }))
          )
        }),
      lease: (_, wanted) =>
        Effect.sync(() => {
          const keys = Effect.runSync(pool.lease(shard, wanted))
          if (count(keys) > 0) journal.add({ tag: "leased", by, shard, keys: toStrings(keys) })
          return keys
        }),
      giveBack: (_, id, keys) =>
        Effect.sync(() => {
          const before = levelNow()
          Effect.runSync(pool.giveBack(shard, id, keys))
          if (levelNow() > before) journal.add({ tag: "returned", by, shard, keys: toStrings(keys) })
        })
    })
    return { pool: noted, drain }
  })
