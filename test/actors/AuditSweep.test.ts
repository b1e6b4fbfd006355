import { expect, it } from "@effect/vitest"
import { Duration, Effect, TestClock } from "effect"
import { turn } from "../../src/actors/AuditSweep.ts"
import { AuditLog } from "../../src/storage/accounts/AuditLog.ts"
import * as AuditLogMemory from "../../src/sim/stores/AuditLogMemory.ts"
import { eventOf } from "../storage/accounts/AuditLogLaws.ts"

it.effect(
  "The sweep of the audit log forgets all that is older than it is to be kept, and nothing else",
  () =>
    Effect.gen(function* () {
      const log = yield* AuditLog
      const day_ms = Duration.toMillis("1 day")
      // More than one batch, of many hours.
      for (let index = 0; index < 1_500; index++) yield* log.record(eventOf({ at: index * 300_000 }))
      yield* log.record(eventOf({ at: 10 * day_ms }))
      yield* TestClock.setTime(40 * day_ms)
      yield* turn(Duration.days(40))
      expect(yield* log.list({ limit: 2_000 })).toHaveLength(1_501)
      yield* turn(Duration.days(30))
      expect(yield* log.list({ limit: 2_000 })).toMatchObject([{ at: 10 * day_ms }])
    }).pipe(Effect.provide(AuditLogMemory.layer))
)
