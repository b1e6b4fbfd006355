import { Clock, Duration } from "effect"
import { type Client, Pool, type PoolClient } from "pg"
import { monotonicNow_ms } from "../../../time/MonotonicTime.ts"
import type { DatabaseServersService } from "./DatabaseServers.ts"
import { boundsFor, PrimaryClient, type SessionBounds } from "./PrimaryClient.ts"

/** Whose connections these are, and their bounds. */
export interface ConnectionOptions {
  readonly applicationName: string
  /** Connections at most. As many again can be given up and not yet gone from the server. */
  readonly maxConnections: number
  /** How long a connection may take to open. */
  readonly connectTimeout: Duration.Duration
  /** How long a statement may take to be answered. The server ends it a little sooner. */
  readonly answerTimeout: Duration.Duration
  /** How long a connection that nobody uses is kept. */
  readonly idleTimeout: Duration.Duration
  /** Bounds of a session that differ from those that follow from `answerTimeout`. */
  readonly bounds?: Partial<SessionBounds>
}

/** For so long a connection that was given up counts as one that the server still has: its keepalives take that long. */
const goneAfter_ms = 15_000

type Answer = (
  error: Error | undefined,
  client: PoolClient | undefined,
  release: (error?: boolean) => void
) => void

/** What `pg-pool` 3 keeps of somebody who waits for a connection. */
interface Pending {
  readonly callback: Answer
  readonly timedOut?: boolean
}

/** What `pg-pool` 3 does when a connection is to be made. */
interface MakesClients {
  newClient(pending: Pending): void
}

const makesClients = Pool.prototype as unknown as MakesClients

const nothing = () => {}

/**
 * A pool of connections to the primary.
 *
 * - A connection of a generation that is over is not given out: it is closed, and another one taken.
 * - When a server refuses, or is no primary, the next one is tried within the same request for a connection.
 * - No new connection is given out while this process has lost its place (`DatabasePresence`), or the database is not checked yet (`LinkDatabases`).
 * - Connections that were given up unanswered may live on at the server for {@link goneAfter_ms}. No new ones are made beyond as many of those
 *   as the pool may hold, so that the server has at most twice as many of this pool's at any time.
 */
export class PrimaryPool extends Pool {
  readonly #servers: DatabaseServersService
  readonly #clock: Clock.Clock
  readonly #most: number
  #givenUp: Array<number> = []

  constructor(servers: DatabaseServersService, options: ConnectionOptions, clock: Clock.Clock) {
    const answer_ms = Duration.toMillis(options.answerTimeout)
    const bounds = { ...boundsFor(answer_ms), ...options.bounds }
    super({
      application_name: options.applicationName,
      max: options.maxConnections,
      connectionTimeoutMillis: Duration.toMillis(options.connectTimeout),
      idleTimeoutMillis: Duration.toMillis(options.idleTimeout),
      query_timeout: answer_ms,
      Client: class extends PrimaryClient {
        constructor(config: object) {
          super(servers, bounds, config)
        }
      } as unknown as typeof Client
    })
    this.#servers = servers
    this.#clock = clock
    this.#most = options.maxConnections
    // A connection that breaks while it is idle leaves the pool; without a listener it would end the process.
    this.on("error", nothing)
    this.on("remove", (client) => {
      if ((client as unknown as PrimaryClient).isGivenUp) this.#givenUp.push(this.#now())
    })
  }

  #now() {
    return monotonicNow_ms(this.#clock)
  }

  /** How `pg-pool` makes a connection: the one place where it can be refused, and tried elsewhere. */
  newClient(pending: Pending): void {
    const since = this.#now() - goneAfter_ms
    this.#givenUp = this.#givenUp.filter((at) => at > since)
    if (this.#givenUp.length >= this.#most) {
      return pending.callback(
        new Error("as many connections were given up lately as there may be"),
        undefined,
        nothing
      )
    }
    const attempt = (left: number) =>
      makesClients.newClient.call(this, {
        get timedOut() {
          return pending.timedOut ?? false
        },
        callback: (error, client, release) => {
          if (client === undefined) {
            if (left > 0 && this.totalCount < this.#most) attempt(left - 1)
            else pending.callback(error, client, release)
          } else if (this.#servers.isOpen()) {
            pending.callback(error, client, release)
          } else {
            release(true)
            pending.callback(new Error("this process has no place at the database"), undefined, nothing)
          }
        }
      })
    attempt(this.#servers.urls.length - 1)
  }

  override connect(): Promise<PoolClient>
  override connect(callback: Answer): void
  override connect(callback?: Answer): Promise<PoolClient> | void {
    if (callback === undefined) {
      return new Promise((resolve, reject) =>
        this.connect((error, client) => (client === undefined ? reject(error) : resolve(client)))
      )
    }
    super.connect((error, client, release) => {
      // Each one that is too old leaves the pool for good, so this ends.
      const isOld =
        (client as unknown as PrimaryClient | undefined)?.generation !== this.#servers.generation()
      if (client === undefined || !isOld) return callback(error, client, release)
      release(true)
      this.connect(callback)
    })
  }
}
