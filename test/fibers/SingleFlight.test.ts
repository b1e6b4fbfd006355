import { expect, it } from "@effect/vitest"
import { Deferred, Effect, Exit, FastCheck as fc, Fiber, Scope } from "effect"
import { describe } from "vitest"
import * as SingleFlight from "../../src/fibers/SingleFlight.ts"
import { StepScheduler } from "../support/StepScheduler.ts"

/** A single flight whose runs count themselves and wait to be ended. */
const controlled = Effect.gen(function* () {
  const ends: Array<Deferred.Deferred<string, string>> = []
  const flight = yield* SingleFlight.make(
    Effect.gen(function* () {
      const end = yield* Deferred.make<string, string>()
      ends.push(end)
      return yield* Deferred.await(end)
    })
  )
  return { flight, ends }
})

/** Lets fibers that can go on do so until they wait. */
const others = Effect.repeatN(Effect.yieldNow(), 20)

describe("a single flight", () => {
  it.scoped("runs once for all who join while it is under way", () =>
    Effect.gen(function* () {
      const { ends, flight } = yield* controlled
      const joiners = yield* Effect.forkAll(Array.from({ length: 20 }, () => flight.join))
      yield* others
      expect(ends.length).toBe(1)
      expect(flight.isRunning()).toBe(true)
      yield* Deferred.succeed(ends[0]!, "first")
      expect(new Set(yield* Fiber.join(joiners))).toEqual(new Set(["first"]))
      expect(flight.isRunning()).toBe(false)
    })
  )

  it.scoped("runs anew for who joins after its end", () =>
    Effect.gen(function* () {
      const { ends, flight } = yield* controlled
      const first = yield* Effect.fork(flight.join)
      yield* others
      yield* Deferred.succeed(ends[0]!, "first")
      yield* Fiber.join(first)
      const second = yield* Effect.fork(flight.join)
      yield* others
      yield* Deferred.succeed(ends[1]!, "second")
      expect(yield* Fiber.join(second)).toBe("second")
    })
  )

  it.scoped("fails all who joined the run that failed, and runs anew afterwards", () =>
    Effect.gen(function* () {
      const { ends, flight } = yield* controlled
      const joiners = yield* Effect.forkAll(Array.from({ length: 3 }, () => Effect.flip(flight.join)))
      yield* others
      yield* Deferred.fail(ends[0]!, "broken")
      expect(yield* Fiber.join(joiners)).toEqual(["broken", "broken", "broken"])
      const next = yield* Effect.fork(flight.join)
      yield* others
      yield* Deferred.succeed(ends[1]!, "whole")
      expect(yield* Fiber.join(next)).toBe("whole")
    })
  )

  it.scoped("goes on when a joiner is interrupted, the one who started it too", () =>
    Effect.gen(function* () {
      const { ends, flight } = yield* controlled
      const starter = yield* Effect.fork(flight.join)
      yield* others
      const joiner = yield* Effect.fork(flight.join)
      yield* others
      yield* Fiber.interrupt(starter)
      expect(flight.isRunning()).toBe(true)
      yield* Deferred.succeed(ends[0]!, "done")
      expect(yield* Fiber.join(joiner)).toBe("done")
      expect(ends.length).toBe(1)
    })
  )

  it.scoped("is started without being waited for", () =>
    Effect.gen(function* () {
      const { ends, flight } = yield* controlled
      yield* flight.start
      yield* flight.start
      yield* others
      expect(ends.length).toBe(1)
      yield* Deferred.fail(ends[0]!, "nobody sees this")
      yield* others
      expect(flight.isRunning()).toBe(false)
    })
  )

  it.scoped("is at rest when its run has ended, however it did, and starts none for who waits for that", () =>
    Effect.gen(function* () {
      const { ends, flight } = yield* controlled
      yield* flight.rest
      yield* flight.start
      const waiting = yield* Effect.fork(flight.rest)
      yield* others
      expect(waiting.unsafePoll()).toBeNull()
      yield* Deferred.fail(ends[0]!, "broken")
      yield* Fiber.join(waiting)
      expect(ends.length).toBe(1)
    })
  )

  it.effect("ends with its scope, and so does the waiting for it, begun before or after", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const { flight } = yield* Scope.extend(controlled, scope)
      const before = yield* Effect.fork(flight.join)
      yield* others
      yield* Scope.close(scope, Exit.void)
      expect(Exit.isInterrupted(yield* Fiber.await(before))).toBe(true)
      // On another fiber: the interruption is that of the run, not of the test.
      const after = yield* Effect.fork(flight.join)
      expect(Exit.isInterrupted(yield* Fiber.await(after))).toBe(true)
      expect(flight.isRunning()).toBe(false)
    })
  )

  it("never runs twice at a time, nor answers with a run that ended before the question, on any schedule", () => {
    const schedules = fc.record({
      callers: fc.integer({ min: 1, max: 6 }),
      choices: fc.array(fc.nat(100), { maxLength: 300 }),
      interrupted: fc.array(fc.boolean(), { minLength: 6, maxLength: 6 })
    })
    fc.assert(
      fc.property(schedules, ({ callers, choices, interrupted }) => {
        const scheduler = new StepScheduler()
        let running = 0
        let ended = 0
        const run = Effect.gen(function* () {
          expect(++running).toBe(1)
          yield* Effect.repeatN(Effect.yieldNow(), 3)
          running--
          return ++ended
        })
        const scope = Effect.runSync(Scope.make())
        const flight = Effect.runSync(Scope.extend(SingleFlight.make(run), scope))
        const asked = Array.from({ length: callers }, (_, caller) => {
          const call = { before: 0 }
          const fiber = scheduler.fork(
            Effect.suspend(() => {
              call.before = ended
              return flight.join
            })
          )
          if (interrupted[caller] === true) scheduler.fork(Fiber.interrupt(fiber))
          return { call, fiber, mayBeInterrupted: interrupted[caller] === true }
        })
        scheduler.settle(choices)
        for (const { call, fiber, mayBeInterrupted } of asked) {
          const exit = fiber.unsafePoll()
          if (exit !== null && Exit.isSuccess(exit)) expect(exit.value).toBeGreaterThan(call.before)
          else expect(exit !== null && mayBeInterrupted).toBe(true)
        }
        expect(flight.isRunning()).toBe(false)
      }),
      { numRuns: 500 }
    )
  })
})
