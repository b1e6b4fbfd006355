import {
  MessageStorage,
  RunnerHealth,
  Runners,
  RunnerStorage,
  Sharding,
  ShardingConfig
} from "@effect/cluster"
import { Duration, Effect, Layer } from "effect"
import { owned, shardsPerGroup } from "../actors/Shards.ts"
import * as LinkReader from "../actors/links/LinkReader.ts"
import * as LocalOwners from "../actors/links/LocalOwners.ts"
import { KeyRangeLive } from "../actors/keys/KeyRangeLive.ts"
import { type PoolMarks, PoolShardLive } from "../actors/keys/PoolShardLive.ts"
import { UrlMappingLive } from "../actors/links/UrlMappingLive.ts"
import type { KeyMinter } from "../keys/KeyMinter.ts"
import type { KeyPool } from "../storage/keys/KeyPool.ts"
import type { KeyRangeStore } from "../storage/keys/KeyRangeStore.ts"
import type { KeyStock } from "../storage/keys/KeyStock.ts"
import type { LinkStore } from "../storage/links/LinkStore.ts"
import { adding } from "./Adding.ts"

/**
 * Waits until this runner owns every shard. With storage in memory that takes a few turns of the scheduler and no timer. A message
 * that is sent earlier would be sent again only after a delay.
 */
const owningAll = Layer.effectDiscard(
  Effect.gen(function* () {
    const sharding = yield* Sharding.Sharding
    yield* Effect.yieldNow().pipe(Effect.repeat({ until: () => owned(sharding).length === shardsPerGroup }))
  })
)

/**
 * One runner alone, in this process: it owns every shard from the start, and messages are plain calls. No message is
 * persisted, because every actor's state is a cache of the store and every request is answered or failed at once.
 */
export const layerEmbedded: Layer.Layer<Sharding.Sharding> = owningAll.pipe(
  Layer.provideMerge(Sharding.layer),
  Layer.provide(Runners.layerNoop),
  Layer.provide([MessageStorage.layerNoop, RunnerStorage.layerMemory, RunnerHealth.layerNoop]),
  Layer.provide(
    ShardingConfig.layer({
      // Nothing leaves the process, so nothing needs to be encoded.
      simulateRemoteSerialization: false,
      shardsPerGroup,
      refreshAssignmentsInterval: Duration.seconds(30),
      entityTerminationTimeout: Duration.seconds(5)
    })
  )
)

/** Bounds of what the actors keep. */
export interface ActorsOptions {
  readonly pool: PoolMarks
  /** Rows that the owner of a partition remembers; by default as `UrlMappingLive` has it. */
  readonly ownerCacheMax?: number
  /** What knows the owners in this process; tests replace it, to have none. */
  readonly localOwners?: ReturnType<typeof LocalOwners.layer>
  /** Statements of one kind that are under way at the database. */
  readonly inFlightMax: number
}

/** All actors, and the services that read and bind links without a message to them. */
export const actors = ({
  inFlightMax,
  localOwners = LocalOwners.layer(inFlightMax),
  ownerCacheMax,
  pool
}: ActorsOptions) =>
  Layer.scopedContext(
    Effect.context<KeyMinter | KeyPool | KeyRangeStore | KeyStock | LinkStore | Sharding.Sharding>().pipe(
      adding(LinkReader.layer(inFlightMax)),
      adding(localOwners),
      adding(KeyRangeLive),
      adding(PoolShardLive(pool)),
      adding(UrlMappingLive(ownerCacheMax))
    )
  )
