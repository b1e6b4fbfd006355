import { Context, Data, Duration, Effect, Fiber, FiberId, Runtime, type Scope } from "effect"
import * as Pulse from "../../../time/Pulse.ts"
import { monotonicNow_ms } from "../../../time/MonotonicTime.ts"
import { TrustedTime } from "../../../time/TrustedTime.ts"
import { freshFor_ms } from "../../links/LinkInvalidations.ts"
import type { DatabaseServersService } from "./DatabaseServers.ts"
import { boundsFor, PrimaryClient, reasonOf } from "./PrimaryClient.ts"

/** How often a kept session proves that it is one while somebody relies on it, and how soon another one is made. */
export const heartbeatEvery = Duration.millis(200)

/** The same while nobody does, in milliseconds: such a session is fresh at any moment ({@link freshFor_ms}), at less than half the cost. */
const idleBeatEvery_ms = 500

/** The same for a session that nobody ever relies on. */
export const unusedBeatEvery_ms = 1_000

/** A session that could not be made, or is over. */
export class SessionLost extends Data.TaggedError("SessionLost")<{ readonly cause: unknown }> {
  override get message() {
    return `PostgreSQL: ${reasonOf(this.cause)}`
  }
}

const nothing = () => {}

/** What the heartbeats of a kept session show of the database. */
export class Heartbeats {
  #answered = Number.NEGATIVE_INFINITY
  #watched = 0
  #failures = 0
  #isReliedOn = false
  #sooner = nothing
  readonly #idleBeatEvery_ms: number

  constructor(idleEvery_ms = idleBeatEvery_ms) {
    this.#idleBeatEvery_ms = idleEvery_ms
  }

  /** The primary has answered a heartbeat that was sent at `asked`, of `monotonicNow_ms`; `watched`: with this number, where it is asked for one. */
  answered(asked: number, watched = 0) {
    this.#answered = asked
    this.#watched = watched
    this.#failures = 0
  }

  /** The session is over, or could not be made. */
  failed() {
    this.#failures++
  }

  /** The primary has answered that it makes no such session, as another process has its place: it is not away. */
  refused() {
    this.#failures = 0
  }

  /** The number that the last answered heartbeat came back with (`PersistentSession`); 0 without any. */
  get watched(): number {
    return this.#watched
  }

  /** Whether one was answered that was sent less than {@link freshFor_ms} before `now`. The caller relies on the session: the next heartbeat is due sooner. */
  isFresh(now: number): boolean {
    if (!this.#isReliedOn) {
      this.#isReliedOn = true
      this.#sooner()
    }
    return this.age(now) < freshFor_ms
  }

  /** How long after this heartbeat the next one is due, in milliseconds. Calls `sooner`, once, where it is due at once because somebody relies on the session again. */
  pause_ms(sooner: () => void): number {
    this.#sooner = this.#isReliedOn ? nothing : sooner
    const pause_ms = this.#isReliedOn ? Duration.toMillis(heartbeatEvery) : this.#idleBeatEvery_ms
    this.#isReliedOn = false
    return pause_ms
  }

  /** How long before `now` the last heartbeat was sent that was answered, in milliseconds. */
  age(now: number): number {
    return now - this.#answered
  }

  /** The same where two sessions in a row have failed: a process that was paused finds one failed, and has asked nobody yet. */
  awayFor(now: number): number | undefined {
    return this.#failures < 2 ? undefined : this.age(now)
  }
}

/** A session that lasts: of its own connection, which no pool takes. */
export interface PersistentSession<E> {
  readonly applicationName: string
  /** An answer that takes longer ends the session. */
  readonly answerMax: Duration.Duration
  /** What makes the session: its lock, or what it listens to. */
  readonly begin: (session: Session) => Effect.Effect<void, E | SessionLost>
  /** Called with each heartbeat. */
  readonly heartbeats: Heartbeats
  /** A number that each heartbeat asks for as well, as an expression of SQL. */
  readonly watched?: string
}

/** A kept session at work. */
export interface Session {
  /** The rows of one statement. */
  readonly ask: <Row extends object>(statement: string) => Effect.Effect<ReadonlyArray<Row>, SessionLost>
  /** Calls back with each payload that is notified. */
  readonly onNotification: (told: (payload: string) => void) => void
}

/** What a session needs of its connection, as `PrimaryClient` has it. */
export interface SessionClient {
  readonly connect: () => Promise<unknown>
  readonly ask: <Row extends object>(statement: string) => Promise<ReadonlyArray<Row>>
  readonly end: () => Promise<void>
  readonly once: (event: "end", ended: () => void) => unknown
  readonly on: {
    (event: "error", failed: (error: Error) => void): unknown
    (event: "notification", told: (message: { readonly payload?: string | undefined }) => void): unknown
  }
}

/** Makes a connection that is not open yet, to the server that is to be tried next. `answer_ms`: how long opening it, and each answer, may take. */
export type Connect = (
  servers: DatabaseServersService,
  options: { readonly applicationName: string; readonly answer_ms: number }
) => SessionClient

/** How connections are made: by `pg`. */
export class Connecting extends Context.Reference<Connecting>()("linkmint/SessionConnecting", {
  defaultValue:
    (): Connect =>
    (servers, { answer_ms, applicationName }) =>
      new PrimaryClient(servers, boundsFor(0), {
        application_name: applicationName,
        connectionTimeoutMillis: answer_ms,
        query_timeout: answer_ms
      })
}) {}

/**
 * Makes a session and keeps it, as long as the server that it leads to is the primary. Never succeeds: it fails when the session is over, or as `begin` does. A session is only
 * one of the primary: a heartbeat that a standby answers ends it. What the database's clock shows is heard with each, the first time before the session begins.
 */
export const run = <E>(
  servers: DatabaseServersService,
  { answerMax, applicationName, begin, heartbeats, watched = "0" }: PersistentSession<E>
): Effect.Effect<never, E | SessionLost> =>
  Effect.scoped(
    Effect.gen(function* () {
      const clock = yield* Effect.clock
      const pulse = yield* Pulse.Pulse
      const runFork = Runtime.runFork(yield* Effect.runtime<never>())
      const { heard } = yield* TrustedTime
      const attempt = <A>(promise: () => Promise<A>) =>
        Effect.tryPromise({ try: promise, catch: (cause) => new SessionLost({ cause }) }).pipe(
          Effect.timeoutFail({
            duration: answerMax,
            onTimeout: () => new SessionLost({ cause: "no answer" })
          })
        )
      const client = yield* Effect.retry(connected(servers, applicationName, answerMax, attempt), {
        times: servers.urls.length - 1
      })
      const session: Session = {
        ask: (statement) =>
          Effect.tryPromise({
            try: () => client.ask(statement),
            catch: (cause) => new SessionLost({ cause })
          }),
        onNotification: (told) =>
          void client.on("notification", ({ payload }) => {
            if (payload !== undefined) told(payload)
          })
      }
      /** Gives when it was asked, and what is watched. */
      const look = Effect.gen(function* () {
        const asked = monotonicNow_ms(clock)
        const [row] = yield* session.ask<{
          readonly standby: boolean
          readonly now_ms: number
          readonly watched: number
        }>(
          `SELECT pg_is_in_recovery() AS standby, (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now_ms, (${watched})::float8 AS watched`
        )
        if (row?.standby !== false) return yield* new SessionLost({ cause: "the server is a standby" })
        yield* heard(row.now_ms, asked)
        return { asked, watched: row.watched }
      })
      const heartbeat = Effect.map(look, ({ asked, watched }) => heartbeats.answered(asked, watched))
      const pause = Effect.async<void>((resume) => {
        const period_ms = heartbeats.pause_ms(() => {
          timer.unsafeInterruptAsFork(FiberId.none)
          resume(Effect.void)
        })
        const pause_ms = Pulse.untilBeat_ms(pulse, monotonicNow_ms(clock), period_ms)
        const timer = runFork(clock.sleep(Duration.millis(pause_ms)))
        timer.addObserver(() => resume(Effect.void))
        return Effect.asVoid(Fiber.interruptFork(timer))
      })
      const ended = Effect.async<never, SessionLost>((resume) => {
        client.once("end", () => resume(new SessionLost({ cause: "the connection has ended" })))
      })
      const beating = Effect.zipRight(
        Effect.zipRight(Effect.zipRight(look, begin(session)), heartbeat),
        Effect.forever(Effect.zipRight(pause, heartbeat))
      )
      return yield* Effect.raceFirst(beating, ended)
    })
  ).pipe(
    Effect.tapError((error) =>
      Effect.sync(() => (error instanceof SessionLost ? heartbeats.failed() : heartbeats.refused()))
    )
  )

const connected = (
  servers: DatabaseServersService,
  applicationName: string,
  answerMax: Duration.Duration,
  attempt: <A>(promise: () => Promise<A>) => Effect.Effect<A, SessionLost>
): Effect.Effect<SessionClient, SessionLost, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.flatMap(Connecting, (connect) => {
      const client = connect(servers, { applicationName, answer_ms: Duration.toMillis(answerMax) })
      // What is wrong shows when the connection has ended; without a listener it would end the process.
      client.on("error", () => {})
      return Effect.as(
        attempt(() => client.connect()),
        client
      )
    }),
    (client) => Effect.ignore(attempt(() => client.end()))
  )
