import { SqlClient } from "@effect/sql"
import { SqlError } from "@effect/sql/SqlError"
import { Cause, Effect, Exit, Option } from "effect"
import { StorageError } from "./StorageError.ts"

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
  return /^[0-9A-Z]{5}$/.test(code) && !uncertainSqlState.test(code) ? "no" : "unknown"
}

const reasonOf = (error: SqlError) =>
  error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message

const storageError = (operation: string, error: SqlError) =>
  new StorageError({ operation, applied: appliedAfter(error), reason: reasonOf(error) })

/**
 * Turns SQL errors of an operation into `StorageError`s that name it. A failed `COMMIT` reaches us as a defect
 * (`@effect/sql` 0.52) and becomes a `StorageError` of unknown outcome.
 */
export const asStorageError =
  (operation: string) =>
  <A, E, R>(
    self: Effect.Effect<A, E | SqlError, R>
  ): Effect.Effect<A, Exclude<E, SqlError> | StorageError, R> =>
    self.pipe(
      Effect.catchSomeDefect((defect) =>
        defect instanceof SqlError
          ? Option.some(
              Effect.fail(new StorageError({ operation, applied: "unknown", reason: reasonOf(defect) }))
            )
          : Option.none()
      ),
      Effect.mapError((error) =>
        error instanceof SqlError
          ? storageError(operation, error)
          : (error as Exclude<E, SqlError> | StorageError)
      )
    )

/**
 * Runs an effect in one transaction: its statements are committed together when it succeeds and rolled back
 * when it fails or is interrupted.
 *
 * On PostgreSQL this replaces `sql.withTransaction`, which keeps the pooled connection for good when `BEGIN` fails, and reports a
 * failed `COMMIT` as a defect. Waiting for a connection cannot be interrupted, because an interrupted wait loses the connection
 * (`@effect/sql-pg` 0.53); the pool's connect timeout bounds it.
 */
export const inTransaction = <A, E, R>(
  sql: SqlClient.SqlClient,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E | SqlError, R> =>
  sql.onDialectOrElse({
    orElse: () => sql.withTransaction(effect),
    pg: () =>
      Effect.uninterruptibleMask((restore) =>
        Effect.scoped(
          Effect.gen(function* () {
            const connection = yield* sql.reserve
            const send = (statement: string) => connection.executeUnprepared(statement, [], undefined)
            yield* send("BEGIN")
            const exit = yield* restore(
              Effect.provideService(effect, SqlClient.TransactionConnection, [connection, 0])
            ).pipe(Effect.exit)
            if (Exit.isSuccess(exit)) {
              yield* send("COMMIT")
              return exit.value
            }
            yield* Effect.ignore(send("ROLLBACK"))
            return yield* Effect.failCause(exit.cause as Cause.Cause<E>)
          })
        )
      )
  })
