import { SqlClient } from "@effect/sql"
import { PgClient } from "@effect/sql-pg"
import { expect, it } from "@effect/vitest"
import { Context, Effect, Layer, Option, Redacted } from "effect"
import * as Wire from "../../chaos/Wire.ts"
import { describePostgres, freshDatabase } from "../support/services/postgres/Postgres.ts"

const clientOf = (url: URL) =>
  Effect.map(Layer.build(PgClient.layer({ url: Redacted.make(url.href), maxConnections: 1 })), (context) =>
    Context.get(context, SqlClient.SqlClient)
  )

/** A way to a new database, and a client at its end; and one that goes past it. */
const wired = Effect.gen(function* () {
  const url = new URL(yield* freshDatabase)
  const past = yield* clientOf(url)
  const wires = yield* Wire.make([Number(url.port)])
  url.hostname = "127.0.0.1"
  url.port = String(wires.ports[0])
  return { wires, past, sql: yield* clientOf(url) }
})

describePostgres("a node's way to PostgreSQL", () => {
  it.scopedLive(
    "catches a statement once the server has carried it out, and says whether that is in a transaction",
    () =>
      Effect.gen(function* () {
        const { sql, wires } = yield* wired
        const seen: Array<Wire.Caught> = []
        wires.catchNext(/AS wanted/, (caught) => seen.push(caught))
        yield* sql`SELECT 1 AS other`
        expect(seen).toEqual([])
        yield* sql.withTransaction(Effect.zipRight(sql`SELECT ${1}::int AS wanted`, sql`SELECT 2 AS wanted`))
        expect(seen).toMatchObject([{ statement: "SELECT $1::int AS wanted", inTransaction: true }])
        expect(wires.has(seen[0]!.port)).toBe(true)
        wires.catchNext(/AS wanted/, (caught) => seen.push(caught))
        yield* sql`SELECT 3 AS wanted`
        expect(seen[1]).toMatchObject({ statement: "SELECT 3 AS wanted", inTransaction: false })
      })
  )

  it.scopedLive("catches nothing more once it is told not to, though the statement has passed", () =>
    Effect.gen(function* () {
      const { past, sql, wires } = yield* wired
      yield* sql`CREATE TABLE arrived (way TEXT)`
      const seen: Array<Wire.Caught> = []
      wires.catchNext(/INSERT INTO arrived/, (caught) => seen.push(caught))
      wires.cut(["answers"])
      const asked = yield* Effect.fork(sql`INSERT INTO arrived VALUES ('answers')`)
      yield* Effect.repeat(past`SELECT way FROM arrived`, { until: (rows) => rows.length > 0 })
      wires.catchNext(null)
      wires.mend()
      yield* asked.await
      expect(seen).toEqual([])
    })
  )

  it.scopedLive("holds what goes the ways that are cut, and lets it through when it is mended", () =>
    Effect.gen(function* () {
      const { sql, wires } = yield* wired
      yield* sql`CREATE TABLE arrived (way TEXT)`
      for (const way of ["requests", "answers"] as const) {
        wires.cut([way])
        const asked = yield* Effect.fork(sql`INSERT INTO arrived VALUES (${way}) RETURNING way`)
        expect(Option.isNone(yield* Effect.timeoutOption(asked.await, "50 millis"))).toBe(true)
        wires.mend()
        yield* asked.await
      }
      expect(yield* sql`SELECT way FROM arrived`).toEqual([{ way: "requests" }, { way: "answers" }])
    })
  )
})
