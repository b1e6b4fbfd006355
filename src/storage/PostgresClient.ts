import { SqlClient } from "@effect/sql"
import { SqlError } from "@effect/sql/SqlError"
import { PgClient } from "@effect/sql-pg"
import { Client, Pool } from "pg"
import { Data, Duration, Effect, Layer, Redacted } from "effect"
import { preparedMark } from "./SqlDialect.ts"

/** Another process works on this database. */
export class DatabaseInUse extends Data.TaggedError("DatabaseInUse")<{
  readonly presence: "alone" | "cluster"
}> {
  override get message() {
    return this.presence === "alone"
      ? "Other Linkmint processes work on this database. Without REDIS_URLS there can be one at a time: stop them first."
      : "A Linkmint process without REDIS_URLS works on this database alone: stop it first."
  }
}

/** Whose connections these are, and their bounds. */
export interface ConnectionOptions {
  readonly applicationName: string
  /** Connections at most. */
  readonly maxConnections: number
  /** How long a connection may take to open. */
  readonly connectTimeout: Duration.Duration
  /** How long a statement may take to be answered. */
  readonly answerTimeout: Duration.Duration
  /** How long a connection that nobody uses is kept. */
  readonly idleTimeout: Duration.Duration
}

/** The connections of a node's stores. */
const ofStores: ConnectionOptions = {
  applicationName: "linkmint",
  maxConnections: 20,
  connectTimeout: Duration.seconds(2),
  answerTimeout: Duration.seconds(4),
  idleTimeout: Duration.minutes(1)
}

/** What `pg` says when `query_timeout` ran out. */
const noAnswer = "Query read timeout"

/** Statements that are prepared, at most: each connection keeps them all. */
const preparedMax = 100

/** Their names by their texts, the same on all connections. */
const preparedNames = new Map<string, string>()

/** The name under which a statement is prepared, if it asks for that and there is room. */
const preparedName = (text: string): string | undefined => {
  const known = preparedNames.get(text)
  if (known !== undefined || preparedNames.size === preparedMax) return known
  const name = `linkmint_${preparedNames.size + 1}`
  preparedNames.set(text, name)
  return name
}

/** The arguments of `query`, with a name for a statement that is to be prepared. */
const withName = (args: ReadonlyArray<unknown>): ReadonlyArray<unknown> => {
  const [text, values, ...others] = args
  if (typeof text !== "string" || !text.startsWith(preparedMark)) return args
  return [{ name: preparedName(text), text, values }, ...others]
}

/**
 * A client that prepares the statements that ask for it (`SqlDialect.prepared`), and that gives its connection up when a statement was not answered in time.
 * `pg` 8 keeps the connection, on which everything that follows waits behind that statement; where the network swallows packets, that is for many minutes.
 */
class NodeClient extends Client {
  // `query` has a dozen overloads; the only thing that matters here is its callback.
  override query(...args: Array<never>): never {
    const bounded = withName(args).map((argument) =>
      typeof argument === "function"
        ? (error: Error | undefined, result: unknown) => {
            // With a statement under way this destroys the socket, and the pool takes no client back that is ending.
            if (error?.message === noAnswer) this.end(() => {})
            argument(error, result)
          }
        : argument
    )
    return super.query.apply(this, bounded as never) as never
  }
}

const makePool = (url: Redacted.Redacted, options: ConnectionOptions) =>
  Effect.acquireRelease(
    Effect.tryPromise({
      try: async () => {
        const pool = new Pool({
          connectionString: Redacted.value(url),
          application_name: options.applicationName,
          max: options.maxConnections,
          connectionTimeoutMillis: Duration.toMillis(options.connectTimeout),
          idleTimeoutMillis: Duration.toMillis(options.idleTimeout),
          query_timeout: Duration.toMillis(options.answerTimeout),
          keepAlive: true,
          Client: NodeClient as typeof Client
        })
        // A connection that breaks while it is idle leaves the pool; without a listener it would end the process.
        pool.on("error", () => {})
        await pool.query("SELECT 1")
        return pool
      },
      catch: (cause) => new SqlError({ cause, message: "Failed to acquire connection" })
    }),
    (pool) =>
      Effect.promise(() => pool.end()).pipe(Effect.interruptible, Effect.timeoutOption(Duration.seconds(1)))
  )

/** Connections to PostgreSQL. One that cannot be had in time is an error, and so is a statement that is not answered in time. */
export const layerBounded = (
  url: Redacted.Redacted,
  options: ConnectionOptions
): Layer.Layer<SqlClient.SqlClient, SqlError> => PgClient.layerFromPool({ acquire: makePool(url, options) })

/** At most 20 connections, each within 2 s; statements are answered within 4 s. See {@link layerBounded}. */
export const layer = (url: Redacted.Redacted): Layer.Layer<SqlClient.SqlClient, SqlError> =>
  layerBounded(url, ofStores)

/** One connection without a bound on statements: for migrations, which may take long. */
export const layerUnbounded = (url: Redacted.Redacted): Layer.Layer<SqlClient.SqlClient, SqlError> =>
  PgClient.layer({
    url,
    maxConnections: 2,
    connectTimeout: ofStores.connectTimeout,
    applicationName: "linkmint-migrate"
  })

/** The advisory lock of those who work on this database. An arbitrary fixed number. */
const workersLock = 5_012_704_418

/**
 * Works on the database alone, or together with the other nodes of a cluster: by an advisory lock, exclusive or shared, on a connection that
 * stays open; PostgreSQL frees it with the connection. Two processes without a cluster would each cache what the other changes.
 */
export const layerPresence = (
  presence: "alone" | "cluster"
): Layer.Layer<never, SqlError | DatabaseInUse, SqlClient.SqlClient> =>
  Layer.scopedDiscard(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const connection = yield* Effect.uninterruptible(sql.reserve)
      const send = (statement: string) => connection.executeUnprepared(statement, [], undefined)
      const suffix = presence === "alone" ? "" : "_shared"
      const rows = yield* send(`SELECT pg_try_advisory_lock${suffix}(${workersLock}) AS locked`)
      if (rows[0]?.locked !== true) return yield* new DatabaseInUse({ presence })
      yield* Effect.addFinalizer(() =>
        Effect.ignore(send(`SELECT pg_advisory_unlock${suffix}(${workersLock})`))
      )
    })
  )
