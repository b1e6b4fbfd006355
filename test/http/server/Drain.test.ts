import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect, Fiber, TestClock } from "effect"
import * as DrainableSet from "../../../src/http/exchange/DrainableSet.ts"
import * as Drain from "../../../src/http/server/Drain.ts"

const delay = Duration.seconds(2)

/** A drain of connections that the test opens and closes, and what it has done so far. */
const make = (options: Partial<Drain.DrainOptions> = {}) => {
  const done: Array<string> = []
  const connections = DrainableSet.make<string>()
  const underWay = DrainableSet.make<string>()
  const door: Drain.Drainable = {
    connections,
    underWay,
    refuse: () => void done.push("refuse"),
    closeIdle: () => void done.push("closeIdle"),
    closeAll: () => void done.push("closeAll")
  }
  const drain = Drain.make(door, { drainDelay: delay, hurry: Effect.never, ...options })
  return { ...drain, connections, underWay, done }
}

/** Lets fibers run until they all wait for time. */
const settle = TestClock.adjust(Duration.zero)

describe("a drain", () => {
  it.effect("says so at once, refuses connections after the delay, and is over when none is open", () =>
    Effect.gen(function* () {
      const { done, drain, isDraining } = make()
      expect(isDraining()).toBe(false)
      const fiber = yield* Effect.fork(drain)
      yield* settle
      expect(isDraining()).toBe(true)
      yield* TestClock.adjust("1999 millis")
      expect(done).toEqual([])
      yield* TestClock.adjust("1 millis")
      expect(done).toEqual(["refuse", "closeIdle", "closeAll"])
      yield* Fiber.join(fiber)
    })
  )

  it.effect("does not wait for the delay when it is to hurry", () =>
    Effect.gen(function* () {
      const { done, drain } = make({ hurry: Effect.sleep("10 millis") })
      yield* Effect.fork(drain)
      yield* TestClock.adjust("10 millis")
      expect(done).toEqual(["refuse", "closeIdle", "closeAll"])
    })
  )

  it.effect("waits for 0.5 s for requests that are on their way over open connections", () =>
    Effect.gen(function* () {
      const { connections, done, drain, underWay } = make({ drainDelay: Duration.zero })
      connections.add("idle")
      yield* Effect.fork(drain)
      for (let turn = 0; turn < 10; turn++) {
        yield* settle
        expect(done).toEqual(["refuse"])
        yield* TestClock.adjust("50 millis")
      }
      expect(done).toEqual(["refuse", "closeIdle", "closeAll"])
      expect(underWay.members.size).toBe(0)
    })
  )

  it.effect("waits for the answers to requests that are under way, and not forever", () =>
    Effect.gen(function* () {
      const answered = make({ drainDelay: Duration.zero })
      const silent = make({ drainDelay: Duration.zero })
      for (const { connections, drain, underWay } of [answered, silent]) {
        connections.add("one")
        underWay.add("one")
        yield* Effect.fork(drain)
      }
      yield* TestClock.adjust("3 seconds")
      for (const { done } of [answered, silent]) expect(done).toEqual(["refuse", "closeIdle"])
      answered.underWay.remove("one")
      yield* settle
      expect(answered.done).toEqual(["refuse", "closeIdle", "closeAll"])
      yield* TestClock.adjust("2400 millis")
      expect(silent.done).toEqual(["refuse", "closeIdle"])
      yield* TestClock.adjust("200 millis")
      expect(silent.done).toEqual(["refuse", "closeIdle", "closeAll"])
    })
  )

  it.effect("runs to its end as the finalizer of a fiber that was interrupted", () =>
    Effect.gen(function* () {
      const { connections, done, drain, underWay } = make()
      const main = yield* Effect.fork(
        Effect.scoped(
          Effect.zipRight(
            Effect.addFinalizer(() => drain),
            Effect.never
          )
        )
      )
      yield* settle
      connections.add("one")
      underWay.add("one")
      yield* Fiber.interruptFork(main)
      yield* TestClock.adjust(delay)
      expect(done).toEqual(["refuse"])
      underWay.remove("one")
      connections.remove("one")
      yield* settle
      expect(done).toEqual(["refuse", "closeIdle", "closeAll"])
      yield* Fiber.await(main)
    })
  )
})
