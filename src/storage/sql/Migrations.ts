import { Migrator, SqlClient } from "@effect/sql"
import { SqlError } from "@effect/sql/SqlError"
import { Data, Duration, Effect, Layer, Option, Schedule } from "effect"
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

/** The number of the last one. */
export const newest: number = Math.max(...Object.keys(migrations).map((name) => Number.parseInt(name)))

/** The advisory lock that makes nodes that start at once migrate one after the other. An arbitrary fixed number. */
const migrationLock = 5_012_704_417

class MigratedByAnother extends Data.TaggedError("MigratedByAnother")<{}> {
  override readonly message = "another node has been migrating for too long"
}

/** How often a node looks whether another one's migration is done, and for how long at most: copying 100 M links takes about so long. */
const whileLocked = Schedule.spaced(Duration.millis(100)).pipe(Schedule.upTo(Duration.minutes(15)))

/** The table of the migrations that a database has. */
export const table = "linkmint_migrations"

const run = Migrator.make({})({ loader: Migrator.fromRecord(migrations), table })

/** Asks again and again rather than waiting inside PostgreSQL, where a client that limits its statements' time would give up. */
const locked = Effect.gen(function* () {
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
  return yield* Effect.uninterruptible(run)
}).pipe(Effect.scoped)

const reasonOf = (error: unknown): string =>
  error instanceof Error && error.cause !== undefined
    ? `${error.message}: ${reasonOf(error.cause)}`
    : String(error)

const storageError = (error: unknown) =>
  new StorageError({ operation: "migrate", applied: "unknown", reason: reasonOf(error) })

/**
 * Brings the schema to the newest version. Safe when several nodes start at once: on PostgreSQL an advisory lock
 * lets one in at a time, for which the pool needs two connections; an SQLite file has one process.
 */
export const migrate = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.onDialectOrElse({ orElse: () => run, pg: () => locked })
).pipe(
  // A migration's failed statement and a failed commit are defects in `@effect/sql` 0.52.
  Effect.catchSomeDefect((defect) =>
    defect instanceof SqlError || defect instanceof Migrator.MigrationError
      ? Option.some(Effect.fail(defect))
      : Option.none()
  ),
  Effect.mapError(storageError)
)

/** Migrates before anything that depends on it starts. */
export const layer: Layer.Layer<never, StorageError, SqlClient.SqlClient> = Layer.effectDiscard(migrate)
