import { describe, expect, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Exit, Fiber, Ref, TestClock } from "effect"
import * as FreshCache from "../../src/fibers/FreshCache.ts"

const freshFor = Duration.seconds(1)

/** A cache whose reads wait for `go`, and how often it has read. */
const make = Effect.gen(function* () {
  const go = yield* Deferred.make<void>()
  const reads = yield* Ref.make(0)
  const cache = yield* FreshCache.make({
    max: 1,
    freshFor,
    read: () =>
      Effect.zipRight(
        Deferred.await(go),
        Ref.updateAndGet(reads, (count) => count + 1)
      )
  })
  return { cache, go, reads }
})

describe("a fresh cache", () => {
  it.scoped("reads on when who asked first is interrupted, for all who wait and who come later", () =>
    Effect.gen(function* () {
      const { cache, go, reads } = yield* make
      const first = yield* Effect.fork(cache.get("a"))
      yield* Effect.yieldNow()
      const second = yield* Effect.fork(cache.get("a"))
      yield* Effect.yieldNow()
      yield* Fiber.interrupt(first)
      yield* Deferred.succeed(go, undefined)
      expect(yield* Fiber.await(second)).toEqual(Exit.succeed(1))
      expect(yield* cache.get("a")).toBe(1)
      expect(yield* reads).toBe(1)
    })
  )

  it.scoped("remembers an answer for its time since it was asked for, and no longer", () =>
    Effect.gen(function* () {
      const { cache, go } = yield* make
      yield* Deferred.succeed(go, undefined)
      expect(yield* cache.get("a")).toBe(1)
      yield* TestClock.adjust("999 millis")
      expect(yield* cache.get("a")).toBe(1)
      expect(cache.getNow("a")).toEqual(Exit.succeed(1))
      yield* TestClock.adjust("1 millis")
      expect(cache.getNow("a")).toBeUndefined()
      expect(yield* cache.get("a")).toBe(2)
    })
  )

  it.scoped("counts the time that an answer took: one that took long is soon out of date", () =>
    Effect.gen(function* () {
      const { cache, go, reads } = yield* make
      const first = yield* Effect.fork(cache.get("a"))
      yield* Effect.yieldNow()
      yield* TestClock.adjust("900 millis")
      yield* Deferred.succeed(go, undefined)
      expect(yield* Fiber.join(first)).toBe(1)
      yield* TestClock.adjust("99 millis")
      expect(yield* cache.get("a")).toBe(1)
      yield* TestClock.adjust("1 millis")
      expect(cache.getNow("a")).toBeUndefined()
      yield* cache.get("a")
      expect(yield* reads).toBe(2)
    })
  )

  it.scoped("does not remember a failure", () =>
    Effect.gen(function* () {
      const outcome = yield* Ref.make<Exit.Exit<number, string>>(Exit.fail("away"))
      const cache = yield* FreshCache.make({ max: 1, freshFor, read: () => Effect.flatten(Ref.get(outcome)) })
      expect(yield* Effect.flip(cache.get("a"))).toBe("away")
      yield* Ref.set(outcome, Exit.succeed(3))
      expect(yield* cache.get("a")).toBe(3)
    })
  )
})
