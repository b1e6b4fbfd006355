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
import { atMost } from "../LruCacheOptions.ts"
import * as Batcher from "../Batcher.ts"
import { monotonic_ms } from "../MonotonicTime.ts"
import { type Ask, type Lease, type Quota, QuotaStore } from "../storage/QuotaStore.ts"
import type { StorageError } from "../storage/StorageError.ts"
import * as Timeout from "../Timeout.ts"

/** How a quota stands after a question for one more. */
export interface Standing {
  readonly isAllowed: boolean
  readonly limit: number
  /** Times that are left, as far as the node knows. */
  readonly remaining: number
  /** Milliseconds until there is one again; 0 where there is one. */
  readonly retryIn_ms: number
  /** Milliseconds until all are there again. */
  readonly resetIn_ms: number
}

/**
 * Limits how often things are done, across all nodes. A node leases times in blocks from the `QuotaStore`, and the next block before one is used up, so
 * that most questions are answered at once.
 *
 * When the store does not answer within 250 ms everything is allowed for a second: a quota is there to share, and must not be what stops the
 * service.
 */
export class RateLimiter extends Context.Tag("linkmint/RateLimiter")<
  RateLimiter,
  {
    /** Takes one, without an effect; `undefined` where the node has no lease and the store must be asked. */
    readonly tryTake: (quota: Quota) => Standing | undefined
    /** Takes one. */
    readonly take: (quota: Quota) => Effect.Effect<Standing>
    /** Takes one of each, or none at all where one of them has none left: gives that one, else the one of which the least is left. */
    readonly takeAll: (quotas: ReadonlyArray<Quota>) => Effect.Effect<Standing | null>
    /** The same without an effect; `undefined`, and nothing is taken, where the store must be asked. */
    readonly tryTakeAll: (quotas: ReadonlyArray<Quota>) => Standing | null | undefined
    /** Takes one if there is one, at once or soon, without waiting for it. */
    readonly spend: (quota: Quota) => void
    /** How it stands if it is known to be used up, without taking anything. */
    readonly usedUp: (quota: Quota) => Standing | undefined
    /** What is left for all nodes; what nodes have leased is gone. */
    readonly peek: (quotas: ReadonlyArray<Quota>) => Effect.Effect<ReadonlyArray<Lease>, StorageError>
  }
>() {}

/** Quotas that a node knows of at most. What it has leased of one that it forgets is lost until that is full again. */
const metersMax = 100_000

/** An answer that takes longer is not waited for. */
const answerMax = Duration.millis(250)

/** How long everything is allowed when the store did not answer. */
const openFor_ms = 1_000

/** How soon a quota that was used up is asked about again at the earliest. */
const emptyFor_ms = 50

const asksMax = 1_000
const queueMax = 10_000

/** How often quotas that are full again are forgotten, and how many at a time, and in one go. */
const sweepEvery = Duration.minutes(1)
const sweepBatch = 1_000
const sweepsMax = 100

class NoAnswer extends Data.TaggedError("NoAnswer")<{}> {
  override readonly message = "the store did not answer"
}

const inTime = <A, E>(answer: Effect.Effect<A, E>): Effect.Effect<A, E | NoAnswer> =>
  Timeout.within(answer, { duration: answerMax, onTimeout: () => new NoAnswer() })

/** What a node knows of a quota. Moments are milliseconds of the monotonic clock. */
interface Meter {
  /** Times that the node may allow by itself. */
  tokens: number
  /** Those of the last lease, and until when they may be used. */
  leased: number
  leasedUntil: number
  remaining: number
  /** Nothing is left before this. */
  emptyUntil: number
  resetAt: number
  /** Everything is allowed before this. */
  openUntil: number
  /** Questions that wait. */
  waiting: number
  leasing: Deferred.Deferred<void> | undefined
}

const newMeter = ({ limit }: Quota): Meter => ({
  tokens: 0,
  leased: 0,
  leasedUntil: 0,
  remaining: limit,
  emptyUntil: 0,
  resetAt: 0,
  openUntil: 0,
  waiting: 0,
  leasing: undefined
})

const standingOf = (quota: Quota, meter: Meter, isAllowed: boolean, now: number): Standing => ({
  isAllowed,
  limit: quota.limit,
  remaining: isAllowed ? Math.min(quota.limit, meter.remaining + meter.tokens) : 0,
  retryIn_ms: isAllowed ? 0 : Math.max(1, meter.emptyUntil - now),
  resetIn_ms: Math.max(0, meter.resetAt - now)
})

/** Takes a token that the node has, or tells what it knows. */
const ask = (quota: Quota, meter: Meter, now: number): Standing | undefined => {
  if (meter.tokens > 0 && now < meter.leasedUntil) {
    meter.tokens--
    return standingOf(quota, meter, true, now)
  }
  if (now < meter.openUntil) return standingOf(quota, meter, true, now)
  return now < meter.emptyUntil ? standingOf(quota, meter, false, now) : undefined
}

const accept = (quota: Quota, meter: Meter, demand: number, lease: Lease, now: number) => {
  const isSame = now < meter.leasedUntil
  meter.tokens = (isSame ? meter.tokens : 0) + lease.granted
  meter.leased = lease.granted
  meter.resetAt = now + lease.resetIn_ms
  // What is left of a day's quota ends with the day; what was taken from a bucket stays taken.
  meter.leasedUntil = quota.period === "day" ? meter.resetAt : Number.POSITIVE_INFINITY
  meter.remaining = lease.remaining
  if (lease.granted < demand) meter.emptyUntil = now + Math.max(emptyFor_ms, lease.nextIn_ms)
}

/** See {@link RateLimiter}. */
export const make: Effect.Effect<typeof RateLimiter.Service, never, QuotaStore | Scope.Scope> = Effect.gen(
  function* () {
    const store = yield* QuotaStore
    const clock = yield* Effect.clock
    const run = yield* FiberSet.makeRuntime<never>()
    const meters = new LRUCache<string, Meter>(atMost(metersMax))
    const batcher = yield* Batcher.make<Ask, Lease, StorageError | NoAnswer>({
      name: "quotas",
      kind: "quota",
      // Not waited for longer, so that what comes next is not held up.
      run: (asks) =>
        Effect.tapError(inTime(store.leaseMany(asks)), ({ message }) =>
          Effect.logWarning(`Quotas are not held: ${message}`)
        ),
      batchMax: asksMax,
      queueMax,
      inFlightMax: 1
    })
    const now_ms = () => monotonic_ms(clock)

    const meterOf = (quota: Quota): Meter => {
      const known = meters.get(quota.id)
      if (known !== undefined) return known
      const meter = newMeter(quota)
      meters.set(quota.id, meter)
      return meter
    }

    const lease = (quota: Quota, meter: Meter, demand: number) =>
      Effect.match(inTime(batcher.submit({ ...quota, demand })), {
        onSuccess: (given) => accept(quota, meter, demand, given, now_ms()),
        onFailure: () => {
          meter.openUntil = now_ms() + openFor_ms
        }
      })

    /** Begins to lease, unless that is under way: what to wait for. */
    const begin = (quota: Quota, meter: Meter): Deferred.Deferred<void> => {
      if (meter.leasing !== undefined) return meter.leasing
      const done = Deferred.unsafeMake<void>(FiberId.none)
      meter.leasing = done
      run(
        lease(quota, meter, Math.max(1, meter.waiting)).pipe(
          Effect.ensuring(
            Effect.sync(() => {
              meter.leasing = undefined
              Deferred.unsafeDone(done, Effect.void)
            })
          )
        )
      )
      return done
    }

    const tryTake = (quota: Quota): Standing | undefined => {
      const meter = meterOf(quota)
      const standing = ask(quota, meter, now_ms())
      if (standing?.isAllowed === true && meter.tokens > 0 && meter.tokens === Math.floor(meter.leased / 2)) {
        void begin(quota, meter)
      }
      return standing
    }

    const take = (quota: Quota): Effect.Effect<Standing> =>
      Effect.suspend(() => {
        const standing = tryTake(quota)
        if (standing !== undefined) return Effect.succeed(standing)
        const meter = meterOf(quota)
        meter.waiting++
        return Deferred.await(begin(quota, meter)).pipe(
          Effect.ensuring(
            Effect.sync(() => {
              meter.waiting--
            })
          ),
          Effect.zipRight(take(quota))
        )
      })

    const giveBack = (quotas: ReadonlyArray<Quota>) => {
      for (const quota of quotas) meterOf(quota).tokens++
    }

    const tryTakeAll = (quotas: ReadonlyArray<Quota>) => {
      let least: Standing | null = null
      for (const [index, quota] of quotas.entries()) {
        const standing = tryTake(quota)
        if (standing === undefined || !standing.isAllowed) {
          giveBack(quotas.slice(0, index))
          return standing
        }
        if (least === null || standing.remaining < least.remaining) least = standing
      }
      return least
    }

    const takeAllLater = Effect.fn("RateLimiter.takeAll")(function* (quotas: ReadonlyArray<Quota>) {
      let least: Standing | null = null
      for (const [index, quota] of quotas.entries()) {
        const standing: Standing = yield* take(quota)
        if (!standing.isAllowed) {
          giveBack(quotas.slice(0, index))
          return standing
        }
        if (least === null || standing.remaining < least.remaining) least = standing
      }
      return least
    })

    const takeAll = (quotas: ReadonlyArray<Quota>) =>
      Effect.suspend(() => {
        const standing = tryTakeAll(quotas)
        return standing === undefined ? takeAllLater(quotas) : Effect.succeed(standing)
      })

    yield* store.sweep(sweepBatch).pipe(
      Effect.repeat({ times: sweepsMax, while: (swept) => swept === sweepBatch }),
      Effect.catchAll((error) => Effect.logDebug(`Quotas were not swept: ${error.reason}`)),
      Effect.repeat(Schedule.spaced(sweepEvery)),
      Effect.delay(sweepEvery),
      Effect.forkScoped
    )

    return {
      tryTake,
      take,
      takeAll,
      tryTakeAll,
      spend: (quota) => {
        if (tryTake(quota) === undefined) run(take(quota))
      },
      usedUp: (quota) => {
        const meter = meters.get(quota.id)
        if (meter === undefined || meter.tokens > 0) return undefined
        const now = now_ms()
        return now < meter.emptyUntil && now >= meter.openUntil
          ? standingOf(quota, meter, false, now)
          : undefined
      },
      peek: (quotas) =>
        quotas.length === 0
          ? Effect.succeed([])
          : store.leaseMany(quotas.map((quota) => ({ ...quota, demand: 0 })))
    }
  }
)

/** See {@link make}. */
export const layer: Layer.Layer<RateLimiter, never, QuotaStore> = Layer.scoped(RateLimiter, make)
