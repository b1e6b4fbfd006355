import { expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { AccountStore } from "../../../src/storage/accounts/AccountStore.ts"
import * as AccountStoreSql from "../../../src/storage/accounts/AccountStoreSql.ts"
import { AuditLog } from "../../../src/storage/accounts/AuditLog.ts"
import * as AuditLogMemory from "../../../src/sim/stores/AuditLogMemory.ts"
import * as AuditLogSql from "../../../src/storage/accounts/AuditLogSql.ts"
import { auditLogLaws, eventOf } from "./AuditLogLaws.ts"
import { onEveryBackend, onEveryDatabase } from "../../support/Stores.ts"
import { userOf } from "../../support/samples/SomeWebhooks.ts"

onEveryBackend(AuditLog, { memory: AuditLogMemory.layer, sql: AuditLogSql.layer }, (open) =>
  auditLogLaws("AuditLog", open)
)

onEveryDatabase((client) => {
  const stores = Layer.merge(AccountStoreSql.layer, AuditLogSql.layer).pipe(Layer.provideMerge(client))

  it.scopedLive(
    "An act of the same database is not there without its record, nor the record without it",
    () =>
      Effect.gen(function* () {
        const accounts = yield* AccountStore
        const log = yield* AuditLog
        const adding = (id: string) => accounts.addUser(userOf(id))

        const unrecorded = yield* Effect.exit(
          log.recording(adding("usr_a"), () => [eventOf({ at: Number.NaN })])
        )
        expect(unrecorded._tag).toBe("Failure")
        expect(yield* accounts.userById("usr_a")).toBeNull()

        const undone = log.recording(Effect.zipRight(adding("usr_b"), Effect.fail("no")), () => [eventOf()])
        expect(yield* Effect.flip(undone)).toBe("no")
        expect(yield* accounts.userById("usr_b")).toBeNull()
        expect(yield* log.list({ limit: 10 })).toEqual([])

        expect(yield* log.recording(adding("usr_c"), (added) => (added ? [eventOf()] : []))).toBe(true)
        expect(yield* log.recording(adding("usr_c"), (added) => (added ? [eventOf()] : []))).toBe(false)
        expect(yield* log.list({ limit: 10 })).toMatchObject([{ count: 1 }])
      }).pipe(Effect.provide(stores))
  )
})
