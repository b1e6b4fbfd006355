import { Effect, Exit, FastCheck as fc, Fiber, Scope } from "effect"
import { describe, expect, it } from "vitest"
import * as Batcher from "../../src/fibers/Batcher.ts"
import { StepScheduler } from "../support/StepScheduler.ts"

const limits = fc.record({
  batchMax: fc.integer({ min: 1, max: 4 }),
  queueMax: fc.integer({ min: 1, max: 6 }),
  inFlightMax: fc.integer({ min: 1, max: 3 })
})

/** What becomes of a question: how it is answered, and whether its caller stays. */
const questions = fc.array(fc.record({ fails: fc.boolean(), leaves: fc.boolean() }), {
  minLength: 1,
  maxLength: 12
})

/** Makes something in a fiber of the scheduler. */
const madeBy =
  (scheduler: StepScheduler) =>
  <A>(make: Effect.Effect<A>): A => {
    const making = scheduler.fork(make)
    scheduler.settle()
    return Effect.runSync(making.unsafePoll()!)
  }

describe("a batcher on any schedule", () => {
  it("answers every caller with its own answer, within its limits, and sends each question once", () => {
    fc.assert(
      fc.property(
        limits,
        questions,
        fc.array(fc.nat(50), { maxLength: 400 }),
        (limits, questions, choices) => {
          const scheduler = new StepScheduler()
          const sent: Array<ReadonlyArray<number>> = []
          let inFlight = 0
          const scope = Effect.runSync(Scope.make())
          const batcher = Batcher.make<number, string, ReadonlyArray<number>>({
            name: "any",
            kind: "test",
            run: (batch) =>
              Effect.gen(function* () {
                sent.push(batch)
                expect(++inFlight).toBeLessThanOrEqual(limits.inFlightMax)
                yield* Effect.repeatN(Effect.yieldNow(), batch[0]! % 3)
                inFlight--
                if (batch.some((question) => questions[question]!.fails)) return yield* Effect.fail(batch)
                return batch.map((question) => `answer ${question}`)
              }),
            ...limits
          }).pipe(Scope.extend(scope), madeBy(scheduler))

          const fibers = questions.map(({ leaves }, question) => {
            const fiber = scheduler.fork(batcher.submit(question))
            if (leaves) scheduler.fork(Fiber.interrupt(fiber))
            return fiber
          })
          scheduler.settle(choices)

          const all = sent.flat()
          expect(new Set(all).size).toBe(all.length)
          sent.forEach((batch) => expect(batch.length).toBeLessThanOrEqual(limits.batchMax))
          fibers.forEach((fiber, question) => {
            const exit = fiber.unsafePoll()
            if (exit === null) throw new Error(`question ${question} was never answered`)
            const batch = sent.find((batch) => batch.includes(question))
            if (Exit.isInterrupted(exit)) return expect(questions[question]!.leaves).toBe(true)
            const outcome = Effect.runSync(Effect.either(exit))
            if (batch === undefined) {
              return expect(outcome).toMatchObject({ _tag: "Left", left: { _tag: "QueueFull" } })
            }
            return expect(outcome).toMatchObject(
              batch.some((other) => questions[other]!.fails)
                ? { _tag: "Left", left: batch }
                : { _tag: "Right", right: `answer ${question}` }
            )
          })
        }
      ),
      { numRuns: 500 }
    )
  })

  it("leaves nobody waiting when its scope closes at any moment", () => {
    fc.assert(
      fc.property(
        limits,
        fc.integer({ min: 1, max: 8 }),
        fc.array(fc.nat(50), { maxLength: 200 }),
        (limits, callers, choices) => {
          const scheduler = new StepScheduler()
          const scope = Effect.runSync(Scope.make())
          const batcher = Batcher.make<number, string, never>({
            name: "any",
            kind: "test",
            run: (batch) => Effect.as(Effect.yieldNow(), batch.map(String)),
            ...limits
          }).pipe(Scope.extend(scope), madeBy(scheduler))
          const fibers = Array.from({ length: callers }, (_, caller) =>
            scheduler.fork(batcher.submit(caller))
          )
          const closing = scheduler.fork(Scope.close(scope, Exit.void))
          scheduler.settle(choices)
          fibers.forEach((fiber) => expect(fiber.unsafePoll()).not.toBeNull())
          expect(closing.unsafePoll()).not.toBeNull()
        }
      ),
      { numRuns: 500 }
    )
  })
})
