// Requests that take almost as long as they may, on machines that do other things as well.

import { expect } from "@effect/vitest"
import { Duration, Effect } from "effect"

/** Every request is answered within this time. */
export const answerMax_ms = 5_000

/** What takes some 4 s: it is measured against a timer beside it, which comes late on a busy machine as well. */
export const inTime = <A, E, R>(what: string, self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.gen(function* () {
    const timer = Effect.timed(Effect.sleep("4 seconds"))
    const [[duration, result], [slept]] = yield* Effect.all([Effect.timed(self), timer], {
      concurrency: "unbounded"
    })
    expect(Duration.toMillis(duration), what).toBeLessThan(answerMax_ms - 4_000 + Duration.toMillis(slept))
    return result
  })
