import { Duration, Effect } from "effect"
import * as Parallel from "../../fibers/Parallel.ts"
import { KeyMinter } from "../../keys/KeyMinter.ts"
import { KeyPool } from "../../storage/keys/KeyPool.ts"
import { KeyRangeStore, type RangeSlot } from "../../storage/keys/KeyRangeStore.ts"
import * as Timeout from "../../fibers/Timeout.ts"

/** What the stores do not answer in this time counts as unknown. */
const noAnswer = { duration: Duration.seconds(1), onTimeout: () => Effect.void }

/** How many keys have left a range at a key length, and how many remain. */
export interface RangeLevel extends RangeSlot {
  readonly minted: number
  readonly remaining: number
}

/** The numbers of keys that every node sees: `null` where a store did not answer. */
export interface KeyLevels {
  /** Those of all slots that were ever used. */
  readonly ranges: ReadonlyArray<RangeLevel> | null
  readonly pools: ReadonlyArray<{ readonly shard: number; readonly level: number | null }>
}

/** Reads them, within a second. */
export const make: Effect.Effect<
  { readonly read: Effect.Effect<KeyLevels> },
  never,
  KeyMinter | KeyPool | KeyRangeStore
> = Effect.gen(function* () {
  const ranges = yield* KeyRangeStore
  const pool = yield* KeyPool
  const minter = yield* KeyMinter

  const read = Effect.gen(function* () {
    let found: KeyLevels["ranges"] = null
    const pools = Array.from({ length: pool.shards }, (_, shard): KeyLevels["pools"][number] => ({
      shard,
      level: null
    }))
    const readRanges = Effect.map(ranges.watermarks, (marks) => {
      found = marks.map(({ length, next, range }) => ({
        length,
        range,
        minted: next,
        remaining: minter.spanOf(length, range) - next
      }))
    })
    const readLevel = (shard: number) =>
      Effect.map(pool.level(shard), (level) => void (pools[shard] = { shard, level }))
    const reads = [readRanges, ...pools.map(({ shard }) => readLevel(shard))]
    yield* Timeout.within(Parallel.forEach(reads, Effect.ignore), noAnswer)
    return { ranges: found, pools: [...pools] }
  })
  return { read }
})
