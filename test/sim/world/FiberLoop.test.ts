import { Effect, Exit } from "effect"
import { afterEach, expect, it } from "vitest"
import type { Level } from "../../../src/sim/cli/Options.ts"
import { presets } from "../../../src/sim/cli/Presets.ts"
import { run } from "../../../src/sim/Run.ts"
import { useOwnLoop } from "../../../src/sim/world/FiberLoop.ts"

afterEach(() => useOwnLoop(true))

const digestOf = (seed: number, level: Level, isOwn: boolean): string => {
  useOwnLoop(isOwn)
  return run(seed, { ...presets.swarm(seed), level, faulty_s: 8, calm_s: 4 }).digest
}

it.each([1, 2, 3, 4, 5, 6, 7, 8])(
  "runs every fiber of a deployment, step by step, as Effect does: seed %i",
  (seed) => {
    expect(digestOf(seed, "actors", true)).toBe(digestOf(seed, "actors", false))
  }
)

it("does so under the production stack of the cluster, too", () => {
  expect(digestOf(3, "cluster", true)).toBe(digestOf(3, "cluster", false))
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
