import {
  MessageStorage,
  RunnerHealth,
  Runners,
  RunnerStorage,
  Sharding,
  ShardingConfig
} from "@effect/cluster"
import { Duration, Layer } from "effect"
import { KeyRangeLive } from "./actors/KeyRangeLive.ts"
import { type PoolMarks, PoolShardLive } from "./actors/PoolShardLive.ts"
import { UrlMappingLive } from "./actors/UrlMappingLive.ts"

/**
 * One runner alone, in this process: it owns every shard from the start, and messages are plain calls. No message is
 * persisted, because every actor's state is a cache of the store and every request is answered or failed at once.
 */
export const layerEmbedded: Layer.Layer<Sharding.Sharding> = Sharding.layer.pipe(
  Layer.provide(Runners.layerNoop),
  Layer.provide([MessageStorage.layerNoop, RunnerStorage.layerMemory, RunnerHealth.layerNoop]),
  Layer.provide(
    ShardingConfig.layer({
      // Nothing leaves the process, so nothing needs to be encoded.
      simulateRemoteSerialization: false,
      shardsPerGroup: 64,
      refreshAssignmentsInterval: Duration.seconds(30),
      entityTerminationTimeout: Duration.seconds(5)
    })
  )
)

/** All actors. */
export const actors = (options: { readonly pool: PoolMarks }) =>
  Layer.mergeAll(KeyRangeLive, PoolShardLive(options.pool), UrlMappingLive)
