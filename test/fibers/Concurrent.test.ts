import { Effect, Exit, FastCheck as fc, Fiber } from "effect"
import { describe, expect, it } from "vitest"
import * as Concurrent from "../../src/fibers/Concurrent.ts"
import { StepScheduler } from "../support/StepScheduler.ts"

const schedules = fc.array(fc.nat(50), { maxLength: 200 })

describe("work on several items at once", () => {
  it("ends on any schedule, with nothing left running, also when it is interrupted", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("gives", "fails", "waits"), { maxLength: 6 }),
        fc.integer({ min: 1, max: 6 }),
        schedules,
        (items, atMost, choices) => {
          const scheduler = new StepScheduler()
          let running = 0
          const one = (what: string, index: number) =>
            Effect.acquireUseRelease(
              Effect.sync(() => expect(++running).toBeLessThanOrEqual(atMost)),
              () =>
                Effect.gen(function* () {
                  yield* Effect.yieldNow()
                  if (what === "fails") return yield* Effect.fail(what)
                  if (what === "waits") return yield* Effect.never
                  return index
                }),
              () => Effect.sync(() => running--)
            )
          const fiber = scheduler.fork(Concurrent.forEach(items, one, atMost))
          scheduler.fork(Fiber.interrupt(fiber))
          scheduler.settle(choices)
          const exit = fiber.unsafePoll()
          expect(exit).not.toBe(null)
          expect(running).toBe(0)
          if (Exit.isSuccess(exit!)) expect(exit.value).toEqual(items.map((_, index) => index))
        }
      ),
      // Effect's own never ends here.
      { numRuns: 500, examples: [[["gives"], 2, [0, 21, 7, 15]]] }
    )
  })

  it("gives the results in order, so many at a time at most", () => {
    fc.assert(
      fc.property(fc.nat(8), fc.integer({ min: 1, max: 4 }), schedules, (length, atMost, choices) => {
        const scheduler = new StepScheduler()
        const items = Array.from({ length }, (_, index) => index)
        let [running, most] = [0, 0]
        const fiber = scheduler.fork(
          Concurrent.forEach(
            items,
            (item) =>
              Effect.gen(function* () {
                most = Math.max(most, ++running)
                for (let turn = 0; turn < length - item; turn++) yield* Effect.yieldNow()
                running--
                return item * item
              }),
            atMost
          )
        )
        scheduler.settle(choices)
        expect(fiber.unsafePoll()).toEqual(Exit.succeed(items.map((item) => item * item)))
        expect(most).toBeLessThanOrEqual(atMost)
      })
    )
  })

  it("begins all of them where none ends before the last has begun", async () => {
    const latch = Effect.unsafeMakeLatch()
    let begun = 0
    const one = () => Effect.suspend(() => (++begun === 3 ? latch.open : latch.await))
    await Effect.runPromise(Concurrent.forEach([0, 1, 2], one))
    expect(begun).toBe(3)
  })

  it("fails with the first failure, and interrupts the others", async () => {
    let interrupted = 0
    const waits = Effect.onInterrupt(Effect.never, () => Effect.sync(() => interrupted++))
    const exit = await Effect.runPromiseExit(
      Concurrent.forEach([0, 1, 2], (item) => (item === 1 ? Effect.fail("no") : waits))
    )
    expect(exit).toEqual(Exit.fail("no"))
    expect(interrupted).toBe(2)
  })
})
