import { expect, it } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import * as DatabasePresence from "../../../src/storage/sql/postgres/DatabasePresence.ts"
import * as DatabaseServers from "../../../src/storage/sql/postgres/DatabaseServers.ts"
import { VisitStore } from "../../../src/storage/visits/VisitStore.ts"
import * as VisitStoreSql from "../../../src/storage/visits/VisitStoreSql.ts"
import { describePostgres } from "../../support/services/postgres/Postgres.ts"
import { migratedDatabase, postgresAt } from "../../support/Stores.ts"

describePostgres("the upkeep of visits on PostgreSQL", () => {
  for (const presence of ["cluster", "alone"] as const) {
    it.scopedLive(`goes on while nodes hold their place at the database (${presence})`, () =>
      Effect.gen(function* () {
        const url = yield* migratedDatabase
        yield* Effect.provide(DatabasePresence.make(presence), DatabaseServers.layer(Redacted.make(url)))
        const store = Context.get(
          yield* Layer.build(Layer.provide(VisitStoreSql.layer, postgresAt(url))),
          VisitStore
        )
        const hours = [{ subject: "key@1", hour: 24, nonBots: 1, bots: 0, values: [] }]
        yield* store.write({ writer: "node", sequence: 1, at: 30 * 3_600_000, hours })
        expect(yield* store.rollUp(48, 100)).toBe(true)
      })
    )
  }
})
