import { Effect, Layer, type Scope } from "effect"
import * as Concurrent from "../../fibers/Concurrent.ts"
import type { PackedKeys } from "../../keys/PackedKeys.ts"
import { KeyPool, type PoolKind } from "./KeyPool.ts"
import { scripts } from "./KeyPoolRedisScripts.ts"
import * as KeyPoolShard from "./KeyPoolShard.ts"
import * as RedisClient from "../redis/RedisClient.ts"
import type { RedisUrl } from "../redis/RedisUrl.ts"
import type { StorageError } from "../StorageError.ts"

/** Which Redis servers, and whose keys on them. */
export interface Options {
  /** One a pool shard, in the order of the shards, which every node must share. Two may name the same server. */
  readonly urls: ReadonlyArray<RedisUrl>
  /**
   * The deployment's own name, 1 to 64 letters, digits, `.`, `_` and `-`; anything else is a defect. Deployments with different names
   * share a Redis without seeing each other's keys.
   */
  readonly namespace: string
  /** Which type of Redis has a shard's keys. Keys that are in the other one move over with the next claim of their shard. */
  readonly kind?: PoolKind
}

/**
 * The names of a shard's keys in Redis. Only the text in braces decides the slot in a Redis Cluster, so all of them share one.
 */
export const namesOf = (namespace: string, shard: number) => {
  const prefix = `linkmint:{${namespace}}:pool:${shard}`
  return {
    epoch: `${prefix}:epoch`,
    list: `${prefix}:keys`,
    set: `${prefix}:set`,
    batches: `${prefix}:batches`,
    returns: `${prefix}:returns`
  }
}

/** The bytes themselves, not a copy. */
const bufferOf = ({ bytes: { buffer, byteLength, byteOffset } }: PackedKeys) =>
  Buffer.from(buffer, byteOffset, byteLength)

/** The commands of a pool shard, over a connection of its own. */
export const commandsOf = Effect.fn("KeyPoolRedis.commandsOf")(function* (
  url: RedisUrl,
  namespace: string,
  shard: number,
  kind: PoolKind
): Effect.fn.Return<KeyPoolShard.Commands, never, Scope.Scope> {
  const names = namesOf(namespace, shard)
  const [keys, others] = kind === "list" ? [names.list, names.set] : [names.set, names.list]
  const { send } = yield* RedisClient.make(url, scripts(kind))
  return {
    claim: (epoch) => send("KeyPool.claim", (redis) => redis.linkmintClaim(names.epoch, keys, others, epoch)),
    push: (epoch, batch, packed) =>
      send("KeyPool.push", (redis) =>
        redis.linkmintPush(names.epoch, keys, names.batches, epoch, batch, packed.width, bufferOf(packed))
      ),
    batches: send("KeyPool.known", (redis) => redis.lrange(names.batches, 0, -1)),
    pop: (wanted) =>
      Effect.map(
        send("KeyPool.lease", (redis) =>
          kind === "list" ? redis.lpop(keys, wanted) : redis.spop(keys, wanted)
        ),
        (popped) => popped ?? []
      ),
    giveBack: (id, packed) =>
      send("KeyPool.giveBack", (redis) =>
        redis.linkmintGiveBack(keys, names.returns, id, packed.width, bufferOf(packed))
      ),
    length: send("KeyPool.level", (redis) => (kind === "list" ? redis.llen(keys) : redis.scard(keys)))
  }
})

/**
 * `KeyPool` on Redis 7 or later: for each pool shard a list, or a set, of keys on a server, or on a primary behind Sentinels.
 *
 * Redis answers for the keys that it was given, so that a batch is settled as soon as it is pushed. Every operation takes at
 * most about a second. While a server is away, those of its shard fail at once, and work again within a second of
 * its return. An answer lost with the connection after `LPOP` (of a set, `SPOP`) loses its keys. After a failover that forgot the last pops and
 * pushes, keys come out twice or not at all: it is the links' primary key that binds each once.
 */
export const make = ({
  kind = "list",
  namespace,
  urls
}: Options): Effect.Effect<typeof KeyPool.Service, never, Scope.Scope> =>
  Effect.gen(function* () {
    if (!/^[\w.-]{1,64}$/.test(namespace)) {
      return yield* Effect.die(new RangeError("a namespace has 1 to 64 letters, digits, '.', '_' and '-'"))
    }
    const shards = yield* Concurrent.forEach(urls, (url, shard) =>
      Effect.map(commandsOf(url, namespace, shard, kind), (commands) => KeyPoolShard.make(shard, commands))
    )
    return KeyPoolShard.join(shards)
  })

/** Deletes all keys of the pools, and all that they remember. No node may be working with them. */
export const forget = ({
  namespace,
  urls
}: Pick<Options, "namespace" | "urls">): Effect.Effect<void, StorageError> =>
  Effect.forEach(
    urls,
    (url, shard) =>
      Effect.flatMap(RedisClient.make(url, {}), ({ send }) =>
        send("KeyPool.forget", (redis) => redis.del(Object.values(namesOf(namespace, shard))))
      ),
    { discard: true }
  ).pipe(Effect.scoped)

/** Connections of its own for each build of the layer, closed with it. See {@link make}. */
export const layer = (options: Options): Layer.Layer<KeyPool> => Layer.scoped(KeyPool, make(options))
