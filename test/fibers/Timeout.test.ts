import { describe, expect, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Exit, Fiber, Option, TestClock } from "effect"
import * as Timeout from "../../src/fibers/Timeout.ts"

const second = { duration: Duration.seconds(1), onTimeout: () => Effect.fail("late") }

/** An effect that never ends, and tells when it is interrupted. */
const endless = Effect.gen(function* () {
  const interrupted = yield* Deferred.make<void>()
  const run = Effect.onInterrupt(Effect.never, () => Deferred.succeed(interrupted, undefined))
  return { run, interrupted: Deferred.await(interrupted), isInterrupted: Deferred.isDone(interrupted) }
})

describe("a timeout", () => {
  it.effect("gives what comes in time", () =>
    Effect.gen(function* () {
      expect(yield* Timeout.within(Effect.succeed(1), second)).toBe(1)
      const later = yield* Effect.fork(Timeout.within(Effect.as(Effect.sleep("999 millis"), 2), second))
      yield* TestClock.adjust("999 millis")
      expect(yield* Fiber.join(later)).toBe(2)
    })
  )

  it.effect("stops its timer when the effect has ended", () =>
    Effect.gen(function* () {
      let stopped = 0
      const clock = yield* Effect.clock
      const sleep = () => Effect.onInterrupt(Effect.never, () => Effect.sync(() => stopped++))
      const soon = Effect.delay(Effect.succeed(1), "1 millis").pipe(Effect.withClock(clock))
      const waiting = yield* Effect.fork(
        Effect.withClock(Timeout.within(soon, second), Object.assign(Object.create(clock), { sleep }))
      )
      yield* TestClock.adjust("1 millis")
      expect(yield* Fiber.join(waiting)).toBe(1)
      expect(stopped).toBe(1)
    })
  )

  it.effect("fails as the effect does", () =>
    Effect.gen(function* () {
      expect(yield* Effect.exit(Timeout.within(Effect.fail("no"), second))).toEqual(Exit.fail("no"))
      expect(yield* Effect.exit(Timeout.within(Effect.die("broken"), second))).toEqual(Exit.die("broken"))
    })
  )

  it.effect("interrupts what takes longer, and does what is to be done then", () =>
    Effect.gen(function* () {
      const { interrupted, run } = yield* endless
      const waiting = yield* Effect.fork(Effect.exit(Timeout.within(run, second)))
      yield* TestClock.adjust("999 millis")
      expect(yield* Fiber.poll(waiting)).toEqual(Option.none())
      yield* TestClock.adjust("1 millis")
      expect(yield* Fiber.join(waiting)).toEqual(Exit.fail("late"))
      yield* interrupted
    })
  )

  it.effect("does not wait for what cannot be interrupted", () =>
    Effect.gen(function* () {
      const { isInterrupted, run } = yield* endless
      const waiting = yield* Effect.fork(
        Effect.exit(Effect.uninterruptible(Timeout.within(Effect.uninterruptible(run), second)))
      )
      yield* TestClock.adjust("1 seconds")
      expect(yield* Fiber.join(waiting)).toEqual(Exit.fail("late"))
      expect(yield* isInterrupted).toBe(false)
    })
  )

  it.effect("stops the effect when the one who waits is interrupted", () =>
    Effect.gen(function* () {
      const { interrupted, run } = yield* endless
      const waiting = yield* Effect.fork(Timeout.within(run, second))
      yield* TestClock.adjust("500 millis")
      yield* Fiber.interrupt(waiting)
      yield* interrupted
    })
  )
})
