import { Effect, Fiber, Layer, type Scope } from "effect"
import { count, fromStrings, type PackedKeys, toStrings } from "../PackedKeys.ts"
import { KeyPool } from "./KeyPool.ts"
import { scripts } from "./KeyPoolRedisScripts.ts"
import type { BatchRecord, PoolClaim } from "./KeyStock.ts"
import * as RedisClient from "./RedisClient.ts"
import type { RedisUrl } from "./RedisUrl.ts"
import { Fenced, type StorageError } from "./StorageError.ts"

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
  return { epoch: `${prefix}:epoch`, keys: `${prefix}:keys`, batches: `${prefix}:batches` }
}

/** What the scripts answer where the epoch is not the newest. */
const stale = -1

const makeShard = Effect.fn("KeyPoolRedis.makeShard")(function* (
  url: RedisUrl,
  namespace: string,
  shard: number
) {
  const names = namesOf(namespace, shard)
  const { send } = yield* RedisClient.make(url, scripts)

  const fenced = (claim: PoolClaim, answer: Effect.Effect<number, StorageError>) =>
    Effect.filterOrFail(
      answer,
      (level) => level !== stale,
      () => new Fenced({ shard, epoch: claim.epoch })
    )

  const giveBack = (keys: PackedKeys) =>
    count(keys) === 0
      ? Effect.void
      : // Each is put before the one put before it, so the last one goes first.
        Effect.asVoid(
          send("KeyPool.giveBack", (redis) =>
            redis.call("LPUSH", [names.keys, ...toStrings(keys).toReversed()])
          )
        )

  const pop = (wanted: number) =>
    Effect.map(
      send("KeyPool.lease", (redis) => redis.lpop(names.keys, wanted)),
      (keys) => fromStrings(keys ?? [])
    )

  return {
    claim: (claim: PoolClaim) =>
      Effect.asVoid(
        fenced(
          claim,
          send("KeyPool.claim", (redis) => redis.linkmintClaim(names.epoch, claim.epoch))
        )
      ),

    push: (claim: PoolClaim, { epoch, keys, sequence }: Omit<BatchRecord, "shard">) => {
      const { buffer, byteLength, byteOffset } = keys.bytes
      const packed = Buffer.from(buffer, byteOffset, byteLength)
      const answer = send("KeyPool.push", (redis) =>
        redis.linkmintPush(
          names.epoch,
          names.keys,
          names.batches,
          claim.epoch,
          `${epoch}/${sequence}`,
          keys.width,
          packed
        )
      )
      return Effect.map(fenced(claim, answer), (level) => ({ level, settled: [{ epoch, sequence }] }))
    },

    /** Keys that come when the caller has gone are put back: they are nowhere else. */
    lease: (wanted: number) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.flatMap(Effect.fork(pop(wanted)), (popping) =>
          Effect.onInterrupt(restore(Fiber.join(popping)), () =>
            Effect.ignore(Effect.flatMap(Fiber.join(popping), giveBack))
          )
        )
      ),

    giveBack,
    level: send("KeyPool.level", (redis) => redis.llen(names.keys))
  }
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
    return KeyPool.of({
      shards: shards.length,
      claim: (claim) => shards[claim.shard]!.claim(claim),
      push: (claim, batch) => shards[claim.shard]!.push(claim, batch),
      lease: (shard, wanted) => shards[shard]!.lease(wanted),
      giveBack: (shard, keys) => shards[shard]!.giveBack(keys),
      level: (shard) => shards[shard]!.level
    })
  })

/** Connections of its own for each build of the layer, closed with it. See {@link make}. */
export const layer = (options: Options): Layer.Layer<KeyPool> => Layer.scoped(KeyPool, make(options))
