import { SqlClient } from "@effect/sql"
import { expect, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { hour_ms } from "../../../src/model/Visit.ts"
import { type VisitBatch, VisitStore } from "../../../src/storage/visits/VisitStore.ts"
import * as VisitStoreSql from "../../../src/storage/visits/VisitStoreSql.ts"
import { describePostgres } from "../../support/services/postgres/Postgres.ts"
import { migratedDatabase, postgresAt } from "../../support/Stores.ts"

const day = 20_000 * 24

const batchOf = (sequence: number): VisitBatch => ({
  writer: "w",
  sequence,
  at: (day + 40) * hour_ms,
  hours: [{ subject: "a@0", hour: day, nonBots: 1, bots: 0, values: [] }]
})

describePostgres("a batch of visits, on PostgreSQL", () => {
  it.scopedLive("is counted when it comes again after its counts could not be written", () =>
    Effect.gen(function* () {
      const database = yield* migratedDatabase
      const context = yield* Layer.build(
        Layer.provideMerge(VisitStoreSql.layer, Layer.fresh(postgresAt(database)))
      )
      yield* Effect.gen(function* () {
        const [sql, { totals, write }] = [yield* SqlClient.SqlClient, yield* VisitStore]
        yield* sql`ALTER TABLE visit_periods RENAME TO periods_elsewhere`
        expect(yield* Effect.flip(write(batchOf(1)))).toMatchObject({ _tag: "StorageError" })
        yield* sql`ALTER TABLE periods_elsewhere RENAME TO visit_periods`
        yield* write(batchOf(1))
        expect(yield* totals(["a@0"])).toEqual([{ nonBots: 1, bots: 0 }])
      }).pipe(Effect.provide(context))
    })
  )
})

describePostgres("visits of a day that is over, on PostgreSQL", () => {
  it.scopedLive("are counted where the day is rolled up while they are written", () =>
    Effect.gen(function* () {
      const database = yield* migratedDatabase
      const build = Layer.build(Layer.provideMerge(VisitStoreSql.layer, Layer.fresh(postgresAt(database))))
      const [one, other] = [yield* build, yield* build]
      const [written, mayCommit] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const { rollUp, totals, write } = yield* Effect.provide(VisitStore, other)
      const waiting = Effect.flatMap(
        SqlClient.SqlClient,
        (sql) => sql<{ count: number }>`SELECT count(*)::int AS count FROM pg_stat_activity
          WHERE datname = current_database() AND wait_event_type = 'Lock'`
      ).pipe(Effect.repeat({ until: ([row]) => row!.count > 0 }), Effect.provide(other))
      yield* write(batchOf(1))
      const late = yield* Effect.gen(function* () {
        const [sql, store] = [yield* SqlClient.SqlClient, yield* VisitStore]
        yield* sql.withTransaction(
          store
            .write(batchOf(2))
            .pipe(
              Effect.zipRight(Deferred.succeed(written, undefined)),
              Effect.zipRight(Deferred.await(mayCommit))
            )
        )
      }).pipe(Effect.provide(one), Effect.fork)
      yield* Deferred.await(written)
      const rolling = yield* Effect.fork(Effect.repeat(rollUp(day + 24, 10), { until: (more) => !more }))
      // Where it does not wait it is over, without the second batch.
      yield* Effect.race(waiting, Fiber.await(rolling))
      yield* Deferred.succeed(mayCommit, undefined)
      yield* Fiber.join(late)
      yield* Fiber.join(rolling)
      expect(yield* totals(["a@0"])).toEqual([{ nonBots: 2, bots: 0 }])
    })
  )
})
