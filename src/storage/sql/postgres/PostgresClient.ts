import { SqlClient } from "@effect/sql"
import { SqlError } from "@effect/sql/SqlError"
import { PgClient } from "@effect/sql-pg"
import { Context, Duration, Effect, FiberRef, Layer, type Scope } from "effect"
import type { Pool } from "pg"
import { GatheringTurn } from "../../../fibers/Batcher.ts"
import { withDirect } from "../DirectSql.ts"
import { DatabaseServers } from "./DatabaseServers.ts"
import * as DirectQuery from "./DirectQuery.ts"
import { reasonOf } from "./PrimaryClient.ts"
import { type ConnectionOptions, PrimaryPool } from "./PrimaryPool.ts"

/** The connections of a node's stores. */
export const connections: ConnectionOptions = {
  applicationName: "linkmint",
  maxConnections: 20,
  connectTimeout: Duration.seconds(2),
  answerTimeout: Duration.seconds(4),
  idleTimeout: Duration.minutes(1)
}

const makePool = (options: ConnectionOptions, isAsked: boolean) =>
  Effect.acquireRelease(
    Effect.gen(function* () {
      const servers = yield* DatabaseServers
      const clock = yield* Effect.clock
      return yield* Effect.tryPromise({
        try: async () => {
          const pool = new PrimaryPool(servers, options, clock)
          if (isAsked) await pool.query("SELECT 1")
          return pool
        },
        catch: (cause) => new SqlError({ cause, message: `Failed to acquire connection: ${reasonOf(cause)}` })
      })
    }),
    (pool) =>
      Effect.promise(() => pool.end()).pipe(Effect.interruptible, Effect.timeoutOption(Duration.seconds(1)))
  )

/** A client of a pool's connections, whose statements can also be had by a call (`DirectSql`). */
export const layerFromPool = <R>(
  acquire: Effect.Effect<Pool, SqlError, Scope.Scope | R>
): Layer.Layer<SqlClient.SqlClient, SqlError, Exclude<R, Scope.Scope>> =>
  Layer.unwrapScoped(
    Effect.gen(function* () {
      const pool = yield* acquire
      const scheduler = yield* FiberRef.get(FiberRef.currentScheduler)
      const turn = (yield* GatheringTurn) ?? ((next) => scheduler.scheduleTask(next, 0))
      return Layer.map(PgClient.layerFromPool({ acquire: Effect.succeed(pool) }), (context) =>
        Context.make(
          SqlClient.SqlClient,
          withDirect(
            Context.get(context, SqlClient.SqlClient),
            DirectQuery.asking(pool),
            DirectQuery.askingTogether(pool, turn)
          )
        )
      )
    })
  )

/** Connections to the primary. One that cannot be had in time is an error, and so is a statement that is not answered in time. */
export const layerBounded = (
  options: ConnectionOptions
): Layer.Layer<SqlClient.SqlClient, SqlError, DatabaseServers> => layerFromPool(makePool(options, true))

/** At most 20 connections, each within 2 s; statements are answered within 4 s. See {@link layerBounded}. */
export const layer: Layer.Layer<SqlClient.SqlClient, SqlError, DatabaseServers> = layerBounded(connections)

/** The same, whether or not a server answers now: each statement shows that for itself. */
export const layerUnasked: Layer.Layer<SqlClient.SqlClient, SqlError, DatabaseServers> = layerFromPool(
  makePool(connections, false)
)

const unbounded: ConnectionOptions = {
  applicationName: "linkmint-migrate",
  maxConnections: 2,
  connectTimeout: connections.connectTimeout,
  answerTimeout: Duration.zero,
  idleTimeout: connections.idleTimeout,
  bounds: { idleInTransaction_ms: 30_000 }
}

/** Two connections without a bound on statements, for migrations and counts, which may take long; a transaction that is idle for 30 s is rolled back. */
export const layerUnbounded: Layer.Layer<SqlClient.SqlClient, SqlError, DatabaseServers> =
  layerBounded(unbounded)

/** The same, whether or not a server answers now. */
export const layerUnboundedUnasked: Layer.Layer<SqlClient.SqlClient, SqlError, DatabaseServers> =
  layerFromPool(makePool(unbounded, false))
