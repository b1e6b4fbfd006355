import { Effect, Exit } from "effect"
import { afterEach, expect, it } from "vitest"
import { presets } from "../../../src/sim/presets/Presets.ts"
import { run } from "../../../src/sim/Run.ts"
import { useOwnLoop } from "../../../src/sim/world/FiberLoop.ts"

afterEach(() => useOwnLoop(true))

const digestOf = (isOwn: boolean): string => {
  useOwnLoop(isOwn)
  return run(3, { ...presets.swarm(3), level: "cluster", faulty_s: 8, calm_s: 4 }).digest
}

// Without the cluster's stack, `actors/Determinism.test.ts` sees to it.
it("runs every fiber of a deployment on the production stack of the cluster, step by step, as Effect does", () => {
  expect(digestOf(true)).toBe(digestOf(false))
}, 120_000)

it.each([true, false])("gives what throws, and what is no effect, as a defect (own loop: %s)", (isOwn) => {
  useOwnLoop(isOwn)
  const thrown = new Error("thrown")
  const throwing = Effect.flatMap(Effect.void, (): Effect.Effect<never> => {
    throw thrown
  })
  expect(Effect.runSyncExit(throwing)).toEqual(Exit.die(thrown))
  const unfit = Effect.flatMap(Effect.void, (): Effect.Effect<never> => "no effect" as never)
  expect(Exit.isFailure(Effect.runSyncExit(unfit))).toBe(true)
  expect(String(Effect.runSyncExit(unfit))).toContain("Not a valid effect: no effect")
})
