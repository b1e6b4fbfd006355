import { it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { expect } from "vitest"
import { QuotaStore } from "../../../src/storage/accounts/QuotaStore.ts"
import * as QuotaStoreMemory from "../../../src/sim/stores/QuotaStoreMemory.ts"
import * as QuotaStoreSql from "../../../src/storage/accounts/QuotaStoreSql.ts"
import { describePostgres } from "../../support/services/postgres/Postgres.ts"
import { quotaStoreLaws } from "./QuotaStoreLaws.ts"
import { migratedDatabase, onEveryBackend, postgresAt } from "../../support/Stores.ts"

onEveryBackend(QuotaStore, { memory: QuotaStoreMemory.layer, sql: QuotaStoreSql.layer }, (open) =>
  quotaStoreLaws("QuotaStore", open)
)

describePostgres("QuotaStore by PostgreSQL's clock", () => {
  it.scoped("does not heed the nodes' clocks", () =>
    Effect.gen(function* () {
      // The test's own clock stands still in 1970.
      const database = postgresAt(yield* migratedDatabase)
      const context = yield* Layer.build(Layer.provide(QuotaStoreSql.layerDatabaseClock, database))
      const store = Context.get(context, QuotaStore)
      const lease = Effect.map(
        store.leaseMany([{ id: "m", limit: 60_000, period: "minute", demand: 60_000 }]),
        ([lease]) => lease!
      )
      expect(yield* lease).toMatchObject({ granted: 60_000 })
      const more = yield* Effect.repeat(lease, { until: ({ granted }) => granted > 0 })
      expect(more.granted).toBeLessThan(60_000)
      expect(yield* store.sweep(10)).toBe(0)
    })
  )
})
