import { SqlClient } from "@effect/sql"
import { expect, it } from "@effect/vitest"
import { Context, Effect, Fiber, Layer } from "effect"
import { describe } from "vitest"
import { isInForce, layer, LinkEpoch } from "../../../src/storage/links/buckets/LinkEpoch.ts"
import { inTransaction } from "../../../src/storage/sql/SqlTransaction.ts"
import { describePostgres } from "../../support/services/postgres/Postgres.ts"
import { migratedDatabase, onEveryDatabase, postgresAt } from "../../support/Stores.ts"

/** Writes a link for a node that knows an epoch: gives whether it was written. */
const write = (sql: SqlClient.SqlClient, key: string, epoch: number) => {
  const no = sql.onDialectOrElse({ orElse: () => sql.literal("0"), pg: () => sql.literal("false") })
  return Effect.map(
    sql`INSERT INTO links (key, url, custom, created_at, updated_at)
        SELECT ${key}, 'https://example.com', ${no}, 1, 1 WHERE ${isInForce(sql, epoch)} RETURNING key`,
    (rows) => rows.length === 1
  )
}

onEveryDatabase((client) => {
  describe("the epoch of a database of links", () => {
    it.live("rises and never falls", () =>
      Effect.gen(function* () {
        const { look, raise } = yield* LinkEpoch
        const before = yield* look
        yield* raise(before + 3)
        yield* raise(before + 2)
        expect(yield* look).toBe(before + 3)
      }).pipe(Effect.provide(Layer.provideMerge(layer, client)))
    )

    it.live("refuses those that know a lower one, and nobody else", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { look, raise } = yield* LinkEpoch
        const before = yield* look
        expect(yield* write(sql, "first", before)).toBe(true)
        yield* raise(before + 2)
        expect(yield* write(sql, "old", before + 1)).toBe(false)
        expect(yield* write(sql, "current", before + 2)).toBe(true)
        expect(yield* write(sql, "ahead", before + 3)).toBe(true)
      }).pipe(Effect.provide(Layer.provideMerge(layer, client)))
    )
  })
})

describePostgres("raising the epoch of a database of links on PostgreSQL", () => {
  it.scopedLive(
    "waits for a transaction that wrote under the former one, also when another has raised it",
    () =>
      Effect.gen(function* () {
        const url = yield* migratedDatabase
        const context = yield* Layer.build(Layer.provideMerge(layer, postgresAt(url)))
        const sql = Context.get(context, SqlClient.SqlClient)
        const { look, raise } = Context.get(context, LinkEpoch)
        expect(yield* look).toBe(0)
        const events: Array<string> = []
        const raising = Effect.tap(raise(1), () => Effect.sync(() => events.push("raised")))
        const fibers = yield* inTransaction(
          sql,
          Effect.gen(function* () {
            expect(yield* write(sql, "early", 0)).toBe(true)
            const first = yield* Effect.forkDaemon(raising)
            yield* Effect.repeat(look, { until: (epoch) => epoch === 1 })
            const second = yield* Effect.forkDaemon(raising)
            // The epoch is raised, and the transaction goes on as it began.
            yield* sql`UPDATE links SET title = 'committed' WHERE key = 'early'`
            events.push("committing")
            return [first, second]
          })
        )
        yield* Effect.forEach(fibers, (fiber) => Fiber.join(fiber))
        expect(events).toEqual(["committing", "raised", "raised"])
        expect(yield* write(sql, "late", 0)).toBe(false)
        expect(yield* sql`SELECT key, title FROM links`).toEqual([{ key: "early", title: "committed" }])
      })
  )
})
