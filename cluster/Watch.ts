// What happens to the servers of a cluster after they came up.

import { Effect, Exit, Scope } from "effect"
import type { Unavailable } from "../test/support/services/Service.ts"
import type { Launched } from "./Launch.ts"

/** Who is told of it, in one line each, and what follows. */
export interface Watch {
  readonly notify: (line: string) => Effect.Effect<void>
  /** Whether a node that dies is started again. */
  readonly restart: boolean
  /** Comes when the whole cluster is up: before that a server that ends is no news, but a reason not to come up. */
  readonly up: Effect.Effect<void>
  /** Whether the cluster is being stopped: then servers end because they are told to. */
  readonly isStopping: () => boolean
}

const obituary = ({ log, name, pid }: Launched, how: string) => `${name} (pid ${pid}) ${how}; its log: ${log}`

/** Tells when a server dies that nobody starts again. */
export const watchOver = (
  servers: ReadonlyArray<Launched>,
  { isStopping, notify, up }: Watch
): Effect.Effect<void, never, Scope.Scope> =>
  Effect.forEach(
    servers,
    (server) =>
      server.ended.pipe(
        Effect.zipLeft(up),
        Effect.flatMap((how) => (isStopping() ? Effect.void : notify(obituary(server, how)))),
        Effect.forkScoped
      ),
    { discard: true }
  )

/** One life of a server: what it holds goes with `close`, or with the scope that it was started in. */
interface Life {
  readonly server: Launched
  readonly close: Effect.Effect<void>
}

const live = Effect.fn("live")(function* (
  start: Effect.Effect<Launched, Unavailable, Scope.Scope>,
  scope: Scope.Scope
): Effect.fn.Return<Life, Unavailable> {
  const own = yield* Scope.fork(scope, scope.strategy)
  const server = yield* Effect.onError(Scope.extend(start, own), (cause) =>
    Scope.close(own, Exit.failCause(cause))
  )
  return { server, close: Scope.close(own, Exit.void) }
})

/** Starts a server; tells when it dies, and starts it again where that is wanted, for as long as the scope lasts. */
export const supervise = Effect.fn("supervise")(function* (
  start: Effect.Effect<Launched, Unavailable, Scope.Scope>,
  { isStopping, notify, restart, up }: Watch
): Effect.fn.Return<Launched, Unavailable, Scope.Scope> {
  const scope = yield* Effect.scope

  const again: Effect.Effect<Life> = live(start, scope).pipe(
    Effect.tapBoth({
      onSuccess: ({ server }) => notify(`${server.name} is up again (pid ${server.pid})`),
      onFailure: ({ message }) => notify(message)
    }),
    // It may be the fault of something else, which comes back.
    Effect.catchAll(() => Effect.zipRight(Effect.sleep("1 second"), again))
  )
  const watch = ({ close, server }: Life): Effect.Effect<void> =>
    Effect.gen(function* () {
      const how = yield* server.ended
      yield* up
      if (isStopping()) return
      yield* notify(obituary(server, how))
      yield* close
      if (restart) return yield* watch(yield* again)
    })

  const first = yield* live(start, scope)
  yield* Effect.forkIn(watch(first), scope)
  return first.server
})
