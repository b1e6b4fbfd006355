import { expect, it } from "@effect/vitest"
import { Effect, Fiber, Schedule } from "effect"
import { describe } from "vitest"
import { briefly } from "../../../../src/storage/links/moves/BriefLock.ts"
import { inTransaction } from "../../../../src/storage/sql/SqlTransaction.ts"
import { sharedLogicalServer } from "../../../support/services/PostgresLogical.ts"
import { hasPrograms } from "../../../support/services/PostgresPair.ts"
import { databasesOn, fill, someKeys } from "./MovingDatabases.ts"

;(hasPrograms ? describe : describe.skip)("a short lock on a table", () => {
  const server = sharedLogicalServer()
  const database = Effect.map(
    Effect.flatMap(server, (one) => databasesOn([one], 1)),
    (all) => ({ all, sql: all.get(0)!.sql })
  )

  it.scopedLive(
    "is had although PostgreSQL's own vacuum of the table lasts",
    () =>
      Effect.gen(function* () {
        const { all, sql } = yield* database
        yield* fill(all, someKeys(5_000))
        // One page a tenth of a second: minutes for the table.
        yield* sql`ALTER TABLE links SET (autovacuum_vacuum_cost_delay = 100, autovacuum_vacuum_cost_limit = 1,
          autovacuum_vacuum_threshold = 1, autovacuum_vacuum_scale_factor = 0)`
        yield* sql`DELETE FROM links WHERE key < 'k1'`
        yield* sql`ALTER SYSTEM SET autovacuum_naptime = 1`
        yield* Effect.addFinalizer(() =>
          Effect.orDie(
            Effect.zipRight(sql`ALTER SYSTEM RESET autovacuum_naptime`, sql`SELECT pg_reload_conf()`)
          )
        )
        yield* sql`SELECT pg_reload_conf()`
        const vacuums = sql<{ pid: number }>`
          SELECT pid FROM pg_stat_progress_vacuum WHERE datname = current_database() AND relid = 'links'::regclass`
        yield* Effect.repeat(vacuums, {
          until: (rows) => rows.length > 0,
          schedule: Schedule.spaced("100 millis")
        })
        yield* briefly(sql, "links", sql`LOCK TABLE links IN ACCESS EXCLUSIVE MODE`, Schedule.recurs(1))
        expect(yield* vacuums).toEqual([])
      }),
    60_000
  )

  it.scopedLive("that is not had in the end names who holds one, and has done nothing", () =>
    Effect.gen(function* () {
      const { sql } = yield* database
      const hold = inTransaction(sql, Effect.zipRight(sql`SELECT count(*) AS held FROM links`, Effect.never))
      const holder = yield* Effect.fork(hold)
      yield* sql<{ held: boolean }>`
        SELECT EXISTS (SELECT FROM pg_locks WHERE relation = 'links'::regclass AND mode = 'AccessShareLock' AND pid <> pg_backend_pid()) AS held`.pipe(
        Effect.repeat({ until: ([row]) => row!.held })
      )
      const doing = sql`ALTER TABLE links RENAME TO lost`
      const failure = yield* Effect.flip(briefly(sql, "links", doing, Schedule.recurs(2)))
      expect(failure.message).toMatch(
        /^The table links is locked by .+ of PostgreSQL, since .+: SELECT count/
      )
      yield* Fiber.interrupt(holder)
      yield* briefly(sql, "links", sql`LOCK TABLE links IN ACCESS EXCLUSIVE MODE`)
    })
  )
})
