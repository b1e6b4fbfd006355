// Stores for the tests to open: in memory, on SQLite and on PostgreSQL.

import { NodeFileSystem } from "@effect/platform-node"
import { FileSystem } from "@effect/platform"
import { SqlClient } from "@effect/sql"
import type { SqlError } from "@effect/sql/SqlError"
import { Context, Duration, Effect, Exit, Layer, Redacted, Scope } from "effect"
import { join } from "node:path"
import { afterAll, beforeAll, describe } from "vitest"
import * as Migrations from "../../src/storage/sql/Migrations.ts"
import * as DatabaseServers from "../../src/storage/sql/postgres/DatabaseServers.ts"
import * as PostgresClient from "../../src/storage/sql/postgres/PostgresClient.ts"
import type { ConnectionOptions } from "../../src/storage/sql/postgres/PrimaryPool.ts"
import * as SqliteClient from "../../src/storage/sql/SqliteClient.ts"
import { folderInMemory } from "./MemoryFolder.ts"
import { exercised } from "./services/Exercised.ts"
import { copiesOf, describePostgres, freshDatabase } from "./services/postgres/Postgres.ts"

/**
 * Opens an empty store, which goes with the scope. What it gives is run once for each client of the store: on
 * PostgreSQL each has connections of its own; the others serve one process, so all clients are the same one.
 */
export type Open<S> = Effect.Effect<Effect.Effect<S, never, Scope.Scope>, never, Scope.Scope>

/** A folder that is removed with the scope, in memory where there is room. */
export const temporaryFolder: Effect.Effect<string, never, Scope.Scope> = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  return yield* fs.makeTempDirectoryScoped({ prefix: "linkmint-storage-", directory: folderInMemory() })
}).pipe(Effect.provide(NodeFileSystem.layer), Effect.orDie)

/** One client of a new SQLite database in a temporary folder. */
const emptySqlite: Layer.Layer<SqlClient.SqlClient> = Layer.unwrapScoped(
  Effect.map(temporaryFolder, (folder) =>
    Layer.effectDiscard(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const [row] = yield* sql<{ version: string }>`SELECT sqlite_version() AS version`
        exercised("SQLite", `${row!.version} (libSQL)`)
      })
    ).pipe(Layer.provideMerge(SqliteClient.layer(join(folder, "linkmint.db"))), Layer.orDie)
  )
)

/** The same, migrated. */
const sqlite = Layer.provideMerge(Layer.orDie(Migrations.layer), emptySqlite)

/** One client, with a pool of its own, of the PostgreSQL database at `url`: the one that the program has, with more patience. */
export const postgresAt = (
  url: string,
  options?: Partial<ConnectionOptions>
): Layer.Layer<SqlClient.SqlClient> =>
  Layer.orDie(
    PostgresClient.layerBounded({
      applicationName: "linkmint-test",
      maxConnections: 4,
      connectTimeout: Duration.seconds(10),
      answerTimeout: Duration.minutes(1),
      idleTimeout: Duration.seconds(10),
      ...options
    }).pipe(Layer.provide(DatabaseServers.layer(Redacted.make(url))))
  )

/** A new, migrated PostgreSQL database: gives its URL. */
export const migratedDatabase: Effect.Effect<string, never, Scope.Scope> = copiesOf((url) =>
  Migrations.migrate.pipe(Effect.provide(postgresAt(url)), Effect.orDie)
)

/** A store in memory. */
const inMemory = <I, S>(tag: Context.Tag<I, S>, layer: Layer.Layer<I>): Open<S> =>
  Effect.sync(() => exercised("memory")).pipe(
    Effect.zipRight(Layer.build(layer)),
    Effect.map((context) => Effect.succeed(Context.get(context, tag)))
  )

/** Tables that are emptied before each test. */
const tables = [
  "links",
  "create_guards",
  "key_ranges",
  "keys",
  "stocked_keys",
  "unused_keys",
  "used_keys",
  "pool_shards",
  "pool_batches",
  "deployment",
  "users",
  "quotas",
  "visit_periods",
  "visit_rolled",
  "visit_ranked",
  "link_ranks",
  "visit_writers",
  "visit_removals",
  "visits_leaving",
  "webhooks",
  "webhook_messages",
  "webhook_joined",
  "nodes",
  "audit_entries",
  "database_regressions",
  "link_removals",
  "url_indexed_owners",
  "bucket_placement",
  "bucket_homes",
  "link_outbox",
  "bucket_moves",
  "bucket_marks",
  "bucket_leftovers",
  "domains"
]

/** Those that say in which database a bucket is. */
const placementTables = ["bucket_placement", "bucket_homes"]

/**
 * Empties a database's tables, in PostgreSQL by one message: it is done before each of some thousand tests. The placement of buckets and the epoch stay
 * where `keepsPlacement`.
 */
export const emptied = (
  sql: SqlClient.SqlClient,
  { keepsPlacement = false } = {}
): Effect.Effect<void, SqlError> => {
  const emptiedTables = tables.filter((table) => !keepsPlacement || !placementTables.includes(table))
  const deletes = (some: ReadonlyArray<string>) => some.map((table) => `DELETE FROM ${table}`)
  const updates = [
    "UPDATE database_mark SET mark = 0, lineage = 0, moved_at = 0",
    ...(keepsPlacement ? [] : ["UPDATE link_epoch SET epoch = 0"]),
    "UPDATE domain_version SET version = 0, last_number = 0, long_aliases_in = '[]'"
  ]
  return sql.onDialectOrElse({
    pg: () => Effect.asVoid(sql.unsafe([...deletes(emptiedTables), ...updates].join(";"))),
    // Each statement is a message to the database's thread: most tables have no rows.
    orElse: () =>
      Effect.gen(function* () {
        const ifFilled = (table: string) => `SELECT '${table}' AS name WHERE EXISTS (SELECT 1 FROM ${table})`
        const filled = yield* sql.unsafe<{ name: string }>(emptiedTables.map(ifFilled).join(" UNION ALL "))
        const statements = [...deletes(filled.map(({ name }) => name)), ...updates]
        yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
      }).pipe(sql.withTransaction)
  })
}

/**
 * Clients of a migrated database, by number. A database takes a while to make, so that the surrounding suite makes one and its
 * clients, and each test that opens it empties it first.
 */
const sharedDatabase = <A>(
  database: Effect.Effect<Layer.Layer<SqlClient.SqlClient>, never, Scope.Scope>,
  layer: Layer.Layer<A, never, SqlClient.SqlClient>
): Effect.Effect<(client: number) => Effect.Effect<Context.Context<A | SqlClient.SqlClient>>> => {
  const scope = Effect.runSync(Scope.make())
  const clients: Array<Context.Context<A | SqlClient.SqlClient>> = []
  let client: Layer.Layer<SqlClient.SqlClient>
  beforeAll(async () => {
    client = await Effect.runPromise(Scope.extend(database, scope))
  })
  afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))
  const clientAt = (index: number) =>
    Effect.gen(function* () {
      clients[index] ??= yield* Layer.buildWithScope(Layer.provideMerge(layer, client), scope)
      return clients[index]
    })

  return Effect.gen(function* () {
    yield* emptied(Context.get(yield* clientAt(0), SqlClient.SqlClient))
    return clientAt
  }).pipe(Effect.orDie)
}

/** A store in a database, for up to `clientsMax` clients. */
const inDatabase = <I, S>(
  tag: Context.Tag<I, S>,
  layer: Layer.Layer<I, never, SqlClient.SqlClient>,
  database: Effect.Effect<Layer.Layer<SqlClient.SqlClient>, never, Scope.Scope>,
  clientsMax: number
): Open<S> =>
  Effect.map(sharedDatabase(database, layer), (clientAt) => {
    let opened = 0
    return Effect.map(
      Effect.suspend(() => clientAt(opened++ % clientsMax)),
      (context) => Context.get(context, tag)
    )
  })

export const onSqlite = <I, S>(
  tag: Context.Tag<I, S>,
  layer: Layer.Layer<I, never, SqlClient.SqlClient>
): Open<S> => inDatabase(tag, layer, Effect.succeed(sqlite), 1)

export const onPostgres = <I, S>(
  tag: Context.Tag<I, S>,
  layer: Layer.Layer<I, never, SqlClient.SqlClient>
): Open<S> => inDatabase(tag, layer, Effect.map(migratedDatabase, postgresAt), Infinity)

/** Runs the same tests of a port on both databases. */
export const onEverySqlBackend = <I, S>(
  tag: Context.Tag<I, S>,
  layer: Layer.Layer<I, never, SqlClient.SqlClient>,
  tests: (open: Open<S>) => void
): void => {
  describe("on SQLite", () => tests(onSqlite(tag, layer)))
  describePostgres("on PostgreSQL", () => tests(onPostgres(tag, layer)))
}

/** Runs the same tests of a port on each of its backends. */
export const onEveryBackend = <I, S>(
  tag: Context.Tag<I, S>,
  layers: { readonly memory: Layer.Layer<I>; readonly sql: Layer.Layer<I, never, SqlClient.SqlClient> },
  tests: (open: Open<S>) => void
): void => {
  describe("in memory", () => tests(inMemory(tag, layers.memory)))
  onEverySqlBackend(tag, layers.sql, tests)
}

/** Runs tests that need the SQL client itself on both databases. Each use of the layer finds its tables empty. */
export const onEveryDatabase = (tests: (client: Layer.Layer<SqlClient.SqlClient>) => void): void => {
  const emptied = (database: Effect.Effect<Layer.Layer<SqlClient.SqlClient>, never, Scope.Scope>) =>
    Layer.effectContext(Effect.flatMap(sharedDatabase(database, Layer.empty), (clientAt) => clientAt(0)))
  describe("on SQLite", () => tests(emptied(Effect.succeed(sqlite))))
  describePostgres("on PostgreSQL", () => tests(emptied(Effect.map(migratedDatabase, postgresAt))))
}

/** Runs tests on both databases, each use of the layer on a new one that is not migrated. */
export const emptyDatabases = (tests: (client: Layer.Layer<SqlClient.SqlClient>) => void): void => {
  describe("on SQLite", () => tests(emptySqlite))
  describePostgres("on PostgreSQL", () =>
    tests(Layer.unwrapScoped(Effect.map(freshDatabase, (url) => postgresAt(url))))
  )
}
