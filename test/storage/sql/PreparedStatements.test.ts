import { SqlClient } from "@effect/sql"
import { it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { expect } from "vitest"
import { LinkStore } from "../../../src/storage/links/LinkStore.ts"
import * as LinkStoreSql from "../../../src/storage/links/LinkStoreSql.ts"
import { prepared } from "../../../src/storage/sql/SqlDialect.ts"
import { describePostgres } from "../../support/services/postgres/Postgres.ts"
import { migratedDatabase, postgresAt } from "../../support/Stores.ts"

/** One connection, so that what is asked about prepared statements is about this one. */
const single = (url: string) => postgresAt(url, { maxConnections: 1 })

const statements = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql<{ name: string; statement: string; generic: number; custom: number }>`
    SELECT name, statement, generic_plans::int AS generic, custom_plans::int AS custom FROM pg_prepared_statements`
)

describePostgres("statements that are to be prepared", () => {
  it.scopedLive("are so once by a connection, and no others", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      for (const number of [1, 2, 3]) {
        expect(yield* sql`${prepared(sql, "test of names")}SELECT ${number}::int AS number`).toEqual([
          { number }
        ])
        expect(yield* sql`SELECT ${number}::int + 1 AS number`).toEqual([{ number: number + 1 }])
      }
      const kept = yield* statements
      expect(kept).toHaveLength(1)
      expect(kept[0]!.generic + kept[0]!.custom).toBe(3)
    }).pipe(Effect.provide(Layer.unwrapEffect(Effect.map(migratedDatabase, single))))
  )

  it.scopedLive("are for links by their keys, with one plan, which looks for each by itself", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { findMany } = yield* LinkStore
      yield* sql`
        INSERT INTO links (key, url, custom, created_at, updated_at)
        SELECT 'k' || n, 'https://example.com/' || n, false, n, n FROM generate_series(1, 100) AS n`
      for (let asked = 0; asked < 10; asked++) {
        const wanted = [7, null, asked + 10, 7].slice(0, 2 + (asked % 3))
        const found = yield* findMany(wanted.map((n) => (n === null ? "unknown" : `k${n}`)))
        expect(found.map((link) => link?.url)).toEqual(
          wanted.map((n) => (n === null ? undefined : `https://example.com/${n}`))
        )
      }
      const [kept] = (yield* statements).filter(({ statement }) => statement.includes("FROM links"))
      expect(kept!.generic).toBeGreaterThan(0)
      const plan = yield* sql.unsafe<{ "QUERY PLAN": string }>(
        `EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) EXECUTE ${kept!.name}('["k7"]')`
      )
      const scans = plan.map((line) => line["QUERY PLAN"]).filter((line) => /Scan .*on links/.test(line))
      expect(scans).toEqual([
        expect.stringContaining("Index Scan using links_pkey on links (actual rows=1 loops=1)")
      ])
    }).pipe(
      Effect.provide(
        Layer.unwrapEffect(
          Effect.map(migratedDatabase, (url) => Layer.provideMerge(LinkStoreSql.layer, single(url)))
        )
      )
    )
  )

  it.scopedLive("are at most forty of a kind, and others of it are sent as they are", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const ask = (kind: string, number: number) =>
        sql`${prepared(sql, kind)}SELECT ${sql.literal(String(number))}::int AS number`
      for (let number = 0; number < 50; number++)
        expect(yield* ask("test of the most", number)).toEqual([{ number }])
      const numbersOf = Effect.map(statements, (all) =>
        all.map(({ statement }) => Number(/SELECT (\d+)/.exec(statement)![1])).toSorted((a, b) => a - b)
      )
      const first = Array.from({ length: 40 }, (_, number) => number)
      expect(yield* numbersOf).toEqual(first)
      expect(yield* ask("test of others", 50)).toEqual([{ number: 50 }])
      expect(yield* numbersOf).toEqual([...first, 50])
    }).pipe(Effect.provide(Layer.unwrapEffect(Effect.map(migratedDatabase, single))))
  )
})
