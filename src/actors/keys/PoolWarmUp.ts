import type { Sharding } from "@effect/cluster/Sharding"
import { Duration, Effect, Layer, Schedule } from "effect"
import * as Parallel from "../../fibers/Parallel.ts"
import { KeyPool } from "../../storage/keys/KeyPool.ts"
import { PoolShard } from "./PoolShard.ts"

/** How long after a failure a shard is asked again. */
const pause = Duration.seconds(1)

/**
 * Asks each pool shard once when a node starts, so that each has an owner, which fills it: otherwise a shard stays empty until the first
 * lease.
 */
export const layer: Layer.Layer<never, never, Sharding | KeyPool> = Layer.scopedDiscard(
  Effect.gen(function* () {
    const { shards } = yield* KeyPool
    const clientOf = yield* PoolShard.client
    const look = (shard: number) =>
      Effect.retry(clientOf(String(shard)).Status(), Schedule.spaced(pause)).pipe(Effect.orDie)
    const all = Parallel.forEach(
      Array.from({ length: shards }, (_, shard) => shard),
      look
    )
    yield* Effect.forkScoped(all)
  })
)
