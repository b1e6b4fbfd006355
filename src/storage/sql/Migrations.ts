import { SqlClient, type SqlConnection } from "@effect/sql"
import type { SqlError } from "@effect/sql/SqlError"
import { Clock, Data, Duration, Effect, Layer, Schedule } from "effect"
import { linksAndKeys } from "./migrations/0001_links_and_keys.ts"
import { linkFields } from "./migrations/0002_link_fields.ts"
import { accounts } from "./migrations/0003_accounts.ts"
import { visits } from "./migrations/0004_visits.ts"
import { lifetime } from "./migrations/0005_lifetime.ts"
import { idempotency } from "./migrations/0006_idempotency.ts"
import { webhooks } from "./migrations/0007_webhooks.ts"
import { keyStocks } from "./migrations/0008_key_stocks.ts"
import { nodes } from "./migrations/0009_nodes.ts"
import { shortUrlHashes } from "./migrations/0010_short_url_hashes.ts"
import { valuesInPeriods } from "./migrations/0011_values_in_periods.ts"
import { webhookReceivers } from "./migrations/0012_webhook_receivers.ts"
import { keyedHashes } from "./migrations/0013_keyed_hashes.ts"
import { audit } from "./migrations/0014_audit.ts"
import { sessions } from "./migrations/0015_sessions.ts"
import { databaseMark } from "./migrations/0016_database_mark.ts"
import { linkRemovals } from "./migrations/0017_link_removals.ts"
import { oneLinksTable } from "./migrations/0018_one_links_table.ts"
import { urlIndexedOwners } from "./migrations/0019_url_indexed_owners.ts"
import { totalsFromPeriods } from "./migrations/0020_totals_from_periods.ts"
import { bucketPlacement } from "./migrations/0021_bucket_placement.ts"
import { linkEpoch } from "./migrations/0022_link_epoch.ts"
import { linkOutbox } from "./migrations/0023_link_outbox.ts"
import { bucketMoves } from "./migrations/0024_bucket_moves.ts"
import { domains } from "./migrations/0025_domains.ts"
import { importedVisits } from "./migrations/0026_imported_visits.ts"
import { linkExtras } from "./migrations/0027_link_extras.ts"
import { longAliases } from "./migrations/0028_long_aliases.ts"
import { archivedLinks } from "./migrations/0029_archived_links.ts"
import { linkRanks } from "./migrations/0030_link_ranks.ts"
import { visitsApart } from "./migrations/0031_visits_apart.ts"
import { visitors } from "./migrations/0032_visitors.ts"
import { archivedStatistics } from "./migrations/0033_archived_statistics.ts"
import { StorageError } from "../StorageError.ts"
import { inTransaction, isLockRefused, withSqlDefects } from "./SqlTransaction.ts"

/** All of them, by number and name. */
export const migrations = {
  "0001_links_and_keys": linksAndKeys,
  "0002_link_fields": linkFields,
  "0003_accounts": accounts,
  "0004_visits": visits,
  "0005_lifetime": lifetime,
  "0006_idempotency": idempotency,
  "0007_webhooks": webhooks,
  "0008_key_stocks": keyStocks,
  "0009_nodes": nodes,
  "0010_short_url_hashes": shortUrlHashes,
  "0011_values_in_periods": valuesInPeriods,
  "0012_webhook_receivers": webhookReceivers,
  "0013_keyed_hashes": keyedHashes,
  "0014_audit": audit,
  "0015_sessions": sessions,
  "0016_database_mark": databaseMark,
  "0017_link_removals": linkRemovals,
  "0018_one_links_table": oneLinksTable,
  "0019_url_indexed_owners": urlIndexedOwners,
  "0020_totals_from_periods": totalsFromPeriods,
  "0021_bucket_placement": bucketPlacement,
  "0022_link_epoch": linkEpoch,
  "0023_link_outbox": linkOutbox,
  "0024_bucket_moves": bucketMoves,
  "0025_domains": domains,
  "0026_imported_visits": importedVisits,
  "0027_link_extras": linkExtras,
  "0028_long_aliases": longAliases,
  "0029_archived_links": archivedLinks,
  "0030_link_ranks": linkRanks,
  "0031_visits_apart": visitsApart,
  "0032_visitors": visitors,
  "0033_archived_statistics": archivedStatistics
}

const inOrder = Object.entries(migrations)
  .map(([name, change]) => ({ number: Number.parseInt(name), name, change }))
  .toSorted((a, b) => a.number - b.number)

type Migration = (typeof inOrder)[number]

/** The number of the last one. */
export const newest: number = Math.max(...inOrder.map(({ number }) => number))

/** The advisory lock that makes nodes that start at once migrate one after the other. An arbitrary fixed number. */
const migrationLock = 5_012_704_417

class MigratedByAnother extends Data.TaggedError("MigratedByAnother")<{}> {
  override readonly message = "another node has been migrating for too long"
}

/** How often a node looks whether another one's migration is done, and for how long at most: copying 100 M links takes about so long. */
const whileLocked = Schedule.spaced(Duration.millis(100)).pipe(Schedule.upTo(Duration.minutes(15)))

/**
 * How long a statement of a migration waits for a lock, while all that need its table wait behind it: longer than PostgreSQL's `deadlock_timeout` of 1 s,
 * after which an autovacuum gives way, and shorter than the 2.5 s that a node's statement waits.
 */
const lockTimeout_ms = 1_500

/** How long a migration that got no lock leaves the table to others. */
const pause = Duration.seconds(5)

/** How often a migration that still gets no lock logs that. */
const loggedEvery_ms = 60_000

/** How often a node looks what its migration waits for. */
const lookedEvery = Duration.millis(500)

/** The table of the migrations that a database has. */
export const table = "linkmint_migrations"

/** A migration of this name failed. */
class MigrationFailed extends Error {
  override readonly name = "MigrationFailed"
}

const createTable = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.onDialectOrElse({
    orElse: () => sql`CREATE TABLE IF NOT EXISTS ${sql(table)} (
      migration_id integer PRIMARY KEY NOT NULL,
      created_at datetime NOT NULL DEFAULT current_timestamp,
      name VARCHAR(255) NOT NULL
    )`,
    // A role that may create nothing is enough where there is nothing to create.
    pg: () =>
      Effect.flatMap(sql<{ there: boolean }>`SELECT to_regclass(${table}) IS NOT NULL AS there`, ([row]) =>
        row!.there
          ? Effect.succeed([])
          : sql`CREATE TABLE ${sql(table)} (
              migration_id integer PRIMARY KEY,
              created_at timestamp with time zone NOT NULL DEFAULT now(),
              name text NOT NULL
            )`
      )
  })
)

/** Says what the session `pid` waits for, and for whom, if it waits. */
const waitOf = (connection: SqlConnection.Connection, pid: number) =>
  Effect.map(
    connection.executeUnprepared(
      `SELECT waiting.mode || ' on ' || coalesce(waiting.relation::regclass::text, waiting.locktype) || ', held by '
         || coalesce(string_agg(concat_ws(' ', 'pid', holder.pid, '(' || activity.application_name || ')'), ', '), 'others') AS wait
       FROM pg_locks AS waiting
       LEFT JOIN LATERAL unnest(pg_blocking_pids(waiting.pid)) AS holder (pid) ON TRUE
       LEFT JOIN pg_stat_activity AS activity ON activity.pid = holder.pid
       WHERE waiting.pid = ${pid} AND NOT waiting.granted
       GROUP BY waiting.mode, waiting.relation, waiting.locktype`,
      [],
      undefined
    ),
    ([row]) => row?.wait as string | undefined
  )

/** Runs a migration in a transaction of its own, unless the database has it. */
const applyOnce = ({ change, name, number }: Migration, begun: Effect.Effect<void, SqlError>) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    inTransaction(
      sql,
      Effect.gen(function* () {
        yield* begun
        const rows = yield* sql`INSERT INTO ${sql(table)} (migration_id, name)
          VALUES (${number}, ${name.slice(name.indexOf("_") + 1)}) ON CONFLICT DO NOTHING RETURNING migration_id`
        if (rows.length > 0) yield* change
      })
    )
  ).pipe(withSqlDefects, Effect.uninterruptible)

/** The same on PostgreSQL, again and again as long as it does not get its locks. `connection` is another one, to look what it waits for. */
const applyPersistently = (migration: Migration, connection: SqlConnection.Connection) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    let pid = 0
    let wait: string | undefined
    let logged_ms = -Infinity
    const begun = Effect.map(
      sql<{
        pid: number
      }>`SELECT pg_backend_pid() AS pid, set_config('lock_timeout', ${String(lockTimeout_ms)}, true)`,
      ([row]) => {
        pid = row!.pid
      }
    )
    const look = Effect.suspend(() => waitOf(connection, pid)).pipe(
      Effect.map((seen) => {
        wait = seen ?? wait
      }),
      Effect.ignore,
      Effect.uninterruptible
    )
    const looking = Effect.interruptible(Effect.forever(Effect.delay(look, lookedEvery)))
    const attempt = Effect.scoped(Effect.zipRight(Effect.forkScoped(looking), applyOnce(migration, begun)))
    const logWait = Effect.gen(function* () {
      const now_ms = yield* Clock.currentTimeMillis
      if (now_ms - logged_ms < loggedEvery_ms) return
      logged_ms = now_ms
      yield* Effect.logInfo(
        `Migration ${migration.name} waits for a lock and is tried again every ${Duration.toSeconds(pause)} s: ${wait ?? "unknown"}`
      )
    })
    yield* attempt.pipe(
      Effect.tapError((error) => (isLockRefused(error) ? logWait : Effect.void)),
      Effect.retry({ schedule: Schedule.spaced(pause), while: isLockRefused })
    )
  })

/** Runs those that the database does not have, up to number `last`, one after the other. What is done stays done when a later one fails. */
const run = (
  last: number,
  apply: (migration: Migration) => Effect.Effect<void, unknown, SqlClient.SqlClient>
) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* createTable
    const [row] = yield* sql<{ id: number | null }>`SELECT max(migration_id) AS id FROM ${sql(table)}`
    const had = row!.id ?? 0
    // A new database gets all of them at once.
    const log = had === 0 ? Effect.logDebug : Effect.logInfo
    yield* Effect.forEach(
      inOrder.filter(({ number }) => number > had && number <= last),
      (migration) =>
        Effect.gen(function* () {
          yield* log(`Migrating the database to ${migration.name} …`)
          const [lasted] = yield* apply(migration).pipe(
            Effect.mapError((cause) => new MigrationFailed(`migration ${migration.name} failed`, { cause })),
            Effect.timed
          )
          yield* log(
            `Migrated the database to ${migration.name} in ${Duration.toSeconds(lasted).toFixed(1)} s`
          )
        }),
      { discard: true }
    )
  })

/** Asks again and again rather than waiting inside PostgreSQL, where a client that limits its statements' time would give up. */
const locked = (last: number) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const connection = yield* Effect.uninterruptible(sql.reserve)
    const ask = (what: string) =>
      Effect.map(
        connection.executeUnprepared(`SELECT ${what}(${migrationLock}) AS done`, [], undefined),
        (rows) => rows[0].done === true
      )
    const lock = ask("pg_try_advisory_lock").pipe(
      Effect.filterOrFail(Boolean, () => new MigratedByAnother()),
      Effect.retry({ schedule: whileLocked, while: (error) => error._tag === "MigratedByAnother" })
    )
    yield* Effect.acquireRelease(lock, () => Effect.ignore(ask("pg_advisory_unlock")))
    return yield* run(last, (migration) => applyPersistently(migration, connection))
  }).pipe(Effect.scoped)

const reasonOf = (error: unknown): string =>
  error instanceof Error && error.cause !== undefined
    ? `${error.message}: ${reasonOf(error.cause)}`
    : String(error)

const storageError = (error: unknown) =>
  new StorageError({ operation: "migrate", applied: "unknown", reason: reasonOf(error) })

/** {@link migrate} as a version does whose last migration has the number `last`. */
export const migrateTo = (last: number): Effect.Effect<void, StorageError, SqlClient.SqlClient> =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    sql.onDialectOrElse({
      orElse: () => run(last, (migration) => applyOnce(migration, Effect.void)),
      pg: () => locked(last)
    })
  ).pipe(Effect.mapError(storageError))

/**
 * Brings the schema to the newest version, each migration in a transaction of its own, so that its locks are free before the next one begins. Safe when several nodes
 * start at once: on PostgreSQL an advisory lock lets one in at a time, for which the pool needs two connections; an SQLite file has one process.
 *
 * On PostgreSQL a migration that does not get a lock in {@link lockTimeout_ms} is rolled back and tried again after a {@link pause}, without end: a dump of the database,
 * which holds its locks for as long as it takes, delays it, and no reader or writer waits for long behind it.
 */
export const migrate: Effect.Effect<void, StorageError, SqlClient.SqlClient> = migrateTo(newest)

/** Migrates before anything that depends on it starts. */
export const layer: Layer.Layer<never, StorageError, SqlClient.SqlClient> = Layer.effectDiscard(migrate)
