import type { Sharding } from "@effect/cluster/Sharding"
import { Duration, Effect, Layer, Schedule } from "effect"
import * as Parallel from "../../fibers/Parallel.ts"
import { KeyPool } from "../../storage/keys/KeyPool.ts"
import { PoolShard } from "./PoolShard.ts"

/** How long after a shard did not answer it is asked again. */
const pause = Duration.seconds(1)

/**
 * Looks at each pool shard once when a node starts, so that each has an owner, who fills it: a shard that nobody has leased from yet would stay empty, though all is
 * well.
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
