import { Data, Duration, Effect, Layer, Redacted, Schedule, type Scope } from "effect"
import { Client, type Notification } from "pg"
import { monotonic_ms } from "../MonotonicTime.ts"
import {
  freshFor_ms,
  LinkChanges,
  type LinkChangesService,
  type LinkChangesSubscriber
} from "./LinkChanges.ts"

/** The channel on which `LinkStoreSql` announces keys. */
export const channel = "linkmint_links"

/** How often the listening connection proves that it has caught up. */
const heartbeatEvery = Duration.millis(200)

/** A connection that does not answer for this long is given up. */
const answerMax = Duration.millis(1_000)

class ListenFailed extends Data.TaggedError("ListenFailed")<{ readonly cause: unknown }> {}

const attempt = <A>(promise: () => Promise<A>) =>
  Effect.tryPromise({ try: promise, catch: (cause) => new ListenFailed({ cause }) }).pipe(
    Effect.timeoutFail({ duration: answerMax, onTimeout: () => new ListenFailed({ cause: "no answer" }) })
  )

/**
 * `LinkChanges` by `LISTEN` on a connection of its own.
 *
 * The connection is asked for an answer every 200 ms. PostgreSQL delivers what was notified before it answers, so an answer proves that
 * everything notified before the question has arrived: the news is as fresh as the last answered question. When the connection is lost, or the
 * process was paused, there is no answer, and caches are bypassed. A new connection has missed what was notified
 * meanwhile, so subscribers forget everything first.
 *
 * The client is `pg`'s own: `PgClient.listen` of `@effect/sql-pg` 0.53 does not tell when its connection is lost.
 */
export const make = (url: Redacted.Redacted): Effect.Effect<LinkChangesService, never, Scope.Scope> =>
  Effect.gen(function* () {
    const clock = yield* Effect.clock
    const subscribers = new Set<LinkChangesSubscriber>()
    let freshAsOf = Number.NEGATIVE_INFINITY

    const connect = Effect.acquireRelease(
      Effect.suspend(() => {
        const client = new Client({
          connectionString: Redacted.value(url),
          application_name: "linkmint-listen",
          connectionTimeoutMillis: Duration.toMillis(answerMax)
        })
        // What is wrong shows at the next heartbeat; without a listener it would end the process.
        client.on("error", () => {})
        return Effect.as(
          attempt(() => client.connect()),
          client
        )
      }),
      (client) => Effect.ignore(attempt(() => client.end()))
    )

    const heartbeat = (client: Client) =>
      Effect.gen(function* () {
        const asked = monotonic_ms(clock)
        yield* attempt(() => client.query("SELECT 1"))
        freshAsOf = asked
      })

    const listen = Effect.scoped(
      Effect.gen(function* () {
        const client = yield* connect
        client.on("notification", ({ payload }: Notification) => {
          if (payload !== undefined) subscribers.forEach((subscriber) => subscriber.forget(payload))
        })
        yield* attempt(() => client.query(`LISTEN ${channel}`))
        subscribers.forEach((subscriber) => subscriber.forgetAll())
        yield* Effect.repeat(heartbeat(client), Schedule.spaced(heartbeatEvery))
      })
    ).pipe(
      Effect.tapError((error) =>
        Effect.logWarning(`The database's news of links is lost: ${String(error.cause)}`)
      ),
      Effect.ensuring(
        Effect.sync(() => {
          freshAsOf = Number.NEGATIVE_INFINITY
        })
      )
    )

    yield* Effect.forkScoped(Effect.retry(listen, Schedule.spaced(heartbeatEvery)))

    return {
      isFresh: (now) => now - freshAsOf < freshFor_ms,
      subscribe: (subscriber) =>
        Effect.acquireRelease(
          Effect.sync(() => void subscribers.add(subscriber)),
          () => Effect.sync(() => void subscribers.delete(subscriber))
        )
    }
  })

/** See {@link make}. */
export const layer = (url: Redacted.Redacted): Layer.Layer<LinkChanges> =>
  Layer.scoped(LinkChanges, make(url))
