import { Reactivity } from "@effect/experimental"
import { SqlClient, SqlError } from "@effect/sql"
import type { Connection } from "@effect/sql/SqlConnection"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Scope, Stream } from "effect"
import { connections } from "../../node/ClusterRunner.ts"
import type { PgConnection } from "./PgConnection.ts"
import { PgPool, type PoolOptions } from "./PgPool.ts"
import type { Row } from "./RunnerStatements.ts"

const failed = (cause: Error, message: string) => Effect.fail(new SqlError.SqlError({ cause, message }))

/** How long a cancelled statement's cancellation is waited for. */
const cancelMax_ms = 5_000

/** Asks the database not to go on with a statement, as `PgClient` does when its fiber is interrupted: with a connection more. */
const cancel = (pool: PgPool, connection: PgConnection) =>
  Effect.async<void>((resume) => {
    pool.connect((other) => {
      if (other instanceof Error) return resume(Effect.void)
      other.query(`SELECT pg_cancel_backend(${connection.pid})`, [], () => {
        pool.release(other)
        resume(Effect.void)
      })
    })
  }).pipe(Effect.interruptible, Effect.timeoutOption(cancelMax_ms), Effect.asVoid)

type Resume = (effect: Effect.Effect<ReadonlyArray<Row>, SqlError.SqlError>) => void

const ask = (connection: PgConnection, sql: string, parameters: ReadonlyArray<unknown>, resume: Resume) =>
  connection.query(sql, parameters, (result) =>
    resume(result instanceof Error ? failed(result, "Failed to execute statement") : Effect.succeed(result))
  )

type Execute = (
  sql: string,
  parameters: ReadonlyArray<unknown>
) => Effect.Effect<ReadonlyArray<Row>, SqlError.SqlError>

/** A connection that is the caller's, until its scope closes. */
const onReserved =
  (pool: PgPool, connection: PgConnection): Execute =>
  (sql, parameters) =>
    Effect.async((resume) => {
      ask(connection, sql, parameters, resume)
      return cancel(pool, connection)
    })

/** Any connection of the pool, for one statement. */
const onAny =
  (pool: PgPool): Execute =>
  (sql, parameters) =>
    Effect.async((resume) => {
      let isDone = false
      let leased: PgConnection | undefined
      const finish = (error?: Error) => {
        if (!isDone && leased !== undefined) pool.release(leased, error)
        isDone = true
      }
      pool.connect((connection) => {
        if (connection instanceof Error) return resume(failed(connection, "Failed to acquire connection"))
        if (isDone) return pool.release(connection)
        leased = connection
        ask(connection, sql, parameters, (effect) => {
          finish()
          resume(effect)
        })
      })
      return Effect.suspend(() =>
        Effect.ensuring(
          leased === undefined ? Effect.void : cancel(pool, leased),
          Effect.sync(() => finish())
        )
      )
    })

const connectionOf = (execute: Execute): Connection => ({
  execute: (sql, parameters) => execute(sql, parameters),
  executeRaw: (sql, parameters) => Effect.map(execute(sql, parameters), (rows) => ({ rows })),
  executeStream: () => Stream.dieMessage("the simulated database has no cursors"),
  executeValues: (sql, parameters) =>
    Effect.map(execute(sql, parameters), (rows) => rows.map((row) => Object.values(row))),
  executeUnprepared: (sql, parameters) => execute(sql, parameters)
})

const reserve = (pool: PgPool): Effect.Effect<Connection, SqlError.SqlError, Scope.Scope> =>
  Effect.flatMap(Effect.scope, (scope) =>
    Effect.async<PgConnection, SqlError.SqlError>((resume) =>
      pool.connect((connection) => {
        if (connection instanceof Error)
          return resume(failed(connection, "Failed to acquire connection for transaction"))
        let error: Error | undefined
        connection.whenBroken = (cause) => {
          error = cause
        }
        const giveBack = Effect.sync(() => pool.release(connection, error))
        resume(Effect.as(Scope.addFinalizer(scope, giveBack), connection))
      })
    ).pipe(Effect.map((connection) => connectionOf(onReserved(pool, connection))))
  )

/**
 * `PgClient` of `@effect/sql-pg` 0.53 on virtual connections, with its pool's bounds: what it does about statements that are interrupted and about
 * connections that break included.
 */
export const layer = (options: PoolOptions): Layer.Layer<SqlClient.SqlClient, SqlError.SqlError> =>
  Layer.scoped(
    SqlClient.SqlClient,
    Effect.gen(function* () {
      const pool = new PgPool(options)
      const any = connectionOf(onAny(pool))
      yield* Effect.acquireRelease(any.execute("SELECT 1", [], undefined), () =>
        Effect.sync(() => pool.end())
      ).pipe(
        Effect.timeoutFail({
          duration: connections.connectTimeout,
          onTimeout: () =>
            new SqlError.SqlError({ cause: undefined, message: "PgClient: Connection timed out" })
        })
      )
      return yield* SqlClient.make({
        acquirer: Effect.succeed(any),
        transactionAcquirer: reserve(pool),
        compiler: PgClient.makeCompiler(),
        spanAttributes: []
      })
    })
  ).pipe(Layer.provide(Reactivity.layer))
