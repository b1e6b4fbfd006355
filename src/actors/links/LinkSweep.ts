import { Singleton } from "@effect/cluster"
import type { Sharding } from "@effect/cluster/Sharding"
import { Duration, Effect, type Layer, Metric, Schedule } from "effect"
import * as Metered from "../../telemetry/Metered.ts"
import { GuardedCreates } from "../../storage/links/GuardedCreates.ts"
import { LinkLifetime } from "../../storage/links/LinkLifetime.ts"
import { VisitsApart } from "../../storage/visits/VisitRemovals.ts"
import { VisitStore } from "../../storage/visits/VisitStore.ts"
import * as TrustedTime from "../../time/TrustedTime.ts"
import { subjectOfLink } from "../../model/Visit.ts"

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

/** One batch after the other, until one is not full, or something speaks against the time. Several databases can give one each. */
const inBatches = <E>(batch: Effect.Effect<number, E>) =>
  Effect.flatMap(TrustedTime.TrustedTime, ({ isSettled }) =>
    Effect.repeat(
      Effect.suspend(() => (isSettled() ? batch : Effect.succeed(0))),
      { while: (done) => done >= batchMax, times: batchesMax - 1 }
    )
  )

const count = (metric: Metric.Metric.Counter<number>) => (done: ReadonlyArray<unknown>) =>
  Effect.as(Metric.incrementBy(metric, done.length), done.length)

/** One turn: ends what has expired, then frees what has been in quarantine for long enough, and forgets its visits; then what is known of old creates. */
export const turn = (quarantine: Duration.Duration) =>
  Effect.gen(function* () {
    const lifetime = yield* LinkLifetime
    const visits = yield* VisitStore
    const guarded = yield* GuardedCreates
    // Elsewhere they are forgotten when their database answers: `VisitRemovals`.
    const areForgotten = !(yield* VisitsApart)
    yield* inBatches(Effect.flatMap(lifetime.expireSome(batchMax), count(linksExpired)))
    yield* lifetime.recycle({ quarantine_ms: Duration.toMillis(quarantine), count: batchMax }).pipe(
      Effect.tap((freed) => (areForgotten ? visits.forget(freed.map(subjectOfLink)) : Effect.void)),
      Effect.flatMap(count(keysRecycled)),
      inBatches
    )
    yield* inBatches(guarded.drop(Duration.toMillis(guardsKept), batchMax))
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
