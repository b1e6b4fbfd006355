import { Singleton } from "@effect/cluster"
import type { Sharding } from "@effect/cluster/Sharding"
import { Clock, Duration, Effect, type Layer, Schedule } from "effect"
import { AuditLog } from "../storage/accounts/AuditLog.ts"
import * as TrustedTime from "../time/TrustedTime.ts"

/** Entries removed in one statement at most, and in one turn; what is left waits for the next one. */
const batchMax = 1_000
const batchesMax = 100

const pause = Duration.minutes(10)

/** One turn: deletes entries of the audit log that are older than `kept`. */
export const turn = (kept: Duration.Duration) =>
  Effect.gen(function* () {
    const log = yield* AuditLog
    const before = (yield* Clock.currentTimeMillis) - Duration.toMillis(kept)
    yield* Effect.repeat(log.forget(before, batchMax), {
      while: (forgotten) => forgotten === batchMax,
      times: batchesMax - 1
    })
  })

/** Has a turn every ten minutes, on one node of the cluster at a time. Concurrent sweeps do no harm. */
export const layer = (kept: Duration.Duration): Layer.Layer<never, never, Sharding | AuditLog> =>
  Singleton.make(
    "AuditSweep",
    TrustedTime.whenSettled(turn(kept)).pipe(
      Effect.catchTag("StorageError", (error) =>
        Effect.logWarning(`The audit log is swept later: ${error.operation}: ${error.reason}`)
      ),
      Effect.repeat(Schedule.spaced(pause)),
      Effect.asVoid
    )
  )
