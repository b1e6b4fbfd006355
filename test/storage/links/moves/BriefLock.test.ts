import type { SqlClient } from "@effect/sql"
import { expect, it } from "@effect/vitest"
import { Effect, Fiber, Schedule } from "effect"
import { describe } from "vitest"
import { briefly } from "../../../../src/storage/links/moves/BriefLock.ts"
import { inTransaction } from "../../../../src/storage/sql/SqlTransaction.ts"
import { sharedLogicalServer } from "../../../support/services/postgres/PostgresLogical.ts"
import { hasPrograms } from "../../../support/services/postgres/PostgresPair.ts"
import { databasesOn, fill, someKeys } from "./MovingDatabases.ts"

/** Has the lock of a statement, for ever. */
const holding = (sql: SqlClient.SqlClient, statement: string) =>
  inTransaction(sql, Effect.zipRight(sql.unsafe(statement), Effect.never))

const untilHeld = (sql: SqlClient.SqlClient, mode = "AccessShareLock") =>
  sql<{ held: boolean }>`
    SELECT EXISTS (SELECT FROM pg_locks WHERE relation = 'links'::regclass AND mode = ${mode} AND pid <> pg_backend_pid()
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())) AS held`.pipe(
    Effect.repeat({ until: ([row]) => row!.held })
  )

;(hasPrograms ? describe : describe.skip)("a short lock on a table", () => {
  const server = sharedLogicalServer()
  const databases = Effect.flatMap(server, (one) => databasesOn(one, 2))

  it.scopedLive(
    "is had although PostgreSQL's own vacuum of the table lasts",
    () =>
      Effect.gen(function* () {
        const all = yield* databases
        const { sql } = all.get(0)!
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
        const [vacuum] = yield* Effect.repeat(Effect.delay(vacuums, "100 millis"), {
          until: (rows) => rows.length > 0
        })
        yield* briefly(sql, "links", sql`LOCK TABLE links IN ACCESS EXCLUSIVE MODE`, Schedule.recurs(1))
        // Another one may have begun since.
        expect((yield* vacuums).map(({ pid }) => pid)).not.toContain(vacuum!.pid)
      }),
    60_000
  )

  it.scopedLive("that is not had in the end names who holds one, and has done nothing", () =>
    Effect.gen(function* () {
      const all = yield* databases
      const { sql } = all.get(0)!
      // Tables of databases that are copies of one have the same number in both.
      const elsewhere = yield* Effect.fork(holding(all.get(1)!.sql, "SELECT 'another database' FROM links"))
      yield* untilHeld(all.get(1)!.sql)
      const holder = yield* Effect.fork(holding(sql, "SELECT count(*) FROM links"))
      yield* untilHeld(sql)
      const doing = sql`ALTER TABLE links RENAME TO lost`
      const failure = yield* Effect.flip(briefly(sql, "links", doing, Schedule.recurs(2)))
      expect(failure.message).toMatch(
        /^The table links is locked by .+ of PostgreSQL, since .+: SELECT count/
      )
      // That one has a lock for a shorter time, and it is the one that is in the way of what is asked for first.
      const upkeep = yield* Effect.fork(holding(sql, "LOCK TABLE links IN SHARE UPDATE EXCLUSIVE MODE"))
      yield* untilHeld(sql, "ShareUpdateExclusiveLock")
      const other = yield* Effect.flip(briefly(sql, "links", doing, Schedule.recurs(0)))
      expect(other.message).toContain(": LOCK TABLE links IN SHARE UPDATE")
      yield* Fiber.interruptAll([holder, elsewhere, upkeep])
      yield* briefly(sql, "links", sql`LOCK TABLE links IN ACCESS EXCLUSIVE MODE`)
    })
  )
})
