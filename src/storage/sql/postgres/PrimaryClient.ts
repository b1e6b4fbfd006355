import { connect } from "node:net"
import { Client, type ClientConfig, type CustomTypesConfig, type DatabaseError, types } from "pg"
import { preparedMark } from "../SqlDialect.ts"
import type { DatabaseServersService } from "./DatabaseServers.ts"

/** The bounds that the server keeps for a session, in milliseconds; 0 is none. It keeps them also while this process is frozen, or gone. */
export interface SessionBounds {
  /** A statement takes at most this long. Below our own patience, so that what we give up is over there as well. */
  readonly statement_ms: number
  /** It waits for a lock at most this long. */
  readonly lock_ms: number
  /** A transaction waits for its next statement at most this long; then it is rolled back, and its locks are free. */
  readonly idleInTransaction_ms: number
  /** A session waits for its next statement at most this long. */
  readonly idle_ms: number
}

/** The bounds for statements that are given up after `answer_ms`: 3.5, 2.5, 3 and no s of 4 s. */
export const boundsFor = (answer_ms: number): SessionBounds => ({
  statement_ms: (answer_ms * 7) / 8,
  lock_ms: (answer_ms * 5) / 8,
  idleInTransaction_ms: (answer_ms * 6) / 8,
  idle_ms: 0
})

/** What `pg` says when `query_timeout` ran out. */
const noAnswer = "Query read timeout"

/** What makes a start-up message a request to cancel, by PostgreSQL's protocol 3.0. */
const cancelRequestCode = 80_877_102

/** How long the way to such a request may take to open. */
const cancelMax_ms = 2_000

/** Reads 64-bit integers, and sums of them, as numbers: those of the schema are below 2^53. */
export const numbers: CustomTypesConfig = {
  getTypeParser: (type: number) =>
    type === types.builtins.INT8 || type === types.builtins.NUMERIC ? Number : types.getTypeParser(type)
}

/** The server is none to work on, or no longer. */
export class NotPrimary extends Error {
  override readonly name = "NotPrimary"
}

/** A transaction is committed at the primary, and perhaps not at a standby: the server was made to stop waiting for one. */
class Unreplicated extends Error {
  override readonly name = "Unreplicated"
  constructor() {
    super("committed here, while no synchronous standby has confirmed it")
  }
}

/** What an error of a connection says. Several addresses that all refused have no message of their own. */
export const reasonOf = (cause: unknown): string => {
  if (cause instanceof AggregateError) return cause.errors.map(reasonOf).join("; ")
  return cause instanceof Error ? cause.message : String(cause)
}

/** SQLSTATEs that say that this server is no primary any more, goes away, or has lost us: read-only, shut down, and errors of the connection. */
export const gone = /^(25006|57P0[123]|08)/

/** Statements of a kind that are prepared, at most: each connection keeps them all. */
const preparedMax = 40

/** Their names by their texts, the same on all connections; and how many there are of each kind. */
const preparedNames = new Map<string, string>()
const preparedOf = new Map<string, number>()

/** The name under which a statement is prepared, if it asks for that (`prepared`) and there is room for one more of its kind. */
export const preparedName = (text: string): string | undefined => {
  if (!text.startsWith(preparedMark)) return undefined
  const known = preparedNames.get(text)
  if (known !== undefined) return known
  const kind = text.slice(0, text.indexOf("*/"))
  const count = preparedOf.get(kind) ?? 0
  if (count === preparedMax) return undefined
  const name = `linkmint_${preparedNames.size + 1}`
  preparedOf.set(kind, count + 1)
  preparedNames.set(text, name)
  return name
}

/** The arguments of `query`, with a name for a statement that is to be prepared. */
const withName = (args: ReadonlyArray<unknown>): ReadonlyArray<unknown> => {
  const [text, values, ...others] = args
  const name = typeof text === "string" ? preparedName(text) : undefined
  return name === undefined ? args : [{ name, text, values }, ...others]
}

/**
 * Bounds the session, and asks the server what it is, in one statement. `set_config` rather than start-up parameters, which PgBouncer refuses. A host that vanishes without
 * a word frees its locks after 15 s of keepalives; a statement whose client has hung up is noticed after 1 s, where the operating system tells.
 */
const opening = (
  bounds: SessionBounds,
  asksSystem: boolean
) => `SELECT version() AS version, pg_backend_pid()::text AS backend, pg_is_in_recovery() AS standby,
  current_setting('transaction_read_only') = 'on' AS read_only,
  CASE WHEN NOT pg_is_in_recovery() THEN left(pg_walfile_name(pg_current_wal_lsn()), 8) END AS timeline,
  ${asksSystem ? "(SELECT system_identifier::text FROM pg_control_system())" : "NULL"} AS system,
  ${Object.entries({
    statement_timeout: bounds.statement_ms,
    lock_timeout: bounds.lock_ms,
    idle_in_transaction_session_timeout: bounds.idleInTransaction_ms,
    idle_session_timeout: bounds.idle_ms,
    tcp_keepalives_idle: 5,
    tcp_keepalives_interval: 5,
    tcp_keepalives_count: 2,
    tcp_user_timeout: 15_000,
    client_connection_check_interval: 1_000
  })
    .map(([name, value]) => `set_config('${name}', '${Math.round(value)}', false)`)
    .join(", ")}`

/** Why a pooler is no server to work on that gives each transaction any session. */
const sharedSessions =
  "what lies between shares the server's sessions among clients: a pooler such as PgBouncer needs pool_mode = session here"

interface Opened {
  readonly backend: string
  readonly version: string
  readonly standby: boolean
  readonly read_only: boolean
  readonly timeline: string | null
  readonly system: string | null
}

/** Why a server that said this is none to work on. CockroachDB's advisory locks lock nothing, so that two would own one shard. */
const objection = ({ read_only, standby, version }: Opened): string | undefined => {
  if (version.includes("CockroachDB")) {
    return "this is CockroachDB, whose advisory locks lock nothing; Linkmint needs PostgreSQL"
  }
  if (standby) return "the server is a standby"
  return read_only ? "the server is read-only" : undefined
}

/**
 * A client of the primary.
 *
 * - It leads to the server that was the primary last, and is connected only once that has proved to be one; otherwise the next server is up.
 * - The server keeps the {@link SessionBounds}.
 * - It prepares the statements that ask for it (`SqlDialect.prepared`).
 * - It gives its connection up when a statement was not answered in time. `pg` 8 keeps the connection, on which everything that follows waits behind that
 *   statement; where the network swallows packets, that is for many minutes.
 * - An error that says that the server is no primary any more drops this connection, and all that are pooled.
 * - A `COMMIT` that stopped waiting for its synchronous standby is an error with an unknown outcome. PostgreSQL makes it a warning, and the transaction would be acknowledged.
 */
export class PrimaryClient extends Client {
  /** The servers' generation in which this was connected. */
  readonly generation: number
  /** It was given up unanswered: the server may keep its session for a while. */
  isGivenUp = false
  readonly #servers: DatabaseServersService
  readonly #bounds: SessionBounds
  readonly #url: string
  #isUnreplicated = false

  constructor(servers: DatabaseServersService, bounds: SessionBounds, config: ClientConfig) {
    const url = servers.current()
    super({ ...config, connectionString: url, keepAlive: true, types: numbers })
    this.#servers = servers
    this.#bounds = bounds
    this.#url = url
    this.generation = servers.generation()
    this.on("notice", ({ routine }) => {
      if (routine === "SyncRepWaitForLSN") this.#isUnreplicated = true
    })
  }

  override connect(): Promise<this>
  override connect(callback: (error: Error) => void): void
  override connect(callback?: (error: Error) => void): Promise<this> | void {
    if (callback === undefined) {
      return new Promise((resolve, reject) =>
        this.connect((error) => (error ? reject(error) : resolve(this)))
      )
    }
    const answer = callback as (error: Error | undefined) => void
    let isOver = false
    // The pool listens only once this is over, and an error without a listener would end the process.
    const ignore = () => {}
    this.on("error", ignore)
    // Connecting is over once, whatever comes afterwards.
    const over = (error: Error | undefined) => {
      if (isOver) return
      isOver = true
      if (error !== undefined) this.#servers.passOver(this.#url)
      answer(error)
      if (error === undefined) this.off("error", ignore)
    }
    super.connect((error: Error | null) => {
      if (error) return over(error)
      this.#prove(true, (refused) => {
        if (refused === undefined) return over(undefined)
        this.end(() => {})
        over(refused)
      })
    })
  }

  #prove(asksSystem: boolean, answer: (refused: Error | undefined) => void): void {
    super.query(opening(this.#bounds, asksSystem), (error: Error | null, result: { rows: Array<Opened> }) => {
      // Some managed servers keep their identity to themselves.
      if (asksSystem && (error as DatabaseError | null)?.code === "42501") return this.#prove(false, answer)
      if (error) return answer(error)
      const [opened] = result.rows
      const system = opened!.system ?? undefined
      const refused =
        objection(opened!) ??
        this.#enter(opened!.backend) ??
        this.#servers.proved(this.#url, { system, timeline: opened!.timeline! })
      answer(refused === undefined ? undefined : new NotPrimary(refused))
    })
  }

  /** Takes the server's process for this session alone, until it is over. Gives why that cannot be, if so. */
  #enter(backend: string): string | undefined {
    const session = `${this.#url} ${backend}`
    if (!this.#servers.enter(session)) return sharedSessions
    this.once("end", () => this.#servers.leave(session))
    return undefined
  }

  /**
   * Tells the server to end what runs in this session. Its own bounds do not hold for a `COMMIT` that waits for a standby, nor does it see there that we have hung up. Nobody waits
   * for it, and it fails silently: it is a second way, for the connection that has not answered is closed in any case.
   */
  #cancel(): void {
    const { host, port, processID, secretKey } = this as unknown as {
      readonly host: string
      readonly port: number
      readonly processID: number | null
      readonly secretKey: number | null
    }
    if (processID === null || secretKey === null || typeof secretKey !== "number") return
    const socket = host.startsWith("/") ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host)
    socket.setTimeout(cancelMax_ms, () => socket.destroy())
    socket.on("error", () => {})
    const request = Buffer.alloc(16)
    request.writeInt32BE(16, 0)
    request.writeInt32BE(cancelRequestCode, 4)
    request.writeInt32BE(processID, 8)
    request.writeInt32BE(secretKey, 12)
    socket.end(request)
  }

  /** The rows of one statement. */
  async ask<Row extends object>(statement: string): Promise<ReadonlyArray<Row>> {
    const { rows } = await super.query<Row>(statement)
    return rows
  }

  // `query` has a dozen overloads; the only thing that matters here is its callback.
  override query(...args: Array<never>): never {
    const bounded = withName(args).map((argument) =>
      typeof argument === "function"
        ? (error: (Error & { readonly code?: string }) | undefined, result: unknown) => {
            if (error?.message === noAnswer) {
              this.isGivenUp = true
              this.#cancel()
              // With a statement under way this destroys the socket, and the pool takes no client back that is ending.
              this.end(() => {})
            }
            if (error?.code !== undefined && gone.test(error.code)) {
              this.#servers.dropAll()
              this.end(() => {})
            }
            const isUnreplicated = this.#isUnreplicated
            this.#isUnreplicated = false
            argument(error ?? (isUnreplicated ? new Unreplicated() : undefined), result)
          }
        : argument
    )
    return super.query.apply(this, bounded as never) as never
  }
}
