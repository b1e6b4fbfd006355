import { SqlClient } from "@effect/sql"
import type { SqlError } from "@effect/sql/SqlError"
import { PgClient } from "@effect/sql-pg"
import { Data, Duration, Effect, Layer, type Redacted } from "effect"

/** Another process works on this database. */
export class DatabaseInUse extends Data.TaggedError("DatabaseInUse")<{}> {
  override readonly message =
    "Another Linkmint process works on this database. Without a cluster there can be one at a time: stop it first."
}

/** Connections of one node at most. */
const connectionsMax = 20

/** A pool of connections to PostgreSQL; one that cannot be had within 2 s is an error. */
export const layer = (url: Redacted.Redacted): Layer.Layer<SqlClient.SqlClient, SqlError> =>
  PgClient.layer({
    url,
    maxConnections: connectionsMax,
    connectTimeout: Duration.seconds(2),
    idleTimeout: Duration.minutes(1),
    applicationName: "linkmint"
  })

/** The advisory lock of the process that has the database for itself. An arbitrary fixed number. */
const soleProcessLock = 5_012_704_418

/**
 * Has the database for this process alone, by an advisory lock on a connection that stays open; PostgreSQL frees it with the connection. Two
 * processes without a cluster would each cache what the other changes.
 */
export const layerSoleProcess: Layer.Layer<never, SqlError | DatabaseInUse, SqlClient.SqlClient> =
  Layer.scopedDiscard(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const connection = yield* Effect.uninterruptible(sql.reserve)
      const rows = yield* connection.executeUnprepared(
        `SELECT pg_try_advisory_lock(${soleProcessLock}) AS locked`,
        [],
        undefined
      )
      if (rows[0]?.locked !== true) return yield* new DatabaseInUse()
      yield* Effect.addFinalizer(() =>
        Effect.ignore(
          connection.executeUnprepared(`SELECT pg_advisory_unlock(${soleProcessLock})`, [], undefined)
        )
      )
    })
  )
