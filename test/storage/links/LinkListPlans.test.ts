import { SqlClient, Statement } from "@effect/sql"
import { expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { LinkStore, type LinkQuery } from "../../../src/storage/links/LinkStore.ts"
import * as KeyStockSql from "../../../src/storage/keys/KeyStockSql.ts"
import { GuardedCreates } from "../../../src/storage/links/GuardedCreates.ts"
import * as GuardedCreatesSql from "../../../src/storage/links/GuardedCreatesSql.ts"
import { LinkLifetime } from "../../../src/storage/links/LinkLifetime.ts"
import * as LinkLifetimeSql from "../../../src/storage/links/LinkLifetimeSql.ts"
import * as LinkStoreSql from "../../../src/storage/links/LinkStoreSql.ts"
import type { Ask } from "../../../src/storage/sql/DirectSql.ts"
import type { StorageError } from "../../../src/storage/StorageError.ts"
import { describePostgres } from "../../support/services/postgres/Postgres.ts"
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

type Sent = readonly [text: string, values: ReadonlyArray<unknown>]

/** What statements are had by without a fiber (`DirectSql.withDirect`). */
const asking: unique symbol = Symbol.for("linkmint/DirectSql")

/** The statements that an effect sends, in their order, with a fiber or without. */
const statementsOf = <A, E, R>(client: SqlClient.SqlClient, effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const sent: Array<Sent> = []
    const direct = client as unknown as { [asking]: { readonly ask: Ask } }
    const plain = direct[asking]
    direct[asking] = {
      ...plain,
      ask: (statement) => {
        sent.push(statement)
        return plain.ask(statement)
      }
    }
    yield* Statement.withTransformer(effect, (statement) =>
      Effect.sync(() => {
        sent.push(statement.compile())
        return statement
      })
    )
    direct[asking] = plain
    return sent
  })

/** The plan of a statement. */
const explained = (sql: SqlClient.SqlClient, [text, values]: Sent) =>
  Effect.map(sql.unsafe<{ "QUERY PLAN": string }>(`EXPLAIN ${text}`, values), (rows) =>
    rows.map((row) => row["QUERY PLAN"]).join("\n")
  )

/** How often PostgreSQL goes by one plan for all parameters in ten executions of a statement, of which it plans the first five for their own. */
const commonPlans = (sql: SqlClient.SqlClient, [text, values]: Sent) =>
  Effect.scoped(
    Effect.gen(function* () {
      const connection = yield* sql.reserve
      const ask = (statement: string) => connection.executeUnprepared(statement, [], undefined)
      yield* ask(`PREPARE counted AS ${text}`)
      for (let times = 0; times < 10; times++)
        yield* ask(`EXECUTE counted(${values.map((value) => `'${String(value)}'`).join()})`)
      const [row] = yield* ask("SELECT generic_plans FROM pg_prepared_statements WHERE name = 'counted'")
      yield* ask("DEALLOCATE counted")
      return Number(row.generic_plans)
    })
  )

/** How many rows PostgreSQL expects of the steps of a plan, at most. */
const rowsExpected = (plan: string) =>
  Math.max(...[...plan.matchAll(/ rows=(\d+)/g)].map(([, rows]) => Number(rows)))

/** The plan of the last statement that an effect sends. */
const planOf = <A, E, R>(sql: SqlClient.SqlClient, effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(statementsOf(sql, effect), (sent) => explained(sql, sent.at(-1)!))

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

describePostgres("what is due on PostgreSQL", () => {
  it.scopedLive(
    "is found by an index of its time, and not searched for among what is not due yet",
    () =>
      Effect.gen(function* () {
        const stores = Layer.mergeAll(LinkLifetimeSql.layer, GuardedCreatesSql.layer)
        const context = yield* Layer.build(
          stores.pipe(
            Layer.provideMerge(LinkStoreSql.layer),
            Layer.provide(KeyStockSql.layer()),
            Layer.provideMerge(postgresAt(yield* migratedDatabase))
          )
        )
        const services = Effect.all([SqlClient.SqlClient, LinkLifetime, GuardedCreates])
        const [sql, lifetime, guarded] = yield* Effect.provide(services, context)
        yield* fill(sql)
        const never = 10_000_000_000_000
        yield* sql`UPDATE links SET expires_at = ${never}::bigint + created_at WHERE created_at % 2 = 0`
        yield* sql`UPDATE links SET deleted_at = ${never}::bigint, ended_at = ${never}::bigint + created_at WHERE created_at % 2 = 1`
        yield* sql`INSERT INTO create_guards (name, token, begun_at, fingerprint)
          SELECT 'guard ' || n, 1, ${never}::bigint + n, '' FROM generate_series(1, ${links}::integer) AS n`
        yield* sql`VACUUM (FULL, ANALYZE) links`
        yield* sql`VACUUM (FULL, ANALYZE) create_guards`
        const sweeps: ReadonlyArray<readonly [string, Effect.Effect<unknown, StorageError>]> = [
          ["expires_at", lifetime.expireSome(1_000)],
          ["ended_at", lifetime.recycle({ count: 1_000, quarantine_ms: 1 })],
          ["begun_at", guarded.drop(1, 1_000)]
        ]
        for (const [time, sweep] of sweeps) {
          const sent = yield* statementsOf(sql, sweep)
          const looked = sent.find(([text]) => text.includes(`"${time}" <=`) || text.includes(`${time} <=`))
          expect(yield* explained(sql, looked!)).toContain(`Index Cond: (${time} <=`)
        }
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
          const sent = yield* statementsOf(sql, store.list(query))
          expect(sent).toHaveLength(1)
          const plan = yield* explained(sql, sent[0]!)
          expect(plan).toMatch(/Index Scan (Backward )?using links_(of_owner|by_age)/)
          expect(plan).not.toMatch(/Seq Scan|Sort\b(?! Key)|Filter/)
        }
        // One in a hundred of the owner's links and of the others' is archived.
        yield* sql`UPDATE links SET extras = '{"archived":true}' WHERE created_at % 100 IN (2, 3)`
        yield* sql`VACUUM ANALYZE links`
        for (const query of [...queries, { ...page, owner: "other" }]) {
          const archives = [true, false]
          for (const archived of archives) {
            const sent = yield* statementsOf(sql, store.list({ ...query, archived, lookedAtMax: links }))
            expect(sent).toHaveLength(1)
            const plan = yield* explained(sql, sent[0]!)
            expect(plan).toMatch(/Scan (Backward )?using archived_links_(of_owner|by_age)/)
            if (!archived) expect(plan).toMatch(/Index Scan (Backward )?using links_(of_owner|by_age)/)
            expect(plan).not.toMatch(/Seq Scan|Sort\b(?! Key)/)
            if (archived) expect(rowsExpected(plan)).toBeLessThan(links / 20)
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
        const counting = yield* statementsOf(sql, store.list({ ...page, owner: "one", countedMax: 10_000 }))
        expect(counting).toHaveLength(2)
        const plan = yield* explained(sql, counting[1]!)
        expect(plan).toMatch(/Limit/)
        expect(plan).toMatch(/Index Only Scan Backward using links_of_owner/)
        expect(plan).not.toMatch(/Seq Scan|Sort\b(?! Key)/)
        const found = yield* store.list({ ...page, owner: "one", tag: "rare" })
        expect(found.links.every(({ tags }) => tags.includes("rare"))).toBe(true)
        expect(found.next).not.toBeNull()
        // All are one owner's as far as PostgreSQL knows, but others may have made thousands since.
        yield* sql`UPDATE links SET owner = 'other', extras = NULL`
        // As long as it has no statistics, it believes that nearly all of them are archived.
        yield* sql`DROP STATISTICS archived_links`
        // The index of all links is the smaller one then, as it is when both have grown, and the table as small as it can be.
        yield* sql`VACUUM (FULL, ANALYZE) links`
        for (const query of [page, { ...page, after }]) {
          const ofMost = yield* planOf(sql, store.list({ ...query, owner: "other" }))
          expect(ofMost).toMatch(/Index Scan Backward using links_of_owner/)
          expect(ofMost).not.toMatch(/Seq Scan|Sort\b(?! Key)|Filter/)
          const sent = yield* statementsOf(sql, store.list({ ...query, owner: "other", archived: false }))
          // To plan it takes four times as long as to run it.
          expect(yield* commonPlans(sql, sent[0]!)).toBe(5)
          expect(yield* explained(sql, sent[0]!)).toMatch(/Scan (Backward )?using archived_links_of_owner/)
        }
      }),
    60_000
  )
})
