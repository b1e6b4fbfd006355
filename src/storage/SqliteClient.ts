import type { SqlClient } from "@effect/sql/SqlClient"
import { LibsqlClient } from "@effect/sql-libsql"
import { LibsqlError, Sqlite3Client } from "@libsql/client/sqlite3"
import type { Client, InArgs, InStatement, ResultSet, Transaction } from "@libsql/client"
import { Cause, Data, Duration, Effect, Exit, Layer, Runtime, Schedule } from "effect"
import Database from "libsql"

/** The database file could not be opened. `path` is the file, `cause` the driver's error. */
export class SqliteOpenError extends Data.TaggedError("SqliteOpenError")<{
  readonly path: string
  readonly cause: unknown
}> {
  override get message() {
    return `Cannot open the SQLite database ${this.path}: ${String(this.cause)}`
  }
}

/** How the client behaves. */
export interface Options {
  /** How long a statement waits for a database that another process has locked, before it fails; 4 s by default. */
  readonly busyWaitMax?: Duration.DurationInput
}

const isBusy = (error: unknown) =>
  typeof error === "object" &&
  error !== null &&
  "code" in error &&
  String(error.code).startsWith("SQLITE_BUSY")

/**
 * Waiting happens in Effect, not by `PRAGMA busy_timeout`: the driver is synchronous, so its own waiting would
 * stop the event loop, and with it every redirect.
 */
const retryWhileBusy =
  (busyWaitMax: Duration.DurationInput, wanted: () => boolean = () => true) =>
  <A, E>(self: Effect.Effect<A, E>) =>
    Effect.retry(self, {
      while: (error) => isBusy(error) && wanted(),
      schedule: Schedule.spaced(Duration.millis(10)).pipe(Schedule.upTo(busyWaitMax))
    })

/**
 * How the database is used. Its cache of pages (in KiB, below zero) holds what a bulk of links changes: what does not fit is written twice. Its log is
 * written back when it has so many pages (32 MiB), so that a page that many bulks change is written back once.
 */
const pragmas = [
  "journal_mode = WAL",
  "synchronous = FULL",
  "foreign_keys = ON",
  "cache_size = -16384",
  "wal_autocheckpoint = 8192"
]

/** Statements that need no write lock. */
const reading = /^\s*(SELECT|PRAGMA|EXPLAIN)\b/i

/**
 * What the single connection does. The write lock is taken by `BEGIN IMMEDIATE` before any statement that may write, and that by
 * `exec`: libSQL 0.4 leaves a prepared statement that found the database locked unfinished until it is garbage-collected. Until
 * then SQLite commits nothing that comes after it, and then it takes all of that back.
 */
const makeConnection = (db: Database.Database, path: string, busyWaitMax: Duration.DurationInput) => {
  const prepared = new Sqlite3Client(path, {}, db, "number")
  const exec = (text: string) =>
    Effect.try({ try: () => void db.exec(text), catch: (error) => error as Error })
  const execute = (statement: InStatement) =>
    Effect.tryPromise({ try: () => prepared.execute(statement), catch: (error) => error as Error })
  // SQLite has rolled back by itself after some errors, such as a full disk; then there is nothing to do.
  const rollBack = Effect.ignore(exec("ROLLBACK"))
  const begin = (wanted?: () => boolean) => retryWhileBusy(busyWaitMax, wanted)(exec("BEGIN IMMEDIATE"))
  const commit = Effect.tapError(exec("COMMIT"), () => rollBack)
  return {
    pragma: (text: string) => retryWhileBusy(busyWaitMax)(exec(`PRAGMA ${text}`)),
    begin,
    commit,
    rollBack,
    execute,
    /** A statement that is a transaction by itself. */
    executeAlone: ({ args = [], sql }: { readonly sql: string; readonly args?: InArgs | undefined }) =>
      reading.test(sql)
        ? retryWhileBusy(busyWaitMax)(execute({ sql, args }))
        : begin().pipe(
            Effect.zipRight(Effect.tapError(execute({ sql, args }), () => rollBack)),
            Effect.zipLeft(commit)
          ),
    /** A prepared statement that is not collected yet would keep the file and its locks: they go with the transaction. */
    close: Effect.zipRight(
      rollBack,
      Effect.sync(() => db.close())
    )
  }
}
type Connection = ReturnType<typeof makeConnection>

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
const singleConnection = (
  connection: Connection,
  run: <A, E>(effect: Effect.Effect<A, E>) => Promise<A>
): Client => {
  const turn = Effect.unsafeMakeSemaphore(1)

  const transaction = async (): Promise<Transaction> => {
    await run(turn.take(1))
    // Statements come from several fibers, and an interrupted fiber ends the transaction while its statement is
    // under way here: so one after the other, each looking whether the transaction is still wanted.
    const oneByOne = Effect.unsafeMakeSemaphore(1)
    let begun = false
    let ended = false
    const begin = Effect.map(
      connection.begin(() => !ended),
      () => {
        begun = true
      }
    )
    const unlessEnded = Effect.suspend(() =>
      ended ? Effect.fail(new LibsqlError("the transaction has ended", "SQLITE_MISUSE")) : Effect.void
    )
    const end = (last: Effect.Effect<unknown, Error>): Promise<void> => {
      if (ended) return Promise.resolve()
      ended = true
      const sent = oneByOne.withPermits(1)(Effect.suspend(() => (begun ? last : Effect.void)))
      return run(Effect.asVoid(Effect.ensuring(sent, turn.release(1))))
    }
    return {
      execute: (statement: InStatement): Promise<ResultSet> =>
        unlessEnded.pipe(
          Effect.zipRight(Effect.suspend(() => (begun ? Effect.void : begin))),
          Effect.zipRight(unlessEnded),
          Effect.zipRight(connection.execute(statement)),
          oneByOne.withPermits(1),
          run
        ),
      commit: () => end(connection.commit),
      rollback: () => end(connection.rollBack),
      close: () => void end(connection.rollBack),
      get closed() {
        return ended
      },
      batch: unsupported("batch"),
      executeMultiple: unsupported("executeMultiple")
    }
  }

  return {
    execute: (statement: InStatement, args?: InArgs) =>
      run(
        turn.withPermits(1)(
          connection.executeAlone(typeof statement === "string" ? { sql: statement, args } : statement)
        )
      ),
    transaction,
    batch: unsupported("batch"),
    migrate: unsupported("migrate"),
    executeMultiple: unsupported("executeMultiple"),
    sync: unsupported("sync"),
    reconnect: unsupported("reconnect"),
    close: unsupported("close"),
    closed: false,
    protocol: "file"
  } as Client
}

/**
 * Opens (and creates where it is missing) the SQLite database at `path`, in WAL mode with `synchronous=FULL`: a commit that was
 * answered survives a power cut. One connection, closed with the scope.
 */
export const layer = (
  path: string,
  { busyWaitMax = "4 seconds" }: Options = {}
): Layer.Layer<SqlClient, SqliteOpenError> =>
  Layer.unwrapScoped(
    Effect.gen(function* () {
      const runtime = yield* Effect.runtime<never>()
      const connection = yield* Effect.acquireRelease(
        Effect.try({
          try: () => makeConnection(new Database(path), path, busyWaitMax),
          catch: (cause) => new SqliteOpenError({ path, cause })
        }),
        ({ close }) => close
      )
      for (const pragma of pragmas) {
        yield* Effect.mapError(connection.pragma(pragma), (cause) => new SqliteOpenError({ path, cause }))
      }
      // Rejected with the driver's own error, whose code tells whether the statement was applied.
      const run = <A, E>(effect: Effect.Effect<A, E>) =>
        Runtime.runPromiseExit(runtime)(effect).then(
          Exit.getOrElse((cause) => {
            throw Cause.squash(cause)
          })
        )
      return LibsqlClient.layer({ liveClient: singleConnection(connection, run) })
    })
  )
