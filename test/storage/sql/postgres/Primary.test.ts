import { it } from "@effect/vitest"
import { SqlClient } from "@effect/sql"
import { Context, Deferred, Duration, Effect, Fiber, Layer, Redacted, Schedule } from "effect"
import { expect } from "vitest"
import { monotonicNow_ms } from "../../../../src/time/MonotonicTime.ts"
import { inTransaction } from "../../../../src/storage/sql/SqlTransaction.ts"
import * as DatabasePresence from "../../../../src/storage/sql/postgres/DatabasePresence.ts"
import * as DatabaseServers from "../../../../src/storage/sql/postgres/DatabaseServers.ts"
import * as PostgresClient from "../../../../src/storage/sql/postgres/PostgresClient.ts"
import { describePostgres, freshDatabase } from "../../../support/services/postgres/Postgres.ts"
import { postgresAt } from "../../../support/Stores.ts"
import { hasPrograms, postgresPair } from "../../../support/services/postgres/PostgresPair.ts"

const eventually = <A, E>(effect: Effect.Effect<A, E>) =>
  Effect.retry(effect, Schedule.spaced("50 millis")).pipe(Effect.timeout("25 seconds"), Effect.orDie)

/** The servers at `url`, and a client of the primary among them. */
const clientOf = (url: string, servers = DatabaseServers.layer(Redacted.make(url))) =>
  Layer.build(Layer.provideMerge(PostgresClient.layer, servers)).pipe(
    Effect.map((context) => ({
      sql: Context.get(context, SqlClient.SqlClient),
      servers: Context.get(context, DatabaseServers.DatabaseServers)
    }))
  )

const backends = (sql: SqlClient.SqlClient) =>
  Effect.map(
    sql<{ count: string }>`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()`,
    ([row]) => Number(row!.count)
  )

describePostgres("a session", () => {
  it.scopedLive(
    "that stands still inside a transaction is ended by the server, and others fail for no longer than that and hold no more connections than they may",
    () =>
      Effect.gen(function* () {
        const url = yield* freshDatabase
        const { sql: frozen } = yield* clientOf(url)
        const { sql: healthy } = yield* clientOf(url)
        yield* frozen`CREATE TABLE shards (id int PRIMARY KEY, epoch int)`
        yield* frozen`INSERT INTO shards VALUES (1, 0)`
        const isHeld = yield* Deferred.make<void>()
        const stopped = yield* Effect.fork(
          inTransaction(
            frozen,
            frozen`SELECT epoch FROM shards FOR UPDATE`.pipe(
              Effect.zipRight(Deferred.succeed(isHeld, undefined)),
              Effect.zipRight(Effect.never)
            )
          )
        )
        yield* Deferred.await(isHeld)
        const most = { backends: 0 }
        const looking = yield* Effect.fork(
          Effect.forever(
            Effect.tap(backends(frozen), (now) => {
              most.backends = Math.max(most.backends, now)
              return Effect.sleep("20 millis")
            })
          )
        )
        // Sixty callers that all want the row, as the creates of a busy node.
        yield* Effect.forEach(
          Array(60).keys(),
          () => eventually(inTransaction(healthy, healthy`UPDATE shards SET epoch = epoch + 1`)),
          { concurrency: "unbounded" }
        )
        yield* Fiber.interrupt(looking)
        const rows = yield* healthy<{ epoch: number }>`SELECT epoch FROM shards`
        expect(rows).toEqual([{ epoch: 60 }])
        // 20 of the healthy pool, and those of the frozen one: two.
        expect(most.backends).toBeLessThanOrEqual(42)
        yield* Fiber.interrupt(stopped)
      }),
    40_000
  )

  it.scopedLive("is given no lock later than it is waited for, and the statement was not applied", () =>
    Effect.gen(function* () {
      const { sql } = yield* clientOf(yield* freshDatabase)
      const [row] = yield* sql`SELECT current_setting('statement_timeout') AS statement,
        current_setting('lock_timeout') AS lock, current_setting('idle_in_transaction_session_timeout') AS idle,
        current_setting('client_connection_check_interval') AS checked, current_setting('tcp_user_timeout') AS tcp`
      expect(row).toEqual({ statement: "3500ms", lock: "2500ms", idle: "3s", checked: "1s", tcp: "15000" })
    })
  )

  it.scopedLive("that became read-only is dropped with all that are pooled, and the next one works", () =>
    Effect.gen(function* () {
      const { servers, sql } = yield* clientOf(yield* freshDatabase)
      yield* sql`CREATE TABLE t (id int)`
      // Twenty pooled connections that a switchover made read-only, as a standby's are.
      const generation = servers.generation()
      yield* Effect.forEach(
        Array(20).keys(),
        () =>
          inTransaction(
            sql,
            Effect.zipRight(
              sql`SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY`,
              Effect.sleep(Duration.millis(50))
            )
          ),
        { concurrency: "unbounded" }
      )
      const failed = yield* Effect.flip(sql`INSERT INTO t VALUES (1)`)
      expect(failed.cause).toMatchObject({ code: "25006" })
      expect(servers.generation()).toBe(generation + 1)
      yield* Effect.forEach(Array(40).keys(), () => sql`INSERT INTO t VALUES (2)`)
      expect(yield* sql`SELECT id FROM t GROUP BY id`).toEqual([{ id: 2 }])
    })
  )

  it.scopedLive("of a server that takes no writes is refused, with the reason", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase
      const { sql } = yield* clientOf(url)
      yield* sql.unsafe(
        `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET default_transaction_read_only = on`
      )
      const error = yield* Effect.flip(Effect.scoped(clientOf(url)))
      expect(error.cause).toMatchObject({ name: "NotPrimary", message: "the server is read-only" })
    })
  )
})

const present = (url: string, presence: "alone" | "cluster") =>
  DatabasePresence.make(presence).pipe(Effect.provide(DatabaseServers.layer(Redacted.make(url))))

describePostgres("presence at a database", () => {
  it.scopedLive("is taken again when its session was ended, and keeps others out as before", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase
      const { sql } = yield* clientOf(url)
      yield* present(url, "alone")
      const ended = yield* sql<{ pid: number }>`SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name = 'linkmint-presence' AND datname = current_database()`
      expect(ended).toHaveLength(1)
      yield* Effect.repeat(
        sql`SELECT DISTINCT pid FROM pg_locks JOIN pg_stat_activity USING (pid)
          WHERE locktype = 'advisory' AND application_name = 'linkmint-presence' AND datname = current_database()
            AND pid <> ${ended[0]!.pid}`,
        { until: (rows) => rows.length === 1, schedule: Schedule.spaced("20 millis") }
      )
      const other = yield* Effect.flip(Effect.scoped(present(url, "cluster")))
      expect(other).toMatchObject({ _tag: "DatabaseInUse" })
    })
  )

  it.scopedLive.each(["alone", "cluster"] as const)(
    "is held until the next heartbeat, and not for much longer (%s)",
    (kind) =>
      Effect.gen(function* () {
        const layer = DatabaseServers.layer(Redacted.make(yield* freshDatabase))
        const context = yield* Layer.build(Layer.provideMerge(DatabasePresence.layer(kind), layer))
        const { isHeld } = Context.get(context, DatabasePresence.DatabasePresence)
        const clock = yield* Effect.clock
        yield* Effect.repeat(
          Effect.sync(() => isHeld(monotonicNow_ms(clock))),
          { until: (held) => held, schedule: Schedule.spaced("1 millis") }
        )
        const now = monotonicNow_ms(clock)
        expect([800, 3_000].map((later_ms) => isHeld(now + later_ms))).toEqual([true, false])
      })
  )

  it.scopedLive("is not held, and lets no new connection work, while another process has it", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase
      const layer = DatabaseServers.layer(Redacted.make(url))
      const context = yield* Layer.build(Layer.provideMerge(DatabasePresence.layer("alone"), layer))
      const servers = Context.get(context, DatabaseServers.DatabaseServers)
      const { sql } = yield* clientOf(url, Layer.succeed(DatabaseServers.DatabaseServers, servers))
      // One that is ended for its silence only after most of a minute.
      const administrator = Context.get(yield* Layer.build(postgresAt(url)), SqlClient.SqlClient)
      // Somebody else waits for the lock, and has it the moment that it is free.
      const thief = yield* Effect.fork(
        inTransaction(
          administrator,
          Effect.zipRight(administrator`SELECT pg_advisory_lock(5012704418)`, Effect.never)
        )
      )
      yield* Effect.repeat(
        administrator`SELECT 1 FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database
          WHERE locktype = 'advisory' AND NOT granted AND datname = current_database()`,
        {
          until: (rows) => rows.length === 1,
          schedule: Schedule.spaced("10 millis")
        }
      )
      yield* administrator`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name IN ('linkmint-presence') AND datname = current_database()`
      yield* Effect.repeat(Effect.sync(servers.isOpen), {
        while: (isOpen) => isOpen,
        schedule: Schedule.spaced("10 millis")
      })
      servers.dropAll()
      const refused = yield* Effect.flip(sql`SELECT 1`)
      expect(String(refused.cause)).toContain("has no place at the database")
      yield* Fiber.interrupt(thief)
    })
  )
})

if (hasPrograms) {
  // Each waits for servers of its own.
  const tests = () => {
    it.scopedLive(
      "is left for the standby that was promoted, by all connections and locks, and stays out when it comes back",
      () =>
        Effect.gen(function* () {
          const pair = yield* postgresPair
          // The standby first: a list says nothing of who is who.
          const list = `postgresql://${new URL(pair.primary.url).username}:${new URL(pair.primary.url).password}@127.0.0.1:${pair.standby.port},127.0.0.1:${pair.primary.port}/postgres`
          const layer = DatabaseServers.layer(Redacted.make(list))
          const context = yield* Layer.build(Layer.provideMerge(DatabasePresence.layer("alone"), layer))
          const servers = Context.get(context, DatabaseServers.DatabaseServers)
          const { sql } = yield* clientOf(list, Layer.succeed(DatabaseServers.DatabaseServers, servers))
          const portOf = Effect.map(
            sql<{ port: number }>`SELECT inet_server_port() AS port`,
            ([row]) => row!.port
          )
          expect(yield* portOf).toBe(pair.primary.port)

          yield* pair.primary.kill
          yield* pair.promote
          expect(yield* eventually(portOf)).toBe(pair.standby.port)
          yield* sql`CREATE TABLE kept (id int)`
          yield* Effect.repeat(
            sql`SELECT DISTINCT pid FROM pg_locks JOIN pg_stat_activity USING (pid)
              WHERE locktype = 'advisory' AND application_name = 'linkmint-presence'`,
            { until: (rows) => rows.length === 1, schedule: Schedule.spaced("20 millis") }
          )

          // Two primaries: the old one comes back as what it was.
          yield* pair.primary.restart
          servers.passOver(servers.current())
          servers.dropAll()
          expect(yield* eventually(portOf)).toBe(pair.standby.port)
          expect(yield* Effect.forEach(Array(10).keys(), () => portOf, { concurrency: 10 })).toEqual(
            Array(10).fill(pair.standby.port)
          )
        }),
      60_000
    )

    it.scopedLive(
      "does not acknowledge what no synchronous standby has",
      () =>
        Effect.gen(function* () {
          const pair = yield* postgresPair
          const { sql } = yield* clientOf(pair.primary.url)
          yield* sql`CREATE TABLE t (id int)`
          yield* pair.primary.run("ALTER SYSTEM SET synchronous_standby_names = '*'")
          yield* pair.primary.run("SELECT pg_reload_conf()")
          yield* sql`INSERT INTO t VALUES (1)`
          yield* pair.standby.kill
          const waiting = "FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
          const until = (count: number) =>
            Effect.repeat(pair.primary.run(`SELECT pid ${waiting}`), {
              until: (rows) => rows.length === count,
              schedule: Schedule.spaced("50 millis")
            })
          // Somebody ends the wait, and PostgreSQL says that the transaction is committed, with a warning.
          const cancelled = yield* Effect.fork(Effect.flip(inTransaction(sql, sql`INSERT INTO t VALUES (2)`)))
          yield* until(1)
          yield* pair.primary.run(`SELECT pg_cancel_backend(pid) ${waiting}`)
          expect((yield* Fiber.join(cancelled)).cause).toMatchObject({ name: "Unreplicated" })
          // Nobody ends it: we give it up, and the server does not go on waiting for us.
          const failed = yield* Effect.flip(inTransaction(sql, sql`INSERT INTO t VALUES (3)`))
          expect(failed.cause).toMatchObject({ message: "Query read timeout" })
          yield* until(0)
        }),
      60_000
    )
  }
  describePostgres("a primary that is killed", tests, { concurrent: true })
}
