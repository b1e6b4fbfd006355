import { SqlClient } from "@effect/sql"
import { PgClient } from "@effect/sql-pg"
import { expect, it } from "@effect/vitest"
import { Context, Effect, Layer, Option, Redacted } from "effect"
import * as Wire from "../../chaos/Wire.ts"
import { describePostgres, freshDatabase } from "../services/Postgres.ts"

/** A way to a new database, and a client at its end. */
const wired = Effect.gen(function* () {
  const url = new URL(yield* freshDatabase)
  const wires = yield* Wire.make([Number(url.port)])
  url.hostname = "127.0.0.1"
  url.port = String(wires.ports[0])
  const context = yield* Layer.build(PgClient.layer({ url: Redacted.make(url.href), maxConnections: 1 }))
  return { wires, sql: Context.get(context, SqlClient.SqlClient) }
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
