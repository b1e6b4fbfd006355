import { Either } from "effect"
import { expect, it } from "vitest"
import * as Changes from "../../../src/sim/clients/Changes.ts"
import { presets } from "../../../src/sim/presets/Presets.ts"
import { protocolSteps } from "../../../src/sim/presets/Steps.ts"

const seeds = Array.from({ length: 600 }, (_, index) => index + 1)

/** The values of every field that is no object, by its path. */
const valuesOf = (options: object, path = ""): ReadonlyArray<readonly [path: string, value: unknown]> =>
  Object.entries(options).flatMap(([name, value]) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? valuesOf(value, `${path}${name}.`)
      : [[`${path}${name}`, value] as const]
  )

it("swarm draws every option of the deployment and of its clients", () => {
  const drawn = new Map<string, Set<unknown>>()
  for (const seed of seeds) {
    for (const [path, value] of valuesOf(presets.swarm(seed)))
      drawn.set(path, (drawn.get(path) ?? new Set()).add(value))
  }
  const fixed = Array.from(drawn)
    .filter(([path, values]) => values.size === 1 && !path.endsWith("_ms"))
    .map(([path]) => path)
  expect(fixed).toEqual(["level", "calm_s"])
  const faults = seeds.map((seed) => presets.swarm(seed).faults)
  const struck = faults.flatMap(({ crashPoint }) => crashPoint.at ?? [])
  expect(struck).toEqual(expect.arrayContaining([...protocolSteps]))
  const failing = faults.flatMap(({ databaseCalls, redisCalls }) => [
    ...(databaseCalls.single?.at ?? []),
    ...(redisCalls.single?.at ?? [])
  ])
  const ofStores = protocolSteps.filter((step) => !/^(?:answer |KeyFile\.)/.test(step))
  expect(failing).toEqual(expect.arrayContaining(ofStores))
})

it.each(Object.entries(presets))("%s makes options that may be given as changes", (_, preset) => {
  for (const seed of seeds.slice(0, 50))
    expect(Either.isRight(Changes.applied(preset(seed), preset(seed) as object as Changes.Changes))).toBe(
      true
    )
})
