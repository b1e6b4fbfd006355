import { Effect, FastCheck as fc, Fiber } from "effect"
import { describe, expect, it } from "vitest"
import * as FairSemaphore from "../../src/fibers/FairSemaphore.ts"
import { StepScheduler } from "../support/StepScheduler.ts"

/** A fiber that wants a permit: whether its work fails, and whether it is interrupted. */
const callers = fc.array(fc.record({ fails: fc.boolean(), leaves: fc.boolean() }), {
  minLength: 1,
  maxLength: 8
})

describe("turns on any schedule", () => {
  it("are so many at a time at most, and all there again afterwards, whoever was interrupted and when", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 3 }),
        callers,
        fc.array(fc.nat(50), { maxLength: 300 }),
        (atOnce, callers, choices) => {
          const scheduler = new StepScheduler()
          const turns = FairSemaphore.make(atOnce)
          let running = 0
          const work = (fails: boolean) =>
            Effect.gen(function* () {
              expect(++running).toBeLessThanOrEqual(atOnce)
              yield* Effect.yieldNow()
              if (fails) return yield* Effect.fail("no")
            }).pipe(Effect.ensuring(Effect.sync(() => running--)))
          const fibers = callers.map(({ fails, leaves }) => {
            const fiber = scheduler.fork(turns(work(fails)))
            if (leaves) scheduler.fork(Fiber.interrupt(fiber))
            return fiber
          })
          scheduler.settle(choices)
          fibers.forEach((fiber, index) => {
            const exit = fiber.unsafePoll()
            expect(exit).not.toBe(null)
            if (!callers[index]!.leaves)
              expect(exit!._tag).toBe(callers[index]!.fails ? "Failure" : "Success")
          })

          const after = Array.from({ length: atOnce + 1 }, () => scheduler.fork(turns(Effect.never)))
          scheduler.settle()
          const last = scheduler.fork(Fiber.interruptAll(after.slice(0, 1)))
          scheduler.settle()
          expect(last.unsafePoll()).not.toBe(null)
          let arrived = 0
          const next = scheduler.fork(turns(Effect.sync(() => arrived++)))
          scheduler.settle()
          expect(arrived).toBe(0)
          scheduler.fork(Fiber.interruptAll(after.slice(1)))
          scheduler.settle()
          expect([arrived, next.unsafePoll()?._tag]).toEqual([1, "Success"])
        }
      ),
      {
        numRuns: 500,
        // Effect's own semaphore loses a permit here.
        examples: [
          [
            1,
            [
              { fails: false, leaves: true },
              { fails: false, leaves: false }
            ],
            [0, 46, 22, 47, 17, 20, 20]
          ]
        ]
      }
    )
  })

  it("come in the order of those who wait", () => {
    const scheduler = new StepScheduler()
    const turns = FairSemaphore.make(1)
    const seen: Array<number> = []
    for (const number of [1, 2, 3, 4]) {
      scheduler.fork(
        turns(
          Effect.zipRight(
            Effect.yieldNow(),
            Effect.sync(() => seen.push(number))
          )
        )
      )
    }
    scheduler.settle()
    expect(seen).toEqual([1, 2, 3, 4])
  })

  it("are not waited for by who is interrupted", () => {
    const scheduler = new StepScheduler()
    const turns = FairSemaphore.make(1)
    scheduler.fork(turns(Effect.never))
    const waits = scheduler.fork(turns(Effect.never))
    scheduler.settle()
    scheduler.fork(Fiber.interrupt(waits))
    scheduler.settle()
    expect(waits.unsafePoll()?._tag).toBe("Failure")
  })
})
