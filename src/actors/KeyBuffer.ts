import { Context, Duration, Effect, Layer, type Scope } from "effect"
import type { Sharding } from "@effect/cluster/Sharding"
import { count, fromStrings } from "../PackedKeys.ts"
import { KeyPool } from "../storage/KeyPool.ts"
import * as SingleFlight from "../SingleFlight.ts"
import { KeyRing } from "./KeyRing.ts"
import { PoolShard } from "./PoolShard.ts"
import { fromFailure, Unavailable } from "./Unavailable.ts"

/**
 * The node's keys: leased from the pool shards in blocks, taken one at a time without a message.
 *
 * Laws: a leased key is taken at most once, unless it was put back; at most `capacity` keys are held, which bounds what a kill of
 * the node can lose; keys left at an orderly stop go back to their pool.
 */
export class KeyBuffer extends Context.Tag("linkmint/KeyBuffer")<
  KeyBuffer,
  {
    /** A key that no one else has. Waits for a lease when the buffer is empty; fails when no shard has keys. */
    readonly take: Effect.Effect<string, Unavailable>
    /** Puts back a key that was certainly not bound. */
    readonly putBack: (key: string) => Effect.Effect<void>
    /** Keys held now. */
    readonly level: Effect.Effect<number>
  }
>() {}

/** Leases are given up after this long: long enough for a refill, short enough to answer the client in time. */
const leaseWaitMax = Duration.seconds(3)
const returnWaitMax = Duration.seconds(2)

/**
 * Leases from the shard that had the most keys when it was last heard of; a shard that fails counts as empty until it answers again, and
 * is asked after the others.
 */
const makeLease = Effect.gen(function* () {
  const { shards } = yield* KeyPool
  const clientOf = yield* PoolShard.client
  const levels = Array.from({ length: shards }, () => Number.POSITIVE_INFINITY)

  const leaseFrom = (shard: number, wanted: number) =>
    clientOf(String(shard))
      .Lease({ count: wanted })
      .pipe(
        Effect.timeoutFail({
          duration: leaseWaitMax,
          onTimeout: () =>
            new Unavailable({ reason: `pool shard ${shard} did not answer`, applied: "unknown" })
        }),
        Effect.tapBoth({
          onSuccess: ({ level }) => Effect.sync(() => (levels[shard] = level)),
          onFailure: () => Effect.sync(() => (levels[shard] = -1))
        }),
        Effect.map(({ keys }) => ({ keys, shard })),
        Effect.mapError(fromFailure)
      )

  const lease = (wanted: number) =>
    Effect.suspend(() => {
      const fullestFirst = levels.map((_, shard) => shard).toSorted((a, b) => levels[b]! - levels[a]!)
      const [first, ...others] = fullestFirst.map((shard) => leaseFrom(shard, wanted))
      return Effect.firstSuccessOf([first!, ...others])
    })
  return { lease, clientOf }
})

/**
 * A buffer of `capacity` keys. It leases anew in the background when fewer than half are left; takers of an empty buffer wait for
 * that lease together.
 */
export const make = (
  capacity: number
): Effect.Effect<typeof KeyBuffer.Service, never, KeyPool | Sharding | Scope.Scope> =>
  Effect.gen(function* () {
    const { clientOf, lease } = yield* makeLease
    const ring = new KeyRing(capacity)
    let lastShard = 0

    const giveBack = (shard: number, keys: ReturnType<KeyRing["drain"]>) =>
      count(keys) === 0
        ? Effect.void
        : clientOf(String(shard))
            .Return({ keys })
            .pipe(
              Effect.timeout(returnWaitMax),
              Effect.catchAllCause((cause) =>
                Effect.logWarning(`${count(keys)} leased keys could not be returned`, cause)
              )
            )

    const refillOnce = Effect.suspend(() => lease(capacity - ring.size)).pipe(
      Effect.flatMap(({ keys, shard }) => {
        lastShard = shard
        return giveBack(shard, ring.add(keys))
      })
    )

    const refill = yield* SingleFlight.make(refillOnce)

    const take: Effect.Effect<string, Unavailable> = Effect.suspend(() => {
      const key = ring.take()
      // Many may have waited for the same lease, more than it brought: those that find nothing wait for the next.
      if (key === undefined) return Effect.zipRight(refill.join, take)
      if (ring.size >= capacity / 2 || refill.isRunning()) return Effect.succeed(key)
      return Effect.as(refill.start, key)
    })

    yield* Effect.addFinalizer(() => Effect.suspend(() => giveBack(lastShard, ring.drain())))

    return {
      take,
      putBack: (key) => Effect.suspend(() => giveBack(lastShard, ring.add(fromStrings([key])))),
      level: Effect.sync(() => ring.size)
    }
  })

/** See {@link make}. */
export const layer = (capacity: number): Layer.Layer<KeyBuffer, never, KeyPool | Sharding> =>
  Layer.scoped(KeyBuffer, make(capacity))
