import { SqlClient, Statement } from "@effect/sql"
import { expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { LinkStore, type LinkQuery } from "../../../src/storage/links/LinkStore.ts"
import * as LinkStoreSql from "../../../src/storage/links/LinkStoreSql.ts"
import { describePostgres } from "../../support/services/Postgres.ts"
import { migratedDatabase, postgresAt } from "../../support/Stores.ts"

/** Links in the database: one in fifty is one owner's, one in four anonymous, all others another owner's. */
const links = 40_000

const fill = (sql: SqlClient.SqlClient) =>
  sql`
    INSERT INTO links (key, url, custom, created_at, updated_at, owner, tags)
    SELECT 'k' || n, 'https://example.com/' || n, false, n, n,
           CASE WHEN n % 50 = 2 THEN 'one' WHEN n % 4 = 0 THEN NULL ELSE 'other' END,
           CASE WHEN n % 1000 = 2 THEN '["rare"]'::jsonb ELSE '[]'::jsonb END
    FROM generate_series(1, ${links}::integer) AS n`.pipe(Effect.zipRight(sql`VACUUM ANALYZE links`))

/** The statements that an effect sends, in their order. */
const statementsOf = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const sent: Array<readonly [text: string, values: ReadonlyArray<unknown>]> = []
    yield* Statement.withTransformer(effect, (statement) =>
      Effect.sync(() => {
        sent.push(statement.compile())
        return statement
      })
    )
    return sent
  })

/** The plan of the last statement that an effect sends. */
const planOf = <A, E, R>(sql: SqlClient.SqlClient, effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const [text, values] = (yield* statementsOf(effect)).at(-1)!
    const rows = yield* sql.unsafe<{ "QUERY PLAN": string }>(`EXPLAIN ${text}`, values)
    return rows.map((row) => row["QUERY PLAN"]).join("\n")
  })

describePostgres("which keys are taken on PostgreSQL", () => {
  it.scopedLive(
    "is found by the primary key, in further domains as well",
    () =>
      Effect.gen(function* () {
        const context = yield* Layer.build(
          Layer.provideMerge(LinkStoreSql.layer, postgresAt(yield* migratedDatabase))
        )
        const [sql, store] = yield* Effect.provide(Effect.all([SqlClient.SqlClient, LinkStore]), context)
        yield* fill(sql)
        const plan = yield* planOf(sql, store.takenAmong(["k1", "free"]))
        expect(plan).toMatch(/Index (Only )?Scan using \w+ on links/)
        expect(plan).toMatch(/Index Cond: .*>.*<.*/)
        expect(plan).not.toMatch(/Seq Scan|Sort\b(?! Key)/)
      }),
    60_000
  )
})

describePostgres("a page of a list on PostgreSQL", () => {
  it.scopedLive(
    "is read in the order of an index, and neither sorted nor searched for among all links",
    () =>
      Effect.gen(function* () {
        const context = yield* Layer.build(
          Layer.provideMerge(LinkStoreSql.layer, postgresAt(yield* migratedDatabase))
        )
        const [sql, store] = yield* Effect.provide(Effect.all([SqlClient.SqlClient, LinkStore]), context)
        yield* fill(sql)
        const after = { createdAt: links / 2, key: "k" }
        const page: LinkQuery = { order: "createdAt-desc", limit: 50, lookedAtMax: 500 }
        const queries: ReadonlyArray<LinkQuery> = [
          { ...page, owner: "one" },
          { ...page, owner: "one", after },
          { ...page, owner: "one", after, order: "createdAt-asc" },
          page,
          { ...page, after }
        ]
        for (const query of queries) {
          const sent = yield* statementsOf(store.list(query))
          expect(sent).toHaveLength(1)
          const [text, values] = sent[0]!
          const rows = yield* sql.unsafe<{ "QUERY PLAN": string }>(`EXPLAIN ${text}`, values)
          const plan = rows.map((row) => row["QUERY PLAN"]).join("\n")
          expect(plan).toMatch(/Index Scan (Backward )?using links_(of_owner|by_age)/)
          expect(plan).not.toMatch(/Seq Scan|Sort\b(?! Key)|Filter/)
        }
        // One in a hundred of the owner's links and of the others' is archived.
        yield* sql`UPDATE links SET extras = '{"archived":true}' WHERE created_at % 100 IN (2, 3)`
        yield* sql`VACUUM ANALYZE links`
        for (const query of queries) {
          const archives = [true, false]
          for (const archived of archives) {
            const sent = yield* statementsOf(store.list({ ...query, archived, lookedAtMax: links }))
            expect(sent).toHaveLength(archived ? 1 : 2)
            for (const [text, values] of sent) {
              const rows = yield* sql.unsafe<{ "QUERY PLAN": string }>(`EXPLAIN ${text}`, values)
              const plan = rows.map((row) => row["QUERY PLAN"]).join("\n")
              const isProbe = text.includes("count(*)")
              expect(plan).toMatch(
                archived || isProbe
                  ? /Scan (Backward )?using archived_links_(of_owner|by_age)/
                  : /Index Scan (Backward )?using links_(of_owner|by_age)/
              )
              expect(plan).not.toMatch(/Seq Scan|Sort\b(?! Key)/)
            }
          }
        }
        const few = yield* store.list({
          ...page,
          owner: "one",
          archived: false,
          lookedAtMax: 5,
          countedMax: 9
        })
        expect(few.links.length).toBeLessThanOrEqual(5)
        expect(few.next).not.toBeNull()
        expect(few.total?.isExact).toBe(false)
        const counting = yield* statementsOf(store.list({ ...page, owner: "one", countedMax: 10_000 }))
        expect(counting).toHaveLength(2)
        const [text, values] = counting[1]!
        const rows = yield* sql.unsafe<{ "QUERY PLAN": string }>(`EXPLAIN ${text}`, values)
        const plan = rows.map((row) => row["QUERY PLAN"]).join("\n")
        expect(plan).toMatch(/Limit/)
        expect(plan).toMatch(/Index Only Scan Backward using links_of_owner/)
        expect(plan).not.toMatch(/Seq Scan|Sort\b(?! Key)/)
        const found = yield* store.list({ ...page, owner: "one", tag: "rare" })
        expect(found.links.every(({ tags }) => tags.includes("rare"))).toBe(true)
        expect(found.next).not.toBeNull()
        // All are one owner's as far as PostgreSQL knows, but others may have made thousands since.
        yield* sql`UPDATE links SET owner = 'other'`
        // The index of all links is the smaller one then, as it is when both have grown.
        yield* sql`REINDEX TABLE links`
        yield* sql`VACUUM ANALYZE links`
        for (const query of [page, { ...page, after }]) {
          const ofMost = yield* planOf(sql, store.list({ ...query, owner: "other" }))
          expect(ofMost).toMatch(/Index Scan Backward using links_of_owner/)
          expect(ofMost).not.toMatch(/Seq Scan|Sort\b(?! Key)|Filter/)
        }
      }),
    60_000
  )
})
