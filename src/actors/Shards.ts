import { ShardId, type Sharding } from "@effect/cluster"

/** The number of shards that actors are distributed over; the same on every node. */
export const shardsPerGroup = 64

const all = Array.from({ length: shardsPerGroup }, (_, index) => ShardId.make("default", index + 1))

/** The numbers of the shards that a runner owns now, as far as it knows, in their order. */
export const owned = ({ hasShardId }: Pick<Sharding.Sharding["Type"], "hasShardId">): ReadonlyArray<number> =>
  all.filter(hasShardId).map(({ id }) => id)
