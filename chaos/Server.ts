// A server that may be killed and started again: the same port, the same folder.

import { Effect, Exit, Scope } from "effect"
import { Unavailable } from "../test/support/services/Service.ts"
import type { Launched } from "../cluster/Launch.ts"

/** A server that runs, or ran. */
export interface Server {
  readonly name: string
  /** Its process id now; another one after it was started again. */
  readonly pid: () => number
  readonly log: string
  /** Sends it a signal; a server that is gone has none. */
  readonly signal: (signal: "SIGKILL" | "SIGTERM" | "SIGINT" | "SIGSTOP" | "SIGCONT") => Effect.Effect<void>
  /** Comes when it has ended, with how it did; fails where that takes more than 20 s. */
  readonly ended: Effect.Effect<string, Unavailable>
  /** Starts it again after it ended. */
  readonly start: Effect.Effect<void, Unavailable>
}

/** Starts a server that stops when the scope closes, whatever happened to it until then. */
export const make = (
  start: Effect.Effect<Launched, Unavailable, Scope.Scope>
): Effect.Effect<Server, Unavailable, Scope.Scope> =>
  Effect.gen(function* () {
    const outer = yield* Effect.scope
    const inOwnScope = Effect.gen(function* () {
      const own = yield* Scope.fork(outer, outer.strategy)
      const launched = yield* Effect.onError(Scope.extend(start, own), (cause) =>
        Scope.close(own, Exit.failCause(cause))
      )
      return { launched, close: Scope.close(own, Exit.void) }
    })
    let now = yield* inOwnScope
    const signal: Server["signal"] = (name) =>
      Effect.sync(() => {
        try {
          process.kill(now.launched.pid, name)
        } catch {
          // It is gone.
        }
      })
    // One that stands still would not hear that it shall stop.
    yield* Effect.addFinalizer(() => signal("SIGCONT"))

    return {
      name: now.launched.name,
      pid: () => now.launched.pid,
      log: now.launched.log,
      signal,
      ended: Effect.suspend(() => now.launched.ended).pipe(
        Effect.timeoutFail({
          duration: "20 seconds",
          onTimeout: () => new Unavailable({ reason: `${now.launched.name} did not end within 20 s` })
        })
      ),
      start: Effect.gen(function* () {
        yield* now.close
        now = yield* inOwnScope
      })
    }
  })
