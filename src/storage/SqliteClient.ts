import type { SqlClient } from "@effect/sql/SqlClient"
import { LibsqlClient } from "@effect/sql-libsql"
import { createClient } from "@libsql/client/sqlite3"
import type { Client, InArgs, InStatement, ResultSet, Transaction } from "@libsql/client"
import { Data, Duration, Effect, Layer, Runtime, Schedule, Scope } from "effect"

/** The database file could not be opened. `path` is the file, `cause` the driver's error. */
export class SqliteOpenError extends Data.TaggedError("SqliteOpenError")<{
  readonly path: string
  readonly cause: unknown
}> {
  override get message() {
    return `Cannot open the SQLite database ${this.path}: ${String(this.cause)}`
  }
}

/** How long a statement waits for a database that another process has locked, before it fails. */
const busyWaitMax = Duration.seconds(4)

const isBusy = (error: unknown) =>
  typeof error === "object" &&
  error !== null &&
  "code" in error &&
  String(error.code).startsWith("SQLITE_BUSY")

/**
 * Waiting happens in Effect, not by `PRAGMA busy_timeout`: the driver is synchronous, so its own waiting would
 * stop the event loop, and with it every redirect.
 */
const retryWhileBusy = <A, E>(self: Effect.Effect<A, E>) =>
  Effect.retry(self, {
    while: isBusy,
    schedule: Schedule.spaced(Duration.millis(10)).pipe(Schedule.upTo(busyWaitMax))
  })

const unsupported = (operation: string) => () => {
  throw new Error(`${operation} is not supported on the embedded database's single connection`)
}

/**
 * Serves `@effect/sql-libsql` from one connection.
 *
 * The library's own client opens a new connection after each transaction, without the pragmas that were set on
 * the first, and two connections of one synchronous driver can only wait for each other until they time out. Here
 * there is one connection; a transaction has it for itself until it ends, and statements outside wait for it. `BEGIN` is sent
 * with the transaction's first statement, because `@effect/sql-libsql` 0.42 never gives its permit back when
 * beginning fails.
 */
const singleConnection = (inner: Client, run: <A, E>(effect: Effect.Effect<A, E>) => Promise<A>): Client => {
  const turn = Effect.unsafeMakeSemaphore(1)
  const send = (statement: InStatement) =>
    retryWhileBusy(
      Effect.tryPromise({ try: () => inner.execute(statement), catch: (error) => error as Error })
    )

  const transaction = async (): Promise<Transaction> => {
    await run(turn.take(1))
    let state: "unbegun" | "open" | "ended" = "unbegun"
    const end = (statement: string): Promise<void> => {
      if (state === "ended") return Promise.resolve()
      const begun = state === "open"
      state = "ended"
      const sent = begun
        ? Effect.tapError(send(statement), () => Effect.ignore(send("ROLLBACK")))
        : Effect.void
      return run(Effect.asVoid(Effect.ensuring(sent, turn.release(1))))
    }
    return {
      execute: (statement: InStatement): Promise<ResultSet> => {
        if (state === "open") return run(send(statement))
        const begin = Effect.tap(send("BEGIN IMMEDIATE"), () => {
          state = "open"
        })
        return run(Effect.zipRight(begin, send(statement)))
      },
      commit: () => end("COMMIT"),
      rollback: () => end("ROLLBACK"),
      close: () => void end("ROLLBACK"),
      get closed() {
        return state === "ended"
      },
      batch: unsupported("batch"),
      executeMultiple: unsupported("executeMultiple")
    }
  }

  return {
    execute: (statement: InStatement, args?: InArgs) =>
      run(
        turn.withPermits(1)(
          send(typeof statement === "string" ? { sql: statement, args: args ?? [] } : statement)
        )
      ),
    transaction,
    batch: unsupported("batch"),
    migrate: unsupported("migrate"),
    executeMultiple: unsupported("executeMultiple"),
    sync: unsupported("sync"),
    reconnect: unsupported("reconnect"),
    close: () => inner.close(),
    get closed() {
      return inner.closed
    },
    protocol: "file"
  } as Client
}

/**
 * Opens (and creates where it is missing) the SQLite database at `path`, in WAL mode with `synchronous=FULL`: a commit that was
 * answered survives a power cut. One connection, closed with the scope.
 */
export const layer = (path: string): Layer.Layer<SqlClient, SqliteOpenError> =>
  Layer.unwrapScoped(
    Effect.gen(function* () {
      const runtime = yield* Effect.runtime<never>()
      const scope = yield* Effect.scope
      const inner = yield* Effect.try({
        try: () => createClient({ url: `file:${path}` }),
        catch: (cause) => new SqliteOpenError({ path, cause })
      })
      yield* Scope.addFinalizer(
        scope,
        Effect.sync(() => inner.close())
      )
      for (const pragma of ["journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"]) {
        yield* retryWhileBusy(
          Effect.tryPromise({
            try: () => inner.execute(`PRAGMA ${pragma}`),
            catch: (error) => error as Error
          })
        ).pipe(Effect.mapError((cause) => new SqliteOpenError({ path, cause })))
      }
      const liveClient = singleConnection(inner, (effect) => Runtime.runPromise(runtime)(effect))
      return LibsqlClient.layer({ liveClient })
    })
  )
