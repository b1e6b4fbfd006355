import { Duration, Effect, Layer, Schedule, type Scope } from "effect"
import {
  LinkInvalidations,
  type LinkInvalidationsService,
  type LinkChangesSubscriber
} from "./LinkInvalidations.ts"
import { DatabaseServers } from "../sql/postgres/DatabaseServers.ts"
import { heartbeatEvery, Heartbeats, run } from "../sql/postgres/PersistentSession.ts"

/** The channel on which `LinkStoreSql` announces keys. */
export const channel = "linkmint_links"

/** What is asked for with each heartbeat: the database's epoch. */
export const watched = "SELECT epoch FROM link_epoch WHERE id = 1"

/** A connection that does not answer for this long is given up. */
const answerMax = Duration.millis(1_000)

/**
 * `LinkInvalidations` by `LISTEN` on a session of its own.
 *
 * The primary is asked for an answer every 200 ms, or 500 ms while no cache is looked into. PostgreSQL delivers what was notified before it answers, so an answer proves that
 * everything notified before the question has arrived: the news is as fresh as the last answered question. When the session is lost, or the
 * process was paused, there is no answer, and caches are bypassed. A new session has missed what was notified
 * meanwhile, so subscribers forget everything first. Each answer has the database's epoch as well.
 *
 * The client is `pg`'s own: `PgClient.listen` of `@effect/sql-pg` 0.53 does not tell when its connection is lost.
 */
export const make: Effect.Effect<LinkInvalidationsService, never, Scope.Scope | DatabaseServers> = Effect.gen(
  function* () {
    const servers = yield* DatabaseServers
    const subscribers = new Set<LinkChangesSubscriber>()
    const heartbeats = new Heartbeats()
    let isListening = false

    const listen = run(servers, {
      applicationName: "linkmint-listen",
      answerMax,
      begin: (session) =>
        Effect.gen(function* () {
          session.onNotification((key) => subscribers.forEach((subscriber) => subscriber.forget(key)))
          yield* session.ask(`LISTEN ${channel}`)
          subscribers.forEach((subscriber) => subscriber.forgetAll())
          isListening = true
        }),
      heartbeats,
      watched
    }).pipe(
      Effect.tapError((error) => Effect.logWarning(`The database's news of links is lost. ${error.message}`)),
      Effect.ensuring(
        Effect.sync(() => {
          isListening = false
        })
      )
    )

    yield* Effect.forkScoped(Effect.retry(listen, Schedule.spaced(heartbeatEvery)))

    return {
      isFresh: (now) => isListening && heartbeats.isFresh(now),
      awayFor: (now) => heartbeats.awayFor(now),
      epoch: () => heartbeats.watched,
      subscribe: (subscriber) =>
        Effect.acquireRelease(
          Effect.sync(() => void subscribers.add(subscriber)),
          () => Effect.sync(() => void subscribers.delete(subscriber))
        )
    }
  }
)

/** See {@link make}. */
export const layer: Layer.Layer<LinkInvalidations, never, DatabaseServers> = Layer.scoped(
  LinkInvalidations,
  make
)
