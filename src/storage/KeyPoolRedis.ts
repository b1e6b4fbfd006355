import { Effect, Layer, type Scope } from "effect"
import type { PackedKeys } from "../PackedKeys.ts"
import { KeyPool } from "./KeyPool.ts"
import { scripts } from "./KeyPoolRedisScripts.ts"
import * as KeyPoolShard from "./KeyPoolShard.ts"
import * as RedisClient from "./RedisClient.ts"
import type { RedisUrl } from "./RedisUrl.ts"

/** Which Redis servers, and whose keys on them. */
export interface Options {
  /** One a pool shard, in the order of the shards, which every node must share. Two may name the same server. */
  readonly urls: ReadonlyArray<RedisUrl>
  /**
   * The deployment's own name, 1 to 64 letters, digits, `.`, `_` and `-`; anything else is a defect. Deployments with different names
   * share a Redis without seeing each other's keys.
   */
  readonly namespace: string
}

/**
 * The names of a shard's keys in Redis. What stands in braces alone decides the slot in a Redis Cluster, so all of them share one.
 */
const namesOf = (namespace: string, shard: number) => {
  const prefix = `linkmint:{${namespace}}:pool:${shard}`
  return {
    epoch: `${prefix}:epoch`,
    keys: `${prefix}:keys`,
    batches: `${prefix}:batches`,
    returns: `${prefix}:returns`
  }
}

/** The bytes themselves, as they stand in the array. */
const bufferOf = ({ bytes: { buffer, byteLength, byteOffset } }: PackedKeys) =>
  Buffer.from(buffer, byteOffset, byteLength)

const makeShard = Effect.fn("KeyPoolRedis.makeShard")(function* (
  url: RedisUrl,
  namespace: string,
  shard: number
) {
  const names = namesOf(namespace, shard)
  const { send } = yield* RedisClient.make(url, scripts)
  return KeyPoolShard.make(shard, {
    claim: (epoch) => send("KeyPool.claim", (redis) => redis.linkmintClaim(names.epoch, epoch)),
    push: (epoch, batch, keys) =>
      send("KeyPool.push", (redis) =>
        redis.linkmintPush(names.epoch, names.keys, names.batches, epoch, batch, keys.width, bufferOf(keys))
      ),
    pop: (wanted) =>
      Effect.map(
        send("KeyPool.lease", (redis) => redis.lpop(names.keys, wanted)),
        (keys) => keys ?? []
      ),
    giveBack: (id, keys) =>
      send("KeyPool.giveBack", (redis) =>
        redis.linkmintGiveBack(names.keys, names.returns, id, keys.width, bufferOf(keys))
      ),
    length: send("KeyPool.level", (redis) => redis.llen(names.keys))
  })
})

/**
 * `KeyPool` on Redis 7 or later: for each pool shard a list of keys on a server, or on a primary behind Sentinels.
 *
 * Redis answers for the keys that it was given, so that a batch is settled as soon as it is pushed. Every operation takes at
 * most about a second. While a server is away, those of its shard fail at once, and work again within a second of
 * its return. An answer lost with the connection after `LPOP` loses its keys. After a failover that forgot the last pops and
 * pushes, keys come out twice or not at all: it is the links' primary key that binds each once.
 */
export const make = ({
  namespace,
  urls
}: Options): Effect.Effect<typeof KeyPool.Service, never, Scope.Scope> =>
  Effect.gen(function* () {
    if (!/^[\w.-]{1,64}$/.test(namespace)) {
      return yield* Effect.die(new RangeError("a namespace has 1 to 64 letters, digits, '.', '_' and '-'"))
    }
    const shards = yield* Effect.forEach(urls, (url, shard) => makeShard(url, namespace, shard), {
      concurrency: "unbounded"
    })
    return KeyPoolShard.join(shards)
  })

/** Connections of its own for each build of the layer, closed with it. See {@link make}. */
export const layer = (options: Options): Layer.Layer<KeyPool> => Layer.scoped(KeyPool, make(options))
