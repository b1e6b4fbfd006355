import { EntityId, Sharding } from "@effect/cluster"
import { Effect } from "effect"
import { KeyMinter } from "../keys/KeyMinter.ts"
import { KeyPool } from "../storage/keys/KeyPool.ts"
import { KeyRange } from "./keys/KeyRange.ts"
import { PoolShard } from "./keys/PoolShard.ts"
import { partitionCount, UrlMapping } from "./links/UrlMapping.ts"

/** An actor, and the shard that it moves with. */
export interface ActorPlace {
  readonly actor: "KeyRange" | "PoolShard" | "UrlMapping"
  /** The number of its range, pool shard or partition. */
  readonly number: number
  readonly shard: number
}

/** All actors of the deployment. Their shards follow from their names, the same on every node. */
export const all: Effect.Effect<
  ReadonlyArray<ActorPlace>,
  never,
  KeyMinter | KeyPool | Sharding.Sharding
> = Effect.gen(function* () {
  const sharding = yield* Sharding.Sharding
  const { ranges } = yield* KeyMinter
  const { shards } = yield* KeyPool
  const placesOf = (actor: ActorPlace["actor"], group: (id: EntityId.EntityId) => string, count: number) =>
    Array.from({ length: count }, (_, number): ActorPlace => {
      const id = EntityId.make(String(number))
      return { actor, number, shard: sharding.getShardId(id, group(id)).id }
    })
  return [
    ...placesOf("KeyRange", KeyRange.getShardGroup, ranges),
    ...placesOf("PoolShard", PoolShard.getShardGroup, shards),
    ...placesOf("UrlMapping", UrlMapping.getShardGroup, partitionCount)
  ]
})
