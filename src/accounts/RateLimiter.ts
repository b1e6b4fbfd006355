import {
  Context,
  Data,
  Deferred,
  Duration,
  Effect,
  FiberId,
  FiberSet,
  Layer,
  Schedule,
  type Scope
} from "effect"
import { LRUCache } from "lru-cache"
import { atMost } from "../fibers/LruCacheOptions.ts"
import * as Batcher from "../fibers/Batcher.ts"
import { KeyedHash } from "../secrets/KeyedHash.ts"
import { monotonicNow_ms } from "../time/MonotonicTime.ts"
import { type Ask, type Lease, type Quota, QuotaStore } from "../storage/accounts/QuotaStore.ts"
import type { StorageError } from "../storage/StorageError.ts"
import * as Timeout from "../fibers/Timeout.ts"
import * as Meter from "./Meter.ts"
import * as Reservations from "./Reservations.ts"

/**
 * Limits how often things are done, across all nodes. A node leases times in blocks from the `QuotaStore`, and the next block before one is used up, so
 * that most requests are answered at once.
 *
 * When the store does not answer within 250 ms, it is not asked for a second. Meanwhile each node enforces limits on guessing (`Limit.isHeld`) alone; it never allows more than such a
 * limit, whatever the store says. Other limits allow everything then: a quota must not be what stops the service.
 */
export class RateLimiter extends Context.Tag("linkmint/RateLimiter")<
  RateLimiter,
  {
    /** Takes one of each, or none where one of them is used up: gives the state of that one, else of the one with the least left. */
    readonly takeAll: (limits: ReadonlyArray<Meter.Limit>) => Effect.Effect<Meter.Standing | null>
    /** The same without an effect; `undefined`, and nothing is taken, where the node has no lease and the store must be asked. */
    readonly takeAllNow: (limits: ReadonlyArray<Meter.Limit>) => Meter.Standing | null | undefined
    /** Gives back what was taken. */
    readonly giveBack: (limits: ReadonlyArray<Meter.Limit>) => void
    /**
     * Reserves one of each, without an effect; the state of the one that is used up, and `undefined` where `reserve` is needed. What others have reserved may come back, and `reserve` waits
     * for it.
     */
    readonly reserveNow: (
      limits: ReadonlyArray<Meter.Limit>
    ) => Reservations.Reservation | Meter.Standing | undefined
    readonly reserve: (
      limits: ReadonlyArray<Meter.Limit>
    ) => Effect.Effect<Reservations.Reservation | Meter.Standing>
    /** The state of a limit that is reserved if it is known to be used up, without taking anything. */
    readonly usedUp: (limits: ReadonlyArray<Meter.Limit>) => Meter.Standing | undefined
    /** What is left for all nodes; what nodes have leased counts as used. */
    readonly read: (quotas: ReadonlyArray<Quota>) => Effect.Effect<ReadonlyArray<Lease>, StorageError>
  }
>() {}

/** Quotas that a node remembers at most. What it has leased of one that it forgets is lost until that is full again. */
const metersMax = 100_000

/** Limits that a node enforces alone at most. None is forgotten before it is full again; beyond that number the node refuses. */
const heldMax = 100_000

/** How often, at most, limits that are full again are looked for when there are too many. */
const forgetEvery_ms = 1_000

/** How long an answer of the store is waited for. */
const answerMax = Duration.millis(250)

/** How long the store is not asked after it did not answer. */
const openFor_ms = 1_000

const asksMax = 1_000
const queueMax = 10_000

/** How often quotas that are full again are deleted, how many in one statement, and how many statements at a time. */
const sweepEvery = Duration.minutes(1)
const sweepBatch = 1_000
const sweepsMax = 100

class NoAnswer extends Data.TaggedError("NoAnswer")<{}> {
  override readonly message = "the store did not answer"
}

const inTime = <A, E>(answer: Effect.Effect<A, E>): Effect.Effect<A, E | NoAnswer> =>
  Timeout.within(answer, { duration: answerMax, onTimeout: () => new NoAnswer() })

/** The limits that the node enforces alone, by name. */
const makeHeld = (max: number) => {
  const held = new Map<string, { readonly limit: Meter.Limit; readonly meter: Meter.Meter }>()
  let forgetAt = 0

  const forget = (now: number) => {
    if (now < forgetAt) return
    forgetAt = now + forgetEvery_ms
    for (const [id, { limit, meter }] of held) if (Meter.isFull(limit, meter, now)) held.delete(id)
  }

  /** `undefined` where there are too many others. */
  return (limit: Meter.Limit, now: number): Meter.Meter | undefined => {
    const known = held.get(limit.id)
    if (known !== undefined) return known.meter
    if (held.size >= max) forget(now)
    if (held.size >= max) return undefined
    const meter = Meter.make(limit, now)
    held.set(limit.id, { limit, meter })
    return meter
  }
}

/** The state of a limit for which the node has no room. */
const crowdedOut = ({ limit }: Meter.Limit): Meter.Standing => ({
  isAllowed: false,
  limit,
  remaining: 0,
  retryIn_ms: forgetEvery_ms,
  resetIn_ms: forgetEvery_ms
})

/** See {@link RateLimiter}. */
export const makeWith = (bounds: {
  readonly heldMax: number
}): Effect.Effect<typeof RateLimiter.Service, never, KeyedHash | QuotaStore | Scope.Scope> =>
  Effect.gen(function* () {
    const store = yield* QuotaStore
    const hash = yield* KeyedHash
    const clock = yield* Effect.clock
    const run = yield* FiberSet.makeRuntime<never>()
    const meters = new LRUCache<string, Meter.Meter>(atMost(metersMax))
    const heldMeterOf = makeHeld(bounds.heldMax)
    const batcher = yield* Batcher.make<Ask, Lease, StorageError | NoAnswer>({
      name: "quotas",
      kind: "quota",
      // Bounded, so that later asks are not held up.
      run: (asks) =>
        Effect.tapError(inTime(store.leaseMany(asks)), ({ message }) =>
          Effect.logWarning(`Quotas are not shared between nodes: ${message}`)
        ),
      batchMax: asksMax,
      queueMax,
      inFlightMax: 1
    })
    const now_ms = () => monotonicNow_ms(clock)

    /** Names of quotas, which can be clients' addresses, are hashed before they reach the store. */
    const askOf = ({ id, limit, period }: Quota, demand: number): Ask => ({
      id: hash.of("quota", id),
      limit,
      period,
      demand
    })

    const meterOf = (limit: Meter.Limit, now: number): Meter.Meter | undefined => {
      if (limit.isHeld === true) return heldMeterOf(limit, now)
      const known = meters.get(limit.id)
      if (known !== undefined) return known
      const meter = Meter.make(limit, now)
      meters.set(limit.id, meter)
      return meter
    }

    /** Begins a lease, unless one is under way: gives what to wait for. */
    const begin = (
      limit: Meter.Limit,
      meter: Meter.Meter,
      demand = Math.max(1, meter.waiting),
      ended = () => {}
    ): Deferred.Deferred<void> => {
      if (meter.leasing !== undefined) return meter.leasing
      const done = Deferred.unsafeMake<void>(FiberId.none)
      meter.leasing = done
      const asked = now_ms()
      run(
        Effect.match(inTime(batcher.submit(askOf(limit, demand))), {
          onSuccess: (given) => Meter.accept(limit, meter, demand, given, { asked, now: now_ms() }),
          onFailure: () => {
            meter.openUntil = now_ms() + openFor_ms
          }
        }).pipe(
          Effect.ensuring(
            Effect.sync(() => {
              meter.leasing = undefined
              Deferred.unsafeDone(done, Effect.void)
              ended()
            })
          )
        )
      )
      return done
    }

    /** Takes one; `undefined` where the node has no lease. */
    const takeNow = (limit: Meter.Limit): Meter.Standing | undefined => {
      const now = now_ms()
      const meter = meterOf(limit, now)
      if (meter === undefined) return crowdedOut(limit)
      if (!Meter.hasOwn(limit, meter, now)) return Meter.refusal(limit, meter)
      const standing = Meter.ask(limit, meter, now)
      if (standing?.isAllowed !== true) return standing
      meter.own--
      if (meter.tokens > 0 && meter.tokens === Math.floor(meter.leased / 2)) void begin(limit, meter)
      return standing
    }

    const giveBack = (limits: ReadonlyArray<Meter.Limit>) => {
      const now = now_ms()
      for (const limit of limits) {
        const meter = meterOf(limit, now)
        if (meter !== undefined) Meter.giveBack(limit, meter, now)
      }
    }

    /** Takes one of each, or none: `short` where the node has no lease of it. */
    const tryAll = (
      limits: ReadonlyArray<Meter.Limit>
    ): Meter.Standing | null | { readonly short: Meter.Limit } => {
      let least: Meter.Standing | null = null
      for (const [index, limit] of limits.entries()) {
        const standing = takeNow(limit)
        if (standing?.isAllowed !== true) {
          giveBack(limits.slice(0, index))
          return standing ?? { short: limit }
        }
        if (least === null || standing.remaining < least.remaining) least = standing
      }
      return least
    }

    const isShort = (tried: ReturnType<typeof tryAll>): tried is { readonly short: Meter.Limit } =>
      tried !== null && "short" in tried

    const takeAllNow = (limits: ReadonlyArray<Meter.Limit>) => {
      const tried = tryAll(limits)
      return isShort(tried) ? undefined : tried
    }

    const takeAll = (limits: ReadonlyArray<Meter.Limit>): Effect.Effect<Meter.Standing | null> =>
      Effect.suspend(() => {
        const tried = tryAll(limits)
        if (!isShort(tried)) return Effect.succeed(tried)
        // Defined, since `takeNow` has just used it.
        const meter = meterOf(tried.short, now_ms())!
        meter.waiting++
        return Deferred.await(begin(tried.short, meter)).pipe(
          Effect.ensuring(
            Effect.sync(() => {
              meter.waiting--
            })
          ),
          Effect.zipRight(takeAll(limits))
        )
      })

    yield* store.sweep(sweepBatch).pipe(
      Effect.repeat({ times: sweepsMax, while: (swept) => swept === sweepBatch }),
      Effect.catchAll((error) => Effect.logDebug(`Quotas were not swept: ${error.reason}`)),
      Effect.repeat(Schedule.spaced(sweepEvery)),
      Effect.delay(sweepEvery),
      Effect.forkScoped
    )

    return {
      takeAll,
      takeAllNow,
      giveBack,
      ...Reservations.make({ now_ms, begin, max: metersMax }),
      read: (quotas) =>
        quotas.length === 0 ? Effect.succeed([]) : store.leaseMany(quotas.map((quota) => askOf(quota, 0)))
    }
  })

/** See {@link RateLimiter}. */
export const make = makeWith({ heldMax })

/** See {@link make}. */
export const layer: Layer.Layer<RateLimiter, never, KeyedHash | QuotaStore> = Layer.scoped(RateLimiter, make)
