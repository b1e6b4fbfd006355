import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as FairScheduler from "../../src/fibers/FairScheduler.ts"
import * as LoopTurns from "../../src/fibers/LoopTurns.ts"

/** Looks at the time in one turn of the event loop: each takes a millisecond here. */
const looksInTurn = 4

/** Runs an effect by the scheduler; gives what it gave, and how often the event loop turned meanwhile. */
const counted = <A>(self: Effect.Effect<A>) =>
  Effect.gen(function* () {
    let now_ms = 0
    const turns = LoopTurns.make(
      { now_ms: () => now_ms++, nextTurn: (run) => void setImmediate(run) },
      looksInTurn
    )
    let turned = 0
    let isEnded = false
    const count = () => {
      turned++
      if (!isEnded) setImmediate(count)
    }
    setImmediate(count)
    const result = yield* Effect.provideService(FairScheduler.within(self), LoopTurns.LoopTurns, turns)
    isEnded = true
    return { result, turned }
  })

describe("fibers that have much to do", () => {
  it.effect("leave the event loop to others when they yield", () =>
    Effect.gen(function* () {
      const yields = 100
      const { turned } = yield* counted(Effect.repeatN(Effect.yieldNow(), yields - 1))
      expect(turned).toBeGreaterThanOrEqual(yields / looksInTurn)
    })
  )

  it.effect("leave it to others also where they never yield", () =>
    Effect.gen(function* () {
      const items = Array.from({ length: 10_000 }, (_, index) => index)
      const { result, turned } = yield* counted(Effect.forEach(items, (item) => Effect.sync(() => item + 1)))
      expect(result).toEqual(items.map((item) => item + 1))
      // A look at the time for every 64 steps, and each item takes one at least.
      expect(turned).toBeGreaterThanOrEqual(items.length / 64 / looksInTurn)
    })
  )

  it.effect("leave it to others where they are many, and run in the order in which they were started", () =>
    Effect.gen(function* () {
      const ran: Array<number> = []
      const fibers = Array.from({ length: 100 }, (_, index) => index)
      const { turned } = yield* counted(
        Effect.forEach(
          fibers,
          (index) =>
            Effect.zipRight(
              Effect.yieldNow(),
              Effect.sync(() => ran.push(index))
            ),
          {
            concurrency: "unbounded",
            discard: true
          }
        )
      )
      expect(ran).toEqual(fibers)
      expect(turned).toBeGreaterThanOrEqual(fibers.length / looksInTurn)
    })
  )

  it.effect("go on at once while there is time", () =>
    Effect.gen(function* () {
      const turns = LoopTurns.make({ now_ms: () => 0, nextTurn: () => {} })
      const ended = Effect.provideService(
        FairScheduler.within(Effect.repeatN(Effect.yieldNow(), 1_000)),
        LoopTurns.LoopTurns,
        turns
      )
      yield* ended
    })
  )
})
