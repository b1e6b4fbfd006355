import { Context, Duration, Effect, Exit, Fiber, Layer, Metric, Runtime, Schedule, Scope } from "effect"
import * as Pulse from "../../time/Pulse.ts"
import type { Sharding } from "@effect/cluster/Sharding"
import * as Parallel from "../../fibers/Parallel.ts"
import { concat, count, fromStrings, type PackedKeys, toStrings } from "../../keys/PackedKeys.ts"
import { drawId } from "../../model/RandomId.ts"
import { LinkPlaces } from "../../storage/homes/LinkPlaces.ts"
import { LinkStore } from "../../storage/links/LinkStore.ts"
import { KeyPool } from "../../storage/keys/KeyPool.ts"
import * as Metered from "../../telemetry/Metered.ts"
import * as SingleFlight from "../../fibers/SingleFlight.ts"
import * as BoundKeys from "./BoundKeys.ts"
import * as KeyMetrics from "./KeyMetrics.ts"
import { KeyRing } from "./KeyRing.ts"
import { type Leased, PoolShard } from "./PoolShard.ts"
import { orElsewhere, orUnavailable, Unavailable } from "../Unavailable.ts"

/**
 * The node's keys: leased from the pool shards in blocks, taken one at a time without a message.
 *
 * Laws: a leased key is taken at most once, unless it was put back; at most `capacity` keys are held, which bounds what a kill of
 * the node can lose beside the keys of creates that are under way, and those that `KeyChoice` has put aside; a graceful shutdown returns the keys that are left to their pool,
 * where that answers within two seconds.
 */
export class KeyBuffer extends Context.Tag("linkmint/KeyBuffer")<
  KeyBuffer,
  {
    /** A key that no other caller has; `undefined` where the buffer is empty. */
    readonly takeNow: () => string | undefined
    /**
     * Up to `count` such keys: as many as the buffer has, and one at least. Waits for a lease when the buffer is empty; fails when no shard has keys, with `away` where the last one asked
     * did not answer, as while it moves to another node. Its wait can be
     * interrupted even where the caller cannot, so that an uninterruptible caller never loses the keys that it took.
     */
    readonly takeMany: (count: number) => Effect.Effect<ReadonlyArray<string>, Unavailable>
    /** Puts back keys that certainly no create has bound, or will. Those for which there is no room, and all once the buffer closes, go to their pool. */
    readonly putBack: (keys: ReadonlyArray<string>) => Effect.Effect<void>
    /**
     * Drops the held keys that are bound already. A pool that forgot what it handed out hands it out again in the same order, so one
     * key that turns out to be bound is followed by others. Once the buffer closes, nothing is dropped.
     */
    readonly dropBound: Effect.Effect<void>
    /** Those of some keys that are not bound, and those whose database does not answer; counts the others. */
    readonly withoutBound: (keys: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<string>>
    /** Keys held now. */
    readonly level: Effect.Effect<number>
    /** Keys held, at least one: waits for a lease when the buffer is empty, and fails as `takeMany` does. */
    readonly held: Effect.Effect<number, Unavailable>
  }
>() {}

/** Another shard is asked after this long: long enough for a refill, short enough to answer the client in time. */
const leaseWaitMax = { onlyShard: Duration.seconds(3), oneOfMany: Duration.seconds(1) }

/** How long keys that are given back wait for their shard, and after what pause they are sent again where that fails. */
const returnWaitMax = Duration.seconds(2)
const returnAgain = Schedule.spaced("200 millis")

/** A lease that is not answered in time is given up after this long: a shard that lives answers within it, at the end of its refill. */
const lateWaitMax = Duration.seconds(10)

const isClosed = new Unavailable({ reason: "the key buffer is closed", applied: "no" })

/** How often shards that failed are asked whether they are back. */
const checkEvery = Duration.seconds(1)

/**
 * Leases from the shard that had the most keys when it last answered. A shard that fails is asked after all others until it
 * answers a check. Keys that come when another shard has been asked already go back to theirs; `rest` waits for them.
 */
const makeLease = Effect.fnUntraced(function* (scope: Scope.Scope) {
  const { shards } = yield* KeyPool
  const clientOf = yield* PoolShard.client
  const levels = Array.from({ length: shards }, () => Number.POSITIVE_INFINITY)
  const waitMax = shards === 1 ? leaseWaitMax.onlyShard : leaseWaitMax.oneOfMany

  const giveBack = (shard: number, keys: PackedKeys) =>
    count(keys) === 0
      ? Effect.void
      : Effect.flatMap(drawId, (returnId) =>
          // Under one id, so that a return whose answer was lost adds nothing when it comes once more.
          Effect.retry(orUnavailable(clientOf(String(shard)).Return({ keys, returnId })), returnAgain)
        ).pipe(
          // Otherwise the timeout could not interrupt it in a finalizer.
          Effect.interruptible,
          Effect.timeout(returnWaitMax),
          Effect.catchAllCause((cause) => {
            Metered.add(KeyMetrics.lost["return-failed"], count(keys))
            return Effect.logWarning(`${count(keys)} leased keys could not be returned`, cause)
          }),
          // Else an interrupted caller would lose keys uncounted.
          Effect.uninterruptible
        )

  type Answer = Fiber.RuntimeFiber<typeof Leased.Type, Unavailable>
  const lateLeases = new Set<Fiber.Fiber<unknown>>()

  /** Waits for the keys of a lease that is late, and gives them back. */
  const late = Effect.fnUntraced(function* (shard: number, wanted: number, answer: Answer) {
    const returned = yield* Fiber.join(answer).pipe(
      Effect.timeout(lateWaitMax),
      Effect.flatMap(({ keys }) => giveBack(shard, keys)),
      Effect.ignore,
      Effect.ensuring(Fiber.interruptFork(answer)),
      Effect.forkIn(scope)
    )
    lateLeases.add(returned)
    returned.addObserver(() => lateLeases.delete(returned))
    yield* Effect.logWarning(`Pool shard ${shard} did not answer a lease of ${wanted} keys in time`)
    return yield* new Unavailable({
      reason: `pool shard ${shard} did not answer`,
      applied: "unknown",
      away: true
    })
  })

  const leaseFrom = (shard: number, wanted: number) =>
    Effect.forkIn(orElsewhere(clientOf(String(shard)).Lease({ count: wanted })), scope).pipe(
      Effect.flatMap((answer) =>
        Effect.flatten(
          Effect.timeoutTo(Fiber.join(answer), {
            duration: waitMax,
            onSuccess: Effect.succeed,
            onTimeout: () => late(shard, wanted, answer)
          })
        )
      ),
      Effect.tapBoth({
        onSuccess: ({ level }) => Effect.sync(() => (levels[shard] = level)),
        onFailure: () => Effect.sync(() => (levels[shard] = -1))
      }),
      Effect.map(({ keys }) => ({ keys, shard }))
    )

  const lease = (wanted: number) =>
    Effect.suspend(() => {
      const fullestFirst = levels.map((_, shard) => shard).toSorted((a, b) => levels[b]! - levels[a]!)
      const [first, ...others] = fullestFirst.map((shard) => leaseFrom(shard, wanted))
      return Effect.firstSuccessOf([first!, ...others])
    })

  const check = (shard: number) =>
    orElsewhere(clientOf(String(shard)).Status()).pipe(
      Effect.timeout(waitMax),
      Effect.tap(({ level }) => Effect.sync(() => (levels[shard] = level))),
      Effect.ignore
    )
  const checkFailed = Effect.suspend(() => {
    const failed = levels.flatMap((level, shard) => (level < 0 ? [shard] : []))
    return failed.length === 0 ? Effect.void : Parallel.forEach(failed, check)
  })
  yield* Effect.forkScoped(Pulse.forever(checkFailed, checkEvery))

  const rest = Effect.suspend(() =>
    Effect.timeoutOption(Effect.interruptible(Fiber.awaitAll(lateLeases)), returnWaitMax)
  )

  return { lease, giveBack, rest }
})

/**
 * A buffer of `capacity` keys. It leases again in the background when fewer than half are left; takers of an empty buffer wait for
 * that lease together.
 */
export const make = (
  capacity: number
): Effect.Effect<typeof KeyBuffer.Service, never, KeyPool | LinkStore | Sharding | Scope.Scope> =>
  Effect.gen(function* () {
    const store = yield* LinkStore
    const places = yield* LinkPlaces
    // A scope of its own: the buffer's would interrupt a lease that is under way, and lose its keys.
    const leasing = yield* Scope.make()
    const { giveBack, lease, rest } = yield* Scope.extend(makeLease(leasing), leasing)
    const ring = new KeyRing(capacity)
    const runtime = yield* Effect.runtime()
    let lastShard = 0
    let closed = false

    /** By the time it runs, keys that were put back may have filled the ring. */
    const refillOnce = Effect.suspend(() => {
      if (closed) return isClosed
      const wanted = capacity - ring.size
      if (wanted === 0) return Effect.void
      return Effect.flatMap(lease(wanted), ({ keys, shard }) => {
        lastShard = shard
        return giveBack(shard, ring.add(keys))
      })
    })

    const refill = yield* Scope.extend(SingleFlight.make(refillOnce), leasing)

    const returning = yield* Effect.makeSemaphore(1)
    const spare: Array<PackedKeys> = []
    /** A database that fails refuses thousands of creates at once: their keys share a few returns, since what comes while one is under way goes with the next one. */
    const returnSpare = Effect.uninterruptible(
      returning.withPermits(1)(Effect.suspend(() => giveBack(lastShard, concat(...spare.splice(0)))))
    )

    /** What comes once the buffer closes goes to the pool: the ring may have been emptied already. */
    const putBack = (keys: ReadonlyArray<string>) =>
      Effect.suspend(() => {
        const packed = fromStrings(keys)
        const rest = closed ? packed : ring.add(packed)
        if (count(rest) === 0) return Effect.void
        spare.push(rest)
        return returnSpare
      })

    const withoutBound = Effect.fnUntraced(function* (held: ReadonlyArray<string>) {
      const { taken } = yield* BoundKeys.ask(store, places, held)
      if (taken.size > 0) {
        yield* Metric.incrementBy(KeyMetrics.conflicts.key, taken.size)
        yield* Effect.logWarning(`${taken.size} of ${held.length} keys held were bound already`)
      }
      return held.filter((key) => !taken.has(key))
    })
    const dropOnce = Effect.uninterruptibleMask((restore) => {
      const drained = toStrings(ring.drain())
      return restore(withoutBound(drained)).pipe(
        Effect.tapErrorCause(() => putBack(drained)),
        Effect.flatMap(putBack)
      )
    })
    const dropping = yield* Scope.make()
    const drop = yield* Scope.extend(SingleFlight.makeOutlasting(dropOnce, returnWaitMax), dropping)

    /** Whether it is time for a lease. */
    const isLow = () => ring.size < capacity / 2 && !refill.isRunning()

    // Whoever still asks while it closes would take keys that are about to be given back.
    const takeNow = () => {
      if (closed) return undefined
      const taken = ring.take()
      if (taken !== undefined && isLow()) Runtime.runFork(runtime, refill.start)
      return taken
    }

    /** More callers may have waited for a lease than it brought keys: the others wait for the next one. */
    const takeMany = (wanted: number): Effect.Effect<ReadonlyArray<string>, Unavailable> =>
      Effect.suspend(() => {
        if (closed) return isClosed
        const keys = Array.from({ length: Math.min(wanted, ring.size) }, () => ring.take()!)
        if (keys.length === 0) return Effect.zipRight(Effect.interruptible(refill.join), takeMany(wanted))
        return isLow() ? Effect.as(refill.start, keys) : Effect.succeed(keys)
      })

    const held: Effect.Effect<number, Unavailable> = Effect.suspend(() =>
      ring.size > 0 ? Effect.succeed(ring.size) : Effect.zipRight(refill.join, held)
    )

    /** Waits for a lease that is under way: it takes at most `waitMax` for each shard. When the ring is emptied, nothing adds to it any more. */
    const close = Effect.gen(function* () {
      closed = true
      yield* refill.rest
      yield* rest
      yield* Scope.close(dropping, Exit.void)
      spare.push(ring.drain())
      yield* returnSpare
      yield* Scope.close(leasing, Exit.void)
    })
    yield* Effect.addFinalizer(() => close)

    return {
      takeNow,
      takeMany,
      putBack,
      dropBound: Effect.suspend(() => (closed ? Effect.void : drop.join)),
      withoutBound,
      level: Effect.sync(() => ring.size),
      held
    }
  })

/** See {@link make}. */
export const layer = (capacity: number): Layer.Layer<KeyBuffer, never, KeyPool | LinkStore | Sharding> =>
  Layer.scoped(KeyBuffer, make(capacity))
