import { Singleton } from "@effect/cluster"
import type { Sharding } from "@effect/cluster/Sharding"
import { Duration, Effect, type Layer, Metric, Schedule } from "effect"
import * as Metered from "../../telemetry/Metered.ts"
import { GuardedCreates } from "../../storage/links/GuardedCreates.ts"
import { LinkLifetime } from "../../storage/links/LinkLifetime.ts"
import * as VisitRemovals from "../../storage/visits/VisitRemovals.ts"
import { VisitStore } from "../../storage/visits/VisitStore.ts"
import * as TrustedTime from "../../time/TrustedTime.ts"

/** Rows changed in one statement at most: some milliseconds of the database's time. */
const batchMax = 1_000

/** Batches of one turn at most; what is left waits for the next one. */
const batchesMax = 100

/** How long after a turn the next one comes, at most. */
const pauseMax = Duration.minutes(1)

/** How long what is known of creates that must not be repeated is kept: longer than anybody may repeat one. */
const guardsKept = Duration.days(2)

/** Links that became tombstones because they had expired. */
export const linksExpired = Metered.counter(
  "linkmint_links_expired_total",
  "Links that became tombstones because they had expired"
)

/** Keys whose tombstones were removed. */
export const keysRecycled = Metered.counter(
  "linkmint_keys_recycled_total",
  "Keys that were freed when their quarantine was over"
)

/** One batch of `size` after the other, until one is not full, or something speaks against the time. Several databases can give one each. */
const inBatches = <E>(batch: Effect.Effect<number, E>, size = batchMax) =>
  Effect.flatMap(TrustedTime.TrustedTime, ({ isSettled }) =>
    Effect.repeat(
      Effect.suspend(() => (isSettled() ? batch : Effect.succeed(0))),
      { while: (done) => done >= size, times: (batchesMax * batchMax) / size - 1 }
    )
  )

const count = (metric: Metric.Metric.Counter<number>) => (done: ReadonlyArray<unknown>) =>
  Effect.as(Metric.incrementBy(metric, done.length), done.length)

/** Has the visits forgotten of some links that were freed, in this turn or before: a turn can end between the two. */
const forgetSome = (lifetime: typeof LinkLifetime.Service, visits: typeof VisitStore.Service) =>
  Effect.gen(function* () {
    const subjects = yield* lifetime.toForget(VisitRemovals.removedAtOnce)
    if (subjects.length === 0) return 0
    yield* visits.forget(subjects)
    yield* lifetime.forgotten(subjects)
    return subjects.length
  })

/** One turn: ends what has expired, then frees what has been in quarantine for long enough; then forgets what is known of old creates, and the visits of links that were freed. */
export const turn = (quarantine: Duration.Duration) =>
  Effect.gen(function* () {
    const lifetime = yield* LinkLifetime
    const visits = yield* VisitStore
    const guarded = yield* GuardedCreates
    yield* inBatches(Effect.flatMap(lifetime.expireSome(batchMax), count(linksExpired)))
    yield* lifetime
      .recycle({ quarantine_ms: Duration.toMillis(quarantine), count: batchMax })
      .pipe(Effect.flatMap(count(keysRecycled)), inBatches)
    yield* inBatches(guarded.drop(Duration.toMillis(guardsKept), batchMax))
    // Elsewhere they are forgotten when their database answers: `VisitDatabases`.
    if (yield* VisitRemovals.VisitsApart) return
    yield* inBatches(forgetSome(lifetime, visits), VisitRemovals.removedAtOnce)
  })

/**
 * The sweep: on one node of the cluster at a time, it makes tombstones of links that have expired, and frees keys whose `quarantine` is over. Two that
 * sweep at once do no harm. While something speaks against the time it leaves all as it is. It looks every minute, or more often where the quarantine is shorter than some minutes.
 */
export const layer = (
  quarantine: Duration.Duration
): Layer.Layer<never, never, Sharding | GuardedCreates | LinkLifetime | VisitStore> => {
  const pause = Duration.min(pauseMax, Duration.times(quarantine, 0.25))
  return Singleton.make(
    "LinkSweep",
    TrustedTime.whenSettled(turn(quarantine)).pipe(
      Effect.catchTag("StorageError", (error) =>
        Effect.logWarning(`The sweep of ended links goes on later: ${error.operation}: ${error.reason}`)
      ),
      Effect.repeat(Schedule.spaced(pause)),
      Effect.asVoid
    )
  )
}
