import { SqlClient, type SqlConnection } from "@effect/sql"
import { SqlError } from "@effect/sql/SqlError"
import { Cause, Effect, Exit, Option } from "effect"
import { StorageError } from "../StorageError.ts"

/** A SQLSTATE of PostgreSQL. Its first characters are none that begin an error code of the operating system, like `EPIPE`. */
const sqlState = /^[0-9FHPX][0-9A-Z]{4}$/

/** SQLSTATE classes and codes after which PostgreSQL may have committed: the connection or the server went away. */
const uncertainSqlState = /^(08|57P0[123]|40003|XX)/

const codeOf = (cause: unknown): string | undefined =>
  typeof cause === "object" && cause !== null && "code" in cause ? String(cause.code) : undefined

/**
 * Whether a failed statement can have been applied. An error that the database itself reports for the statement (a SQLSTATE, an SQLite
 * result code) rolled it back; a connection that was never had sent nothing; all else is unknown.
 */
const appliedAfter = (error: SqlError): "no" | "unknown" => {
  if (error.message.startsWith("Failed to acquire connection")) return "no"
  const code = codeOf(error.cause)
  if (code === undefined) return "unknown"
  if (code.startsWith("SQLITE_")) return code.startsWith("SQLITE_IOERR") ? "unknown" : "no"
  return sqlState.test(code) && !uncertainSqlState.test(code) ? "no" : "unknown"
}

/** Whether PostgreSQL rolled a statement back since it did not get a lock: in time, or at all because of a deadlock. */
export const isLockRefused = (error: unknown): boolean =>
  error instanceof SqlError && /^(55P03|40P01)$/.test(codeOf(error.cause) ?? "")

const reasonOf = (error: SqlError) =>
  error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message

/** An SQL error of an operation. */
export const storageErrorOf = (operation: string, error: SqlError): StorageError =>
  new StorageError({ operation, applied: appliedAfter(error), reason: reasonOf(error) })

/** Turns SQL errors that reach us as defects back into errors: of a failed `COMMIT` or savepoint (`@effect/sql` 0.52). */
export const withSqlDefects = <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError, R> =>
  Effect.catchSomeDefect(self, (defect) =>
    defect instanceof SqlError ? Option.some(Effect.fail(defect)) : Option.none()
  )

/** Turns SQL errors of an operation into `StorageError`s that name it, also those that reach us as defects. */
export const asStorageError =
  (operation: string) =>
  <A, E, R>(
    self: Effect.Effect<A, E | SqlError, R>
  ): Effect.Effect<A, Exclude<E, SqlError> | StorageError, R> =>
    Effect.mapError(withSqlDefects(self), (error) =>
      error instanceof SqlError
        ? storageErrorOf(operation, error)
        : (error as Exclude<E, SqlError> | StorageError)
    )

/**
 * The same connection, whose statements run to their end even if their fiber is interrupted meanwhile. To cancel one,
 * `@effect/sql-pg` 0.53 takes a second connection of the pool: where many are interrupted at once there is none, all wait for
 * five seconds, and then each cancels the next statement of the other's connection.
 */
const finishing = (connection: SqlConnection.Connection): SqlConnection.Connection => ({
  execute: (...args) => Effect.uninterruptible(connection.execute(...args)),
  executeRaw: (...args) => Effect.uninterruptible(connection.executeRaw(...args)),
  executeStream: (...args) => connection.executeStream(...args),
  executeValues: (...args) => Effect.uninterruptible(connection.executeValues(...args)),
  executeUnprepared: (...args) => Effect.uninterruptible(connection.executeUnprepared(...args))
})

/** PostgreSQL answers `COMMIT` with `ROLLBACK`, and no error, where a statement had failed before. */
const commit = (connection: SqlConnection.Connection) =>
  Effect.filterOrFail(
    connection.executeRaw("COMMIT", []),
    (result) => (result as { readonly command: string }).command === "COMMIT",
    () => {
      const cause = Object.assign(new Error("a statement failed"), { code: "25P02" })
      return new SqlError({ cause, message: "The transaction was rolled back" })
    }
  )

const inPostgresTransaction = <A, E, R>(sql: SqlClient.SqlClient, effect: Effect.Effect<A, E, R>) =>
  Effect.uninterruptibleMask((restore) =>
    Effect.scoped(
      Effect.gen(function* () {
        const connection = finishing(yield* sql.reserve)
        yield* connection.executeUnprepared("BEGIN", [], undefined)
        const exit = yield* restore(
          Effect.provideService(effect, SqlClient.TransactionConnection, [connection, 0])
        ).pipe(Effect.exit)
        if (Exit.isSuccess(exit)) {
          yield* commit(connection)
          return exit.value
        }
        yield* Effect.ignore(connection.executeUnprepared("ROLLBACK", [], undefined))
        return yield* Effect.failCause(exit.cause as Cause.Cause<E>)
      })
    )
  )

/**
 * Runs an effect in one transaction: its statements are committed together when it succeeds and rolled back
 * when it fails or is interrupted. Within another one it is a savepoint of that.
 *
 * On PostgreSQL this replaces `sql.withTransaction`, which calls a transaction committed that PostgreSQL rolled back, and does not
 * shield statements from interruption (see `finishing`). Waiting for a connection cannot be interrupted either, because an
 * interrupted wait loses the connection (`@effect/sql-pg` 0.53); the pool's connect timeout bounds it.
 */
export const inTransaction = <A, E, R>(
  sql: SqlClient.SqlClient,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E | SqlError, R> =>
  sql.onDialectOrElse({
    orElse: () => sql.withTransaction(effect),
    pg: () =>
      Effect.flatMap(Effect.serviceOption(SqlClient.TransactionConnection), (outer) =>
        Option.isSome(outer) ? sql.withTransaction(effect) : inPostgresTransaction(sql, effect)
      )
  })

/** {@link inTransaction} as a step of a pipe. */
export const transactional =
  (sql: SqlClient.SqlClient) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError, R> =>
    inTransaction(sql, effect)
