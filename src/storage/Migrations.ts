import { Migrator, SqlClient } from "@effect/sql"
import { Effect, Layer } from "effect"
import { linksAndKeys } from "./migrations/0001_links_and_keys.ts"
import { StorageError } from "./StorageError.ts"

const migrations = Migrator.fromRecord({
  "0001_links_and_keys": linksAndKeys
})

/** The advisory lock that makes nodes that start at once migrate one after the other. An arbitrary fixed number. */
const migrationLock = 5_012_704_417

/** How long a node waits for another one's migration, in milliseconds. */
const migrationLockWaitMax_ms = 60_000

const run = Migrator.make({})({ loader: migrations, table: "linkmint_migrations" })

/**
 * Brings the schema to the newest version. Safe when several nodes start at once: on PostgreSQL an advisory lock
 * lets one in at a time; an SQLite file has one process.
 */
export const migrate = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const locked = Effect.scoped(
    Effect.gen(function* () {
      const connection = yield* sql.reserve
      const send = (statement: string) => connection.executeUnprepared(statement, [], undefined)
      yield* send(`SET lock_timeout = ${migrationLockWaitMax_ms}`)
      yield* Effect.acquireRelease(send(`SELECT pg_advisory_lock(${migrationLock})`), () =>
        Effect.ignore(send(`SELECT pg_advisory_unlock(${migrationLock})`))
      )
      yield* send("SET lock_timeout = 0")
      return yield* run
    })
  )
  return yield* sql.onDialectOrElse({ orElse: () => run, pg: () => Effect.uninterruptible(locked) })
}).pipe(
  Effect.catchAll(
    (error) => new StorageError({ operation: "migrate", applied: "unknown", reason: String(error) })
  )
)

/** Migrates before anything that depends on it starts. */
export const layer: Layer.Layer<never, StorageError, SqlClient.SqlClient> = Layer.effectDiscard(migrate)
