// How late the timers of this process come: on a machine that stood still, or that does other things as well, what it watches is late, too.

import { Duration, Effect, type Scope } from "effect"

const every_ms = 50

/** Late beats that are remembered. */
const lateMax = 1_000

/** Beats as long as the scope is open. Gives what tells how late a beat came since a moment, at most, in milliseconds. Moments are those of `performance.now()`. */
export const lateness: Effect.Effect<(since: number) => number, never, Scope.Scope> = Effect.gen(
  function* () {
    const late: Array<{ readonly at: number; readonly late_ms: number }> = []
    let due = performance.now() + every_ms
    const beat = Effect.sync(() => {
      const at = performance.now()
      if (at - due > every_ms) late.push({ at, late_ms: at - due })
      if (late.length > lateMax) late.shift()
      due = at + every_ms
    })
    yield* Effect.forkScoped(Effect.forever(Effect.delay(beat, every_ms)))
    return (since) =>
      Math.max(
        0,
        performance.now() - due,
        ...late.filter(({ at }) => at >= since).map(({ late_ms }) => late_ms)
      )
  }
)

/** How long something takes, in milliseconds, less how late a beat came meanwhile at most; and its result. */
export const timed = <A, E, R>(
  self: Effect.Effect<A, E, R>
): Effect.Effect<readonly [took_ms: number, result: A], E, Exclude<R, Scope.Scope>> =>
  Effect.scoped(
    Effect.gen(function* () {
      const lateSince = yield* lateness
      const since = performance.now()
      const [took, result] = yield* Effect.timed(self)
      return [Duration.toMillis(took) - lateSince(since), result] as const
    })
  )
