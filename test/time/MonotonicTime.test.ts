import { type Clock, Effect } from "effect"
import { expect, it } from "vitest"
import { monotonicNow_ms } from "../../src/time/MonotonicTime.ts"

it("is the same by the live clock and by a clock that is made of it", () => {
  const live = Effect.runSync(Effect.clock)
  const made = Object.create(live) as Clock.Clock
  const before = monotonicNow_ms(live)
  const between = monotonicNow_ms(made)
  const after = monotonicNow_ms(live)
  // One reads the processor's time in nanoseconds, the other in fractions of milliseconds.
  expect(between).toBeGreaterThan(before - 1)
  expect(between).toBeLessThan(after + 1)
})
