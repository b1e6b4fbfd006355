import { layer as reactivityLayer } from "@effect/experimental/Reactivity"
import { SqlClient, type SqlConnection, Statement } from "@effect/sql"
import { SqlError } from "@effect/sql/SqlError"
import {
  Cause,
  type Clock,
  Data,
  Duration,
  Effect,
  Exit,
  type Fiber,
  Layer,
  Option,
  Runtime,
  Schedule,
  Stream
} from "effect"
import * as FairSemaphore from "../../fibers/FairSemaphore.ts"
import { type Ask as AskDirect, type Cells, withDirect } from "./DirectSql.ts"
import type { NowSegment } from "./SqlDialect.ts"
import * as SqliteLog from "./SqliteLog.ts"
import * as SqliteThread from "./SqliteThread.ts"

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
export interface Options extends SqliteThread.Options {
  /** How long a statement waits for a database that another process has locked, before it fails; 4 s by default. */
  readonly busyWaitMax?: Duration.DurationInput
}

/**
 * How the writer uses the database. What is deleted is overwritten with zeros. Its cache of pages (in KiB, below zero) holds what a bulk of links changes: what does not fit is written twice. Its log is
 * written back by `SqliteLog`.
 */
const writerPragmas = [
  "journal_mode = WAL",
  "synchronous = FULL",
  "foreign_keys = ON",
  "secure_delete = ON",
  "cache_size = -16384",
  `wal_autocheckpoint = ${SqliteLog.autocheckpoint}`
]

/** How readers do: they cannot write. */
const readerPragmas = ["query_only = ON", "cache_size = -8192"]

/** How the connection does that writes the log back: it changes nothing, and has no use for pages that it has written. */
const logPragmas = ["synchronous = FULL", "query_only = ON", "cache_size = -256"]

/** Readers at most: a list or statistics that take long do not hold up the reads of redirects. The second one is started when it is needed first. */
const readersMax = 2

type Ask = SqliteThread.SqliteThread["ask"]
type Execute = (statement: SqliteThread.Statement) => ReturnType<Ask>

/** Waits while another program has the database locked: here, and not in the thread, so that a caller that waits can give up. */
const waiting = (busyWaitMax: Duration.DurationInput) => {
  const schedule = Schedule.spaced(Duration.millis(10)).pipe(Schedule.upTo(busyWaitMax))
  return <A>(self: Effect.Effect<A, SqliteThread.SqliteFailure>, wanted: () => boolean = () => true) =>
    Effect.retry(self, { while: ({ isLocked }) => isLocked && wanted(), schedule })
}
type Waiting = ReturnType<typeof waiting>

const sqlError = (cause: SqliteThread.SqliteFailure) =>
  new SqlError({ cause, message: "Failed to execute statement" })

const objectsOf = ({ columns, rows }: SqliteThread.Rows): ReadonlyArray<SqlConnection.Row> =>
  rows.map((row) => {
    const object: Record<string, unknown> = {}
    for (let index = 0; index < columns.length; index++) object[columns[index]!] = row[index]
    return object
  })

/** What the SQL library has done by statements. */
const connectionOf = (execute: Execute): SqlConnection.Connection => {
  const run = (sql: string, args: ReadonlyArray<unknown>) => Effect.mapError(execute({ sql, args }), sqlError)
  const objects: SqlConnection.Connection["execute"] = (sql, args, transform) =>
    Effect.map(run(sql, args), (rows) =>
      transform === undefined ? objectsOf(rows) : transform(objectsOf(rows))
    )
  return {
    execute: objects,
    executeUnprepared: objects,
    executeRaw: run,
    executeValues: (sql, args) => Effect.map(run(sql, args), ({ rows }) => rows),
    executeStream: () => Stream.dieMessage("statements give their rows at once")
  }
}

/**
 * A transaction on the writer, which it has for itself. Its statements come from several fibers: one is under way at a time. `BEGIN` goes with the
 * first one, so that it takes no message, and can be waited for. A fiber that is interrupted meanwhile ends the wait; what was sent is waited for.
 */
const transactionOn = (ask: Ask, wait: Waiting): Execute => {
  const oneByOne = FairSemaphore.make(1)
  let hasBegun = false
  let hasEnded = false

  const begin = (statement: SqliteThread.Statement) =>
    Effect.suspend(() => {
      hasBegun = true
      return ask({ kind: "first", statement })
    }).pipe(
      Effect.tapError(({ isLocked }) =>
        Effect.sync(() => {
          hasBegun = !isLocked
        })
      ),
      Effect.uninterruptible
    )

  const nothing = Effect.succeed<SqliteThread.Rows>({ columns: [], rows: [] })

  const end = (kind: "commit" | "rollBack") =>
    Effect.suspend(() => {
      if (hasEnded) return nothing
      hasEnded = true
      return oneByOne(Effect.suspend(() => (hasBegun ? ask({ kind }) : nothing)))
    })

  return (statement) => {
    // What the SQL library begins and ends a transaction with.
    if (statement.sql === "BEGIN") return nothing
    if (statement.sql === "COMMIT") return end("commit")
    if (statement.sql === "ROLLBACK") return Effect.orElse(end("rollBack"), () => nothing)
    return oneByOne(
      Effect.suspend(() => {
        if (hasEnded) {
          return Effect.fail(new SqliteThread.SqliteFailure("the transaction has ended", "SQLITE_MISUSE"))
        }
        return hasBegun
          ? Effect.uninterruptible(ask({ kind: "next", statement }))
          : wait(begin(statement), () => !hasEnded)
      })
    )
  }
}

/** Statements that a reader can answer, and those that need no transaction on the writer. */
const isRead = (sql: string) => /^\s*(SELECT|EXPLAIN)\b/i.test(sql)
const isPragma = (sql: string) => /^\s*PRAGMA\b/i.test(sql)

/** Has a statement read, and calls back once with what it gave. Returns what ends the waiting for a reader. */
type ReadThen = (
  statement: SqliteThread.Statement,
  done: (exit: Exit.Exit<SqliteThread.Rows, SqliteThread.SqliteFailure>) => void
) => () => void

/** Has each statement read by a reader that is free, those that came first first. */
const readingBy = (readers: ReadonlyArray<SqliteThread.SqliteThread>): ReadThen => {
  // The first one is taken first.
  const free = readers.toReversed()
  const waiting = new Set<(reader: SqliteThread.SqliteThread) => void>()
  const giveBack = (reader: SqliteThread.SqliteThread) => {
    const [next] = waiting
    if (next === undefined) return void free.push(reader)
    waiting.delete(next)
    next(reader)
  }
  return (statement, done) => {
    const readBy = (reader: SqliteThread.SqliteThread) =>
      reader.askThen({ kind: "outside", statement }, (exit) => {
        giveBack(reader)
        done(exit)
      })
    const reader = free.pop()
    if (reader === undefined) waiting.add(readBy)
    else readBy(reader)
    return () => void waiting.delete(readBy)
  }
}

/** That of the SQL library, and `databaseNow` by this clock: the thread's own is the machine's, which others set. */
const compilerBy = (clock: Clock.Clock): Statement.Compiler =>
  Statement.makeCompiler<NowSegment>({
    dialect: "sqlite",
    placeholder: () => "?",
    onIdentifier: Statement.defaultEscape('"'),
    onRecordUpdate: () => ["", []],
    onCustom: (_, placeholder) => {
      const now = clock.unsafeCurrentTimeMillis()
      return [`CAST(${placeholder(now)} AS INTEGER)`, [now]]
    }
  })

type Fork = <A, E>(effect: Effect.Effect<A, E>) => Fiber.RuntimeFiber<A, E>

const isLockedOut = (exit: Exit.Exit<SqliteThread.Rows, SqliteThread.SqliteFailure>) =>
  Exit.isFailure(exit) && Option.exists(Cause.failureOption(exit.cause), ({ isLocked }) => isLocked)

/** `@effect/sql` over these threads. Transactions and statements that write take turns; those that read, outside of a transaction, wait for neither. */
const clientOf = (
  writer: SqliteThread.SqliteThread,
  readers: ReadonlyArray<SqliteThread.SqliteThread>,
  wait: Waiting,
  clock: Clock.Clock,
  runFork: Fork,
  onWritten: () => void
) => {
  const { release, run: turns, takeThen } = FairSemaphore.makePermits(1)
  const writing: FairSemaphore.FairSemaphore = (self) => turns(Effect.ensuring(self, Effect.sync(onWritten)))
  const readThen = readingBy(readers)
  const read: Execute = (statement) =>
    wait(
      Effect.async<SqliteThread.Rows, SqliteThread.SqliteFailure>((resume) =>
        Effect.sync(readThen(statement, resume))
      )
    )
  const outside: Execute = (statement) => {
    if (isRead(statement.sql)) return read(statement)
    const asked = (kind: "outside" | "alone") => wait(Effect.uninterruptible(writer.ask({ kind, statement })))
    return isPragma(statement.sql) ? turns(asked("outside")) : writing(asked("alone"))
  }
  /** Like a statement in a fiber, it keeps its turn while another program has the database locked. */
  const writeThen = (statement: SqliteThread.Statement, done: Parameters<ReadThen>[1]) =>
    takeThen(() => {
      const end: typeof done = (exit) => {
        onWritten()
        release()
        done(exit)
      }
      const order = { kind: "alone", statement } as const
      writer.askThen(order, (exit) =>
        isLockedOut(exit) ? void runFork(wait(writer.ask(order))).addObserver(end) : end(exit)
      )
    })
  /** Without a fiber, unless another program has the database locked. */
  const askDirect: AskDirect =
    ([text, args]) =>
    (done) => {
      const answer = (exit: Exit.Exit<SqliteThread.Rows, SqliteThread.SqliteFailure>) =>
        done(
          Exit.mapBoth(exit, { onSuccess: ({ rows }) => rows as ReadonlyArray<Cells>, onFailure: sqlError })
        )
      const statement = { sql: text, args, isUnnamed: true }
      if (!isRead(text)) return writeThen(statement, answer)
      readThen(statement, (exit) =>
        isLockedOut(exit) ? void runFork(read(statement)).addObserver(answer) : answer(exit)
      )
    }
  return Effect.map(
    SqlClient.make({
      acquirer: Effect.succeed(connectionOf(outside)),
      transactionAcquirer: Effect.sync(() => connectionOf(transactionOn(writer.ask, wait))),
      compiler: compilerBy(clock),
      spanAttributes: [["db.system.name", "sqlite"]]
    }),
    (sql): SqlClient.SqlClient =>
      withDirect(
        Object.assign(sql, {
          reserve: Effect.dieMessage("the only connection that writes is had by transactions alone"),
          withTransaction: withTurns(sql.withTransaction, writing)
        }),
        askDirect
      )
  )
}

/** A transaction takes a turn; one within another is a part of that. */
const withTurns =
  (
    withTransaction: SqlClient.SqlClient["withTransaction"],
    turns: FairSemaphore.FairSemaphore
  ): typeof withTransaction =>
  (effect) =>
    Effect.flatMap(Effect.serviceOption(SqlClient.TransactionConnection), (outer) =>
      Option.isSome(outer) ? withTransaction(effect) : turns(withTransaction(effect))
    )

/**
 * Opens (and creates where it is missing) the SQLite database at `path`, in WAL mode with `synchronous=FULL`: a commit that was
 * answered survives a power cut. The driver is synchronous, so each connection has a thread: one for transactions and statements that write, and
 * `readersMax` for statements that only read, which see what was committed when they begin. All are closed with the scope.
 */
export const layer = (
  path: string,
  { busyWaitMax = "4 seconds", heapMax_MiB }: Options = {}
): Layer.Layer<SqlClient.SqlClient, SqliteOpenError> =>
  Layer.scoped(
    SqlClient.SqlClient,
    Effect.gen(function* () {
      const wait = waiting(busyWaitMax)
      // The last one to be closed writes the log back: the first one here.
      const writer = yield* SqliteThread.make({ path, pragmas: writerPragmas }, { heapMax_MiB })
      const readers = yield* Effect.replicateEffect(
        SqliteThread.make({ path, pragmas: readerPragmas }, { heapMax_MiB }),
        readersMax
      )
      // Each thread takes tens of milliseconds to start: the first reader's is ready when the file is open.
      yield* writer.begin
      yield* readers[0]!.begin
      yield* Effect.mapError(
        wait(writer.ask({ kind: "outside" })),
        (cause) => new SqliteOpenError({ path, cause })
      )
      const isWritten = Effect.unsafeMakeLatch()
      const sql = yield* clientOf(
        writer,
        readers,
        wait,
        yield* Effect.clock,
        Runtime.runFork(yield* Effect.runtime<never>()),
        () => isWritten.unsafeOpen()
      )
      const log = yield* SqliteThread.make({ path, pragmas: logPragmas }, { heapMax_MiB })
      yield* Effect.forkScoped(SqliteLog.keepShort(sql, log, isWritten))
      return sql
    })
  ).pipe(Layer.provide(reactivityLayer))

/** A client over one connection, which carries out each order at once, without a thread of its own. Its time is that of the clock at hand. */
export const over = (connection: SqliteThread.SqliteThread): Effect.Effect<SqlClient.SqlClient> =>
  Effect.flatMap(Effect.all([Effect.clock, Effect.runtime<never>()]), ([clock, runtime]) =>
    clientOf(connection, [connection], waiting(0), clock, Runtime.runFork(runtime), () => {})
  ).pipe(Effect.provide(reactivityLayer))
