import { SqlClient } from "@effect/sql"
import { it } from "@effect/vitest"
import { Deferred, Duration, Effect, Exit, Layer } from "effect"
import { expect } from "vitest"
import { direct, together } from "../../../src/storage/sql/DirectSql.ts"
import { prepared } from "../../../src/storage/sql/SqlDialect.ts"
import { describePostgres, freshDatabase } from "../../support/services/postgres/Postgres.ts"
import { emptyDatabases, postgresAt } from "../../support/Stores.ts"

/** What a statement gave to a call, without a fiber of its own. */
const called = (sql: SqlClient.SqlClient, text: string, values: ReadonlyArray<unknown> = []) =>
  Effect.async<Exit.Exit<ReadonlyArray<ReadonlyArray<unknown>>, unknown>>((resume) =>
    direct(sql, "Port.operation", [text, values]).run((exit) => resume(Effect.succeed(exit)))
  )

const failureOf = (sql: SqlClient.SqlClient, text: string) => Effect.flip(Effect.flatten(called(sql, text)))

emptyDatabases((client) => {
  it.scopedLive("a statement without a fiber gives its rows' values, beside those with one", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const names = ["a", `"b\\`, "c d", ""]
      const [text] = sql`${prepared(sql)}SELECT ${"name"} AS name, ${null} AS missing`.compile()
      for (const name of names) {
        const exit = yield* called(sql, text, [name, null])
        expect(yield* exit).toEqual([[name, null]])
      }
      expect(yield* sql`SELECT 1 AS one`).toEqual([{ one: 1 }])
      expect(yield* direct(sql, "Port.operation", [text, ["as an effect", null]])).toEqual([
        ["as an effect", null]
      ])
      const many = yield* Effect.forEach(
        names.concat(names, names),
        (name) => called(sql, text, [name, null]),
        {
          concurrency: "unbounded"
        }
      )
      expect(yield* Effect.all(many)).toEqual([...names, ...names, ...names].map((name) => [[name, null]]))
    }).pipe(Effect.provide(client))
  )

  it.scopedLive("a statement without a fiber that the database refuses has done nothing", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const failure = { _tag: "StorageError", operation: "Port.operation", applied: "no" }
      expect(yield* failureOf(sql, "SELECT nothing FROM nowhere")).toMatchObject(failure)
      expect(yield* failureOf(sql, "DELETE FROM nowhere")).toMatchObject(failure)
      expect(yield* sql`SELECT 1 AS one`).toEqual([{ one: 1 }])
    }).pipe(Effect.provide(client))
  )
})

emptyDatabases((client) => {
  it.scopedLive("statements of a turn are answered each for itself, and share their fate on PostgreSQL", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const ask = (text: string, values: ReadonlyArray<unknown> = []) =>
        Effect.exit(together(sql, `Port.${values.join()}`, [text, values]))
      const [text] = sql`${prepared(sql)}SELECT ${"name"} AS name UNION ALL SELECT 'and'`.compile()
      const other = `${text} UNION ALL SELECT 'another'`
      const gives = (...names: ReadonlyArray<string>) => Exit.succeed(names.map((name) => [name]))
      const turn = (...asked: ReadonlyArray<ReturnType<typeof ask>>) =>
        Effect.all(asked, { concurrency: "unbounded" })
      const broken = ask("SELECT nothing FROM nowhere", ["broken"])
      const isPostgres = sql.onDialectOrElse({ pg: () => true, orElse: () => false })
      // The first time all are prepared, but not those behind one that fails.
      const failing = yield* turn(ask(text, ["a"]), broken, ask(other, ["b"]))
      expect(failing.map(Exit.isSuccess)).toEqual(isPostgres ? [false, false, false] : [true, false, true])
      expect(failing[1]).toMatchObject({ cause: { error: { operation: "Port.broken", applied: "no" } } })
      for (const name of ["c", "d"]) {
        expect(yield* turn(ask(text, [name]), ask(other, [name]), ask(text, ["e"]))).toEqual([
          gives(name, "and"),
          gives(name, "and", "another"),
          gives("e", "and")
        ])
      }
      expect(yield* ask(other, ["alone"])).toEqual(gives("alone", "and", "another"))
    }).pipe(Effect.provide(client))
  )
})

describePostgres("statements of a turn", () => {
  it.scopedLive("are one transaction on one connection, more than 16 of them several", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const asked = Array.from({ length: 20 }, () =>
        together(sql, "Port.operation", ["SELECT pg_current_xact_id()", []])
      )
      const ids = (yield* Effect.all(asked, { concurrency: "unbounded" })).map(([row]) => row![0])
      expect(new Set(ids.slice(0, 16)).size).toBe(1)
      expect(new Set(ids.slice(16)).size).toBe(1)
      expect(new Set(ids).size).toBe(2)
    }).pipe(Effect.provide(Layer.unwrapScoped(Effect.map(freshDatabase, (url) => postgresAt(url)))))
  )
})

describePostgres("a statement without a fiber on PostgreSQL", () => {
  const single = (options: { readonly answerTimeout?: Duration.Duration } = {}) =>
    Layer.unwrapScoped(Effect.map(freshDatabase, (url) => postgresAt(url, { maxConnections: 1, ...options })))

  it.scopedLive("has lists as arrays", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const names = ["a", `"b\\`, "c,{d}", "", null]
      const exit = yield* called(sql, "SELECT unnest($1::text[]), unnest($2::bigint[])", [
        names,
        [1, 2, 3, 4, 5]
      ])
      expect(yield* exit).toEqual(names.map((name, index) => [name, String(index + 1)]))
    }).pipe(Effect.provide(single()))
  )

  it.scopedLive("whose connection breaks may have been applied, and the next has another one", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      expect(yield* failureOf(sql, "SELECT pg_terminate_backend(pg_backend_pid())")).toMatchObject({
        applied: "unknown"
      })
      expect(yield* sql`SELECT 1 AS one`).toEqual([{ one: 1 }])
    }).pipe(Effect.provide(single()))
  )

  it.scopedLive(
    "that is not answered in time may have been applied, and the next has another connection",
    () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        // Else the server would end the statement a little sooner.
        yield* sql`SELECT set_config('statement_timeout', '0', false)`
        const before = yield* sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`
        expect(yield* failureOf(sql, "SELECT pg_sleep(60)")).toMatchObject({ applied: "unknown" })
        const after = yield* sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`
        expect(after).not.toEqual(before)
      }).pipe(Effect.provide(single({ answerTimeout: Duration.millis(500) })))
  )

  it.scopedLive("for which no connection can be had has done nothing", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const isHeld = yield* Deferred.make<void>()
      yield* Effect.forkScoped(
        sql.withTransaction(Effect.zipRight(Deferred.succeed(isHeld, undefined), Effect.never))
      )
      yield* Deferred.await(isHeld)
      expect(yield* failureOf(sql, "SELECT 1")).toMatchObject({ applied: "no" })
    }).pipe(
      Effect.provide(
        Layer.unwrapScoped(
          Effect.map(freshDatabase, (url) =>
            postgresAt(url, { maxConnections: 1, connectTimeout: Duration.seconds(1) })
          )
        )
      )
    )
  )
})
