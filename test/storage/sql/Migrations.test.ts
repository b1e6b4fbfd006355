import { SqlClient } from "@effect/sql"
import { expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { describe } from "vitest"
import * as LinkStoreSql from "../../../src/storage/links/LinkStoreSql.ts"
import { LinkStore } from "../../../src/storage/links/LinkStore.ts"
import * as Migrations from "../../../src/storage/sql/Migrations.ts"
import { describePostgres, freshDatabase } from "../../support/services/postgres/Postgres.ts"
import { linkOf } from "../../support/samples/SomeLinks.ts"
import { atOnce } from "../../support/Property.ts"
import { migratedDatabase, onEveryDatabase, postgresAt } from "../../support/Stores.ts"

const applied = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql<{ migration_id: number }>`SELECT migration_id FROM linkmint_migrations`
)

/** Those of this database: the tests share a server. */
const advisoryLocks = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`SELECT * FROM pg_locks WHERE locktype = 'advisory'
               AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
)

onEveryDatabase((client) => {
  describe("migrating", () => {
    it.live("a second time changes nothing and loses nothing", () =>
      Effect.gen(function* () {
        const before = yield* applied
        expect(before.length).toBeGreaterThan(0)
        const links = yield* LinkStore
        yield* links.insertMany([linkOf("kept")])
        yield* Migrations.migrate
        yield* Migrations.migrate
        expect(yield* applied).toEqual(before)
        expect(yield* links.findMany(["kept"])).toEqual([linkOf("kept")])
      }).pipe(Effect.provide(Layer.provideMerge(LinkStoreSql.layer, client)))
    )
  })
})

describePostgres("migrating PostgreSQL", () => {
  it.scopedLive("from five nodes that start at once runs each migration once", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase
      const nodes = yield* atOnce(Array.from({ length: 5 }, () => Layer.build(Layer.fresh(postgresAt(url)))))
      yield* atOnce(nodes.map((node) => Effect.provide(Migrations.migrate, node)))
      const rows = yield* Effect.provide(applied, nodes[0]!)
      expect(new Set(rows.map((row) => row.migration_id)).size).toBe(rows.length)
      expect(rows.length).toBeGreaterThan(0)
    })
  )

  it.scopedLive("works with a pool of two connections, and gives its lock back", () =>
    Effect.gen(function* () {
      const node = yield* Layer.build(postgresAt(yield* freshDatabase, { maxConnections: 2 }))
      yield* Migrations.migrate.pipe(Effect.provide(node))
      expect(yield* Effect.provide(advisoryLocks, node)).toEqual([])
    })
  )

  it.scopedLive(
    "fails with the database's reason when it meets a stranger's table, and leaves nothing behind",
    () =>
      Effect.gen(function* () {
        const node = yield* Layer.build(postgresAt(yield* freshDatabase))
        yield* Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          yield* sql`CREATE TABLE keys (n INTEGER)`
          const error = yield* Effect.flip(Migrations.migrate)
          expect(error).toMatchObject({ _tag: "StorageError", operation: "migrate" })
          expect(error.reason).toContain(`relation "keys" already exists`)
          expect(yield* advisoryLocks).toEqual([])
          yield* sql`DROP TABLE keys`
          yield* Migrations.migrate
        }).pipe(Effect.provide(node))
      })
  )

  it.scopedLive("orders keys byte by byte, whatever the database's locale", () =>
    Effect.gen(function* () {
      const node = yield* Layer.build(postgresAt(yield* migratedDatabase))
      const collations = yield* Effect.flatMap(
        SqlClient.SqlClient,
        (sql) => sql<{ table: string; collation: string }>`
          SELECT table_name AS "table", collation_name AS collation FROM information_schema.columns
          WHERE column_name = 'key' AND table_name IN ('links', 'keys') ORDER BY table_name`
      ).pipe(Effect.provide(node))
      expect(collations).toEqual([
        { table: "keys", collation: "C" },
        { table: "links", collation: "C" }
      ])
    })
  )
})
