import { it } from "@effect/vitest"
import { Clock, Duration, Effect, FastCheck as fc, TestClock } from "effect"
import { describe, expect, it as plainIt } from "vitest"
import * as Pulse from "../../src/time/Pulse.ts"

describe("the beats of a process", () => {
  plainIt("are reached by each wait, which is no longer than the period and 2 ms", () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 1e12, noNaN: true }),
        fc.double({ min: 0, max: 1e9, noNaN: true }),
        fc.constantFrom(100, 200, 500, 1_000, 5_000),
        (start_ms, age_ms, period_ms) => {
          const wait_ms = Pulse.untilBeat_ms({ start_ms }, start_ms + age_ms, period_ms)
          expect(Number.isInteger(wait_ms)).toBe(true)
          expect(wait_ms).toBeGreaterThan(2)
          expect(wait_ms).toBeLessThanOrEqual(period_ms + 2)
          // At the beat, or less than a millisecond after it: timers have whole milliseconds.
          const late_ms = (age_ms + wait_ms) % period_ms
          expect(Math.min(late_ms, Math.abs(period_ms - late_ms))).toBeLessThan(1.01)
        }
      )
    )
  })

  it.scoped("of different periods come together, however long the steps take", () =>
    Effect.gen(function* () {
      const at: Array<string> = []
      const step = (name: string, takes_ms: number) =>
        Effect.gen(function* () {
          at.push(`${name} ${yield* Clock.currentTimeMillis}`)
          yield* Effect.sleep(takes_ms)
        })
      yield* TestClock.adjust("130 millis")
      yield* Effect.forkScoped(Pulse.forever(step("half", 40), Duration.millis(500)))
      yield* TestClock.adjust("200 millis")
      yield* Effect.forkScoped(Pulse.forever(step("whole", 700), Duration.seconds(1)))
      yield* TestClock.adjust("2670 millis")
      expect(at.toSorted()).toEqual(
        ["half 1000", "half 1500", "half 2000", "half 2500", "half 3000", "half 500"].concat([
          "whole 1000",
          "whole 2000",
          "whole 3000"
        ])
      )
    })
  )

  it.scoped("count from its start", () =>
    Effect.gen(function* () {
      yield* TestClock.adjust("130 millis")
      const pulse = yield* Effect.provide(Pulse.Pulse, Pulse.layer)
      expect(Pulse.untilBeat_ms(pulse, 130, 500)).toBe(500)
      expect(Pulse.untilBeat_ms(pulse, 600, 500)).toBe(30)
    })
  )

  it.scoped("end the waits of a library that are told by their values, and no others", () =>
    Effect.gen(function* () {
      const poll = Duration.millis(500)
      const woken = (wait: Duration.Duration) =>
        Effect.zipRight(Effect.sleep(wait), Clock.currentTimeMillis).pipe(
          Effect.provide(Pulse.layerOf([poll])),
          Effect.fork
        )
      yield* TestClock.adjust("130 millis")
      const [aligned, other] = yield* Effect.all([woken(poll), woken(Duration.millis(500))])
      yield* TestClock.adjust("1 second")
      expect(yield* aligned).toBe(500)
      expect(yield* other).toBe(630)
    })
  )
})
