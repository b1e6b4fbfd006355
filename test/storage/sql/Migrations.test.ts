import { SqlClient } from "@effect/sql"
import { expect, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Fiber, Layer, Logger } from "effect"
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
  (sql) => sql<{ migration_id: number }>`SELECT migration_id FROM linkmint_migrations ORDER BY migration_id`
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

  it.scopedLive("keeps what is done when a later one fails, and goes on from there", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* Migrations.migrateTo(17)
      yield* sql`CREATE TABLE link_epoch (n INTEGER)`
      const error = yield* Effect.flip(Migrations.migrate)
      expect(error.reason).toContain("link_epoch")
      expect((yield* applied).map((row) => row.migration_id)).toEqual(
        Array.from({ length: 21 }, (_, n) => n + 1)
      )
      expect(
        yield* sql`SELECT relkind FROM pg_class WHERE relname = 'links' AND relnamespace = 'public'::regnamespace`
      ).toEqual([{ relkind: "r" }])
      yield* sql`DROP TABLE link_epoch`
      yield* Migrations.migrate
      expect((yield* applied).length).toBe(Migrations.newest)
    }).pipe(Effect.provide(Layer.unwrapScoped(Effect.map(freshDatabase, (url) => postgresAt(url)))))
  )

  /** From a schema with links, while a session reads `tables` for long, as a dump does. */
  const duringDump = (last: number, waitsIn: string, tables: string) =>
    Effect.gen(function* () {
      const url = yield* freshDatabase
      const [dumping, migrates, node] = [
        yield* Layer.build(Layer.fresh(postgresAt(url, { applicationName: "pg_dump" }))),
        yield* Layer.build(Layer.fresh(postgresAt(url, { answerTimeout: Duration.zero }))),
        yield* Layer.build(Layer.fresh(postgresAt(url, { answerTimeout: Duration.seconds(20) })))
      ]
      yield* Effect.provide(Migrations.migrateTo(last), migrates)
      const sql = yield* Effect.provide(SqlClient.SqlClient, node)
      const write = (key: string) =>
        sql`INSERT INTO links (key, url, custom, created_at, updated_at) VALUES (${key}, 'u', FALSE, 1, 1)`
      yield* write("early")
      const read = sql`SELECT key FROM links WHERE key = 'early'`
      const [dumps, ends, waits] = [
        yield* Deferred.make<void>(),
        yield* Deferred.make<void>(),
        yield* Deferred.make<string>()
      ]
      const dump = yield* Effect.flatMap(SqlClient.SqlClient, (other) =>
        other.withTransaction(
          other`LOCK TABLE ${other.literal(tables)} IN ACCESS SHARE MODE`.pipe(
            Effect.zipRight(Deferred.succeed(dumps, undefined)),
            Effect.zipRight(Deferred.await(ends))
          )
        )
      ).pipe(Effect.provide(dumping), Effect.fork)
      yield* Deferred.await(dumps)
      const logger = Logger.make(({ message }) => {
        const text = String(message)
        if (text.includes("waits for a lock")) Deferred.unsafeDone(waits, Effect.succeed(text))
      })
      const migrating = yield* Migrations.migrate.pipe(
        Effect.provide(migrates),
        Effect.provide(Logger.replace(Logger.defaultLogger, logger)),
        Effect.fork
      )
      // A client reads and writes until the migration was refused once. A statement that waited for the dump would get no answer.
      let served = 0
      const serve = Effect.suspend(() => Effect.zipRight(read, write(`k${served++}`)))
      yield* Effect.repeat(serve, { until: () => Deferred.isDone(waits) }).pipe(Effect.timeout("20 seconds"))
      const text = yield* Deferred.await(waits)
      expect(text).toContain(waitsIn)
      expect(text).toContain("AccessExclusiveLock on links")
      expect(text).toContain("(pg_dump)")
      // It pauses, so that nobody waits.
      yield* Effect.zipRight(read, write("late"))
      yield* Deferred.succeed(ends, undefined)
      yield* Fiber.join(dump)
      yield* Fiber.join(migrating)
      expect(yield* read).toEqual([{ key: "early" }])
      expect((yield* Effect.provide(applied, node)).length).toBe(Migrations.newest)
    })

  it.scopedLive(
    "to one table of links waits for the end of a dump, and nobody waits behind it for long",
    () => duringDump(17, "0018_one_links_table", "links, linkmint_migrations")
  )

  it.scopedLive("to further columns waits for the end of a dump, and nobody waits behind it for long", () =>
    duringDump(25, "0026_imported_visits", "links")
  )

  it.scopedLive("to one table of links keeps the copy when somebody reads the former table at its end", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase
      const opened = Layer.build(Layer.fresh(postgresAt(url)))
      const [migrates, others] = [yield* opened, yield* opened]
      yield* Effect.provide(Migrations.migrateTo(17), migrates)
      const sql = yield* Effect.provide(SqlClient.SqlClient, others)
      const [holdsUp, reader] = [yield* sql.reserve, yield* sql.reserve]
      const waiting = (condition: string, is: boolean) =>
        Effect.repeat(
          sql<{ count: number }>`SELECT count(*)::int AS count FROM pg_locks JOIN pg_stat_activity USING (pid)
            WHERE datname = current_database() AND NOT granted AND ${sql.literal(condition)}`,
          { until: ([row]) => row!.count > 0 === is }
        )
      // The name of the copy is taken, perhaps, so that the migration waits before the copy.
      yield* holdsUp.executeRaw("BEGIN", [])
      yield* holdsUp.executeRaw("CREATE TABLE one_links (n INTEGER)", [])
      const refused: Array<string> = []
      const logger = Logger.make(({ message }) => {
        if (String(message).includes("waits for a lock")) refused.push(String(message))
      })
      const migrating = yield* Migrations.migrate.pipe(
        Effect.provide(migrates),
        Effect.provide(Logger.replace(Logger.defaultLogger, logger)),
        Effect.fork
      )
      yield* waiting("locktype = 'transactionid'", true)
      yield* reader.executeRaw("BEGIN", [])
      yield* reader.executeRaw("LOCK TABLE links IN ACCESS SHARE MODE", [])
      yield* holdsUp.executeRaw("ROLLBACK", [])
      yield* waiting("mode = 'AccessExclusiveLock'", true)
      yield* waiting("mode = 'AccessExclusiveLock'", false)
      yield* sql`SELECT key FROM links`
      yield* reader.executeRaw("ROLLBACK", [])
      yield* Fiber.join(migrating)
      expect(refused).toEqual([])
    })
  )

  it.scopedLive("of a database that is up to date waits for no dump", () =>
    Effect.gen(function* () {
      const url = yield* migratedDatabase
      const [dumping, node] = [
        yield* Layer.build(postgresAt(url)),
        yield* Layer.build(Layer.fresh(postgresAt(url, { answerTimeout: Duration.seconds(4) })))
      ]
      const sql = yield* Effect.provide(SqlClient.SqlClient, dumping)
      const connection = yield* sql.reserve
      yield* connection.executeRaw("BEGIN", [])
      yield* connection.executeRaw("LOCK TABLE linkmint_migrations IN ACCESS SHARE MODE", [])
      yield* Effect.provide(Migrations.migrate, node)
      yield* connection.executeRaw("ROLLBACK", [])
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
