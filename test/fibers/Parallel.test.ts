import { Effect, Exit } from "effect"
import { describe, expect, it } from "vitest"
import * as Parallel from "../../src/fibers/Parallel.ts"
import { StepScheduler } from "../support/StepScheduler.ts"

/** Operations after which something is interrupted. */
const moments = Array.from({ length: 60 }, (_, steps) => steps)

/** Interrupts a run after some operations, lets everything come to rest, and gives how it ended, if it did. */
const interruptedAfter = (steps: number, items: ReadonlyArray<number>) => {
  const scheduler = new StepScheduler()
  const fiber = scheduler.fork(Parallel.forEach(items, (item) => Effect.as(Effect.yieldNow(), 10 * item)))
  for (let step = 0; step < steps; step++) scheduler.step()
  fiber.unsafeInterruptAsFork(fiber.id())
  scheduler.settle()
  return fiber.unsafePoll()
}

describe("everything at once", () => {
  it.each([[[]], [[1]], [[1, 2, 3]]])("gives the results in their order, of %j", (items) => {
    const scheduler = new StepScheduler()
    const fiber = scheduler.fork(Parallel.forEach(items, (item) => Effect.succeed(10 * item)))
    scheduler.settle()
    expect(fiber.unsafePoll()).toEqual(Exit.succeed(items.map((item) => 10 * item)))
  })

  it("fails with the first failure, and interrupts the rest", () => {
    const scheduler = new StepScheduler()
    const ended: Array<string> = []
    const run = (item: number) =>
      (item === 1 ? Effect.zipRight(Effect.yieldNow(), Effect.fail("one")) : Effect.never).pipe(
        Effect.onExit((exit) => Effect.sync(() => ended.push(`${item} ${Exit.isInterrupted(exit)}`)))
      )
    const fiber = scheduler.fork(Parallel.forEach([0, 1, 2], run))
    scheduler.settle()
    expect(fiber.unsafePoll()).toEqual(Exit.fail("one"))
    expect(ended).toEqual(["1 false", "0 true", "2 true"])
  })

  it("starts nothing any more once one has failed", () => {
    const scheduler = new StepScheduler()
    const started: Array<number> = []
    const run = (item: number) => {
      started.push(item)
      return Effect.fail(item)
    }
    const fiber = scheduler.fork(Parallel.forEach([0, 1, 2], run))
    scheduler.settle()
    expect(fiber.unsafePoll()).toEqual(Exit.fail(0))
    expect(started).toEqual([0])
  })

  it("interrupts what it started when it is interrupted", () => {
    const scheduler = new StepScheduler()
    let interrupted = 0
    const run = () => Effect.onInterrupt(Effect.never, () => Effect.sync(() => interrupted++))
    const fiber = scheduler.fork(Parallel.forEach([0, 1, 2], run))
    scheduler.settle()
    fiber.unsafeInterruptAsFork(fiber.id())
    scheduler.settle()
    expect(interrupted).toBe(3)
  })

  it("ends when it is interrupted, at whatever moment", () => {
    const ends = moments.map((steps) => interruptedAfter(steps, [1, 2, 3]))
    expect(ends.flatMap((exit, steps) => (exit === null ? [steps] : []))).toEqual([])
    expect(ends.filter((exit) => exit !== null && Exit.isInterrupted(exit)).length).toBeGreaterThan(10)
  })
})
