import { expect, it } from "@effect/vitest"
import { Effect, Exit, Fiber } from "effect"
import { describe } from "vitest"
import { Direct, type Run } from "../../src/fibers/Direct.ts"

/** An effect whose callbacks the test calls. */
const held = () => {
  const waiting: Array<Parameters<Run<number, string>>[0]> = []
  const effect = new Direct<number, string>((done) => void waiting.push(done))
  return { effect, waiting }
}

describe("a direct effect", () => {
  it("is had by a call, once for each", () => {
    const { effect, waiting } = held()
    const exits: Array<Exit.Exit<number, string>> = []
    effect.run((exit) => exits.push(exit))
    effect.run((exit) => exits.push(exit))
    expect(exits).toEqual([])
    waiting[1]!(Exit.fail("no"))
    waiting[0]!(Exit.succeed(1))
    expect(exits).toEqual([Exit.fail("no"), Exit.succeed(1)])
  })

  it.effect("is an effect like all others", () =>
    Effect.gen(function* () {
      const { effect, waiting } = held()
      const fibers = [
        yield* Effect.fork(effect),
        yield* Effect.fork(effect.map((n) => n + 1)),
        yield* Effect.fork(effect)
      ] as const
      yield* Effect.repeatN(Effect.yieldNow(), 5)
      expect(waiting).toHaveLength(3)
      yield* Fiber.interrupt(fibers[2])
      for (const done of waiting) done(Exit.succeed(1))
      expect(yield* Fiber.join(fibers[0])).toBe(1)
      expect(yield* Fiber.join(fibers[1])).toBe(2)
    })
  )

  it("makes a defect of what its mapping throws", () => {
    const { effect, waiting } = held()
    const exits: Array<Exit.Exit<number, string>> = []
    const mapped = effect.map((): number => {
      throw new Error("broken")
    })
    mapped.run((exit) => exits.push(exit))
    waiting[0]!(Exit.succeed(1))
    expect(exits).toEqual([Exit.die(new Error("broken"))])
  })
})
