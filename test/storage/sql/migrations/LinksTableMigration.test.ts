import { SqlClient } from "@effect/sql"
import { expect, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { GuardedCreates } from "../../../../src/storage/links/GuardedCreates.ts"
import * as GuardedCreatesSql from "../../../../src/storage/links/GuardedCreatesSql.ts"
import { urlHash } from "../../../../src/storage/links/LinkColumns.ts"
import { LinkStore } from "../../../../src/storage/links/LinkStore.ts"
import * as LinkStoreSql from "../../../../src/storage/links/LinkStoreSql.ts"
import * as Migrations from "../../../../src/storage/sql/Migrations.ts"
import { describePostgres, freshDatabase } from "../../../support/services/postgres/Postgres.ts"
import { emptyDatabases, postgresAt } from "../../../support/Stores.ts"

/** The schema as it was when `links` had partitions on PostgreSQL, and every link of an owner a hash of its URL. */
const migrateToPartitions = Migrations.migrateTo(17)

/** The one table, without the columns that came later. */
const migrateToOneTable = Migrations.migrateTo(18)

const url = "https://example.com/ä?b=c"

/** Links of every kind: as they come, with every field, of nobody, ended, deleted, and many that differ in their keys. */
const fill = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const json = (text: string) =>
    sql.onDialectOrElse({ orElse: () => sql`${text}`, pg: () => sql`${text}::jsonb` })
  const yes = sql.onDialectOrElse({ orElse: () => sql.literal("1"), pg: () => sql.literal("true") })
  const no = sql.onDialectOrElse({ orElse: () => sql.literal("0"), pg: () => sql.literal("false") })
  yield* sql`INSERT INTO links (key, url, custom, created_at, updated_at) VALUES ('bare', ${url}, ${no}, 1, 1)`
  yield* sql`INSERT INTO links
    (key, url, custom, created_at, updated_at, expires_at, deleted_at, create_id, owner, title, title_folded, tags, valid_since, max_visits,
     visits_left, password_hash, redirect_status, forward_query, crawlable, url_hash, update_ids, visit_takes, key_id, key_redirects_per_day, ended_at)
    VALUES
    ('full', ${url}, ${yes}, 2, 3, 4, NULL, ${2 ** 52}, 'me', 'Ä', 'ä', ${json('["a","b"]')}, 5, 6,
     7, 'hash', 308, ${yes}, ${yes}, ${urlHash("me", url)}, ${json("[1,2]")}, ${json('[{"id":1}]')}, 'key', 8, NULL),
    ('gone', ${url}, ${no}, 2, 9, NULL, 9, 10, 'me', NULL, NULL, ${json("[]")}, NULL, NULL,
     NULL, NULL, 302, ${no}, ${no}, ${urlHash("me", url)}, ${json("[]")}, ${json("[]")}, NULL, NULL, 11),
    ('live', ${url}, ${no}, 12, 12, NULL, NULL, NULL, 'me', NULL, NULL, ${json("[]")}, NULL, NULL,
     NULL, NULL, 302, ${no}, ${no}, ${urlHash("me", url)}, ${json("[]")}, ${json("[]")}, NULL, NULL, NULL)`
  yield* Effect.forEach(
    Array.from({ length: 200 }, (_, n) => n),
    (n) => sql`INSERT INTO links (key, url, custom, created_at, updated_at, owner)
               VALUES (${`k${n}`}, ${`${url}${n}`}, ${no}, ${n}, ${n}, ${n % 2 === 0 ? "me" : null})`,
    { discard: true }
  )
})

/** Every row, each with all columns by their names. */
const rows = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT * FROM links ORDER BY key`)

const byName = (all: ReadonlyArray<object>) =>
  all.map((row) => Object.entries(row).toSorted(([a], [b]) => (a < b ? -1 : 1)))

/** What is known of the columns and indexes of `links`, whatever the order of the columns. */
const shape = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return {
    columns: yield* sql`
      SELECT column_name, data_type, collation_name, is_nullable, column_default FROM information_schema.columns
      WHERE table_name = 'links' ORDER BY column_name`,
    indexes: yield* sql`
      SELECT indexname, replace(indexdef, ' ON ONLY ', ' ON ') AS definition FROM pg_indexes
      WHERE tablename = 'links' ORDER BY indexname`
  }
})

emptyDatabases((client) => {
  it.scopedLive("Migrating to one table of links keeps every row, and finds links by what was there", () =>
    Effect.gen(function* () {
      yield* migrateToPartitions
      yield* fill
      const before = yield* rows
      yield* migrateToOneTable
      expect(byName(yield* rows)).toEqual(byName(before))
      yield* Migrations.migrate
      const [links, { findByUrl }] = [yield* LinkStore, yield* GuardedCreates]
      expect(yield* links.findMany(["full", "live", "none"])).toMatchObject([
        { tags: ["a", "b"], maxVisits: 6, redirectStatus: 308 },
        { owner: "me" },
        null
      ])
      expect(yield* findByUrl("me", url, 1)).toMatchObject({ key: "live" })
      expect(yield* findByUrl("me", `${url}198`, 1)).toMatchObject({ key: "k198" })
      const page = yield* links.list({ owner: "me", order: "createdAt-asc", limit: 2, lookedAtMax: 10 })
      expect(page.links.map(({ key }) => key)).toEqual(["k0", "full"])
    }).pipe(
      Effect.provide(
        GuardedCreatesSql.layer.pipe(Layer.provideMerge(LinkStoreSql.layer), Layer.provideMerge(client))
      )
    )
  )
})

describePostgres("migrating to one table of links on PostgreSQL", () => {
  it.scopedLive("keeps the columns' types and the indexes, and leaves no partition", () =>
    Effect.gen(function* () {
      yield* migrateToPartitions
      const before = yield* shape
      yield* migrateToOneTable
      expect(yield* shape).toEqual(before)
      const sql = yield* SqlClient.SqlClient
      expect(
        yield* sql`SELECT relname, relkind FROM pg_class WHERE relname LIKE '%links%' AND relkind IN ('r', 'p')`
      ).toEqual([{ relname: "links", relkind: "r" }])
    }).pipe(Effect.provide(Layer.unwrapScoped(Effect.map(freshDatabase, (url) => postgresAt(url)))))
  )

  it.scopedLive(
    "is waited for by those who write, with statements that they had prepared before, and read",
    () =>
      Effect.gen(function* () {
        const database = yield* freshDatabase
        const [old, writing] = [
          yield* Layer.build(
            Layer.provideMerge(LinkStoreSql.layer, postgresAt(database, { maxConnections: 2 }))
          ),
          yield* Layer.build(postgresAt(database, { maxConnections: 2 }))
        ]
        yield* Effect.provide(migrateToPartitions, old)
        const sql = yield* Effect.provide(SqlClient.SqlClient, old)
        // As a node of the former version writes: without what came later.
        const insert = (key: string) =>
          sql`/* prepared test */ INSERT INTO links (key, url, custom, created_at, updated_at) VALUES (${key}, 'u', false, 1, 1)`
        const read = sql<{ key: string }>`/* prepared test */ SELECT key, url FROM links ORDER BY key`
        for (let n = 0; n < 10; n++) {
          yield* insert(`early${n}`)
          yield* read
        }
        /** The migration waits for a writer, and those who come then for the migration. */
        const waiting = (mode: string) =>
          Effect.repeat(
            sql<{ count: number }>`SELECT count(*)::int AS count FROM pg_locks
            WHERE NOT granted AND relation = 'links'::regclass AND mode = ${mode}`,
            { until: ([row]) => row!.count > 0 }
          )
        const written = yield* Deferred.make<void>()
        const mayCommit = yield* Deferred.make<void>()
        const first = yield* Effect.flatMap(SqlClient.SqlClient, (other) =>
          other.withTransaction(
            other`INSERT INTO links (key, url, custom, created_at, updated_at) VALUES ('first', 'u', false, 1, 1)`.pipe(
              Effect.zipRight(Deferred.succeed(written, undefined)),
              Effect.zipRight(Deferred.await(mayCommit))
            )
          )
        ).pipe(Effect.provide(writing), Effect.fork)
        yield* Deferred.await(written)
        const migrating = yield* Effect.fork(
          Effect.provide(Migrations.migrate, Layer.fresh(postgresAt(database)))
        )
        yield* waiting("ExclusiveLock")
        const late = yield* Effect.fork(insert("late"))
        yield* waiting("RowExclusiveLock")
        yield* Deferred.succeed(mayCommit, undefined)
        yield* Fiber.join(first)
        yield* Fiber.join(late)
        yield* Fiber.join(migrating)
        yield* insert("last")
        const keys = (yield* read).map(({ key }) => key)
        expect(keys.slice(-3)).toEqual(["first", "last", "late"])
        expect(keys).toHaveLength(13)
      })
  )
})
