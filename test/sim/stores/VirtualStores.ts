import { Context, Effect, Exit, Hash, Layer, Scope } from "effect"
import { basename } from "node:path"
import { expect } from "vitest"
import type { VirtualProcess } from "../../../src/sim/world/VirtualProcess.ts"
import { mapOperations } from "../../../src/storage/MapOperations.ts"
import type { Open } from "../../support/Stores.ts"
import { LittleWorld } from "./LittleWorld.ts"

/** A service of a process in a little world, for the runtime outside. */
const outside = <S extends object>(little: LittleWorld, process: VirtualProcess, service: S): S =>
  mapOperations("outside", service, (_, effect) => little.inside(process, effect))

/** A service that a layer builds inside of a process; when the scope closes, so does the layer's, in the world. */
export const built = <I, S extends object>(
  little: LittleWorld,
  process: VirtualProcess,
  tag: Context.Tag<I, S>,
  layer: Layer.Layer<I>
): Effect.Effect<S, never, Scope.Scope> =>
  Effect.acquireRelease(Scope.make(), (scope) => little.inside(process, Scope.close(scope, Exit.void))).pipe(
    Effect.flatMap((scope) => little.inside(process, Layer.buildWithScope(layer, scope))),
    Effect.map((context) => outside(little, process, Context.get(context, tag)))
  )

/** How many worlds each test has made. */
const worlds = new Map<string, number>()

/** The seed of a test's next world: that of no other, and the same one in each run, whatever ran before. */
const nextSeed = () => {
  const { currentTestName, testPath } = expect.getState()
  const test = `${basename(testPath!)} ${currentTestName}`
  const number = (worlds.get(test) ?? 0) + 1
  worlds.set(test, number)
  return Hash.string(`${test} ${number}`) >>> 0
}

/** A world for a test. */
export const littleWorld = (
  options?: ConstructorParameters<typeof LittleWorld>[1]
): Effect.Effect<LittleWorld, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => new LittleWorld(nextSeed(), options)),
    (little) => Effect.sync(() => little.world.end())
  )

/** Opens an empty store in a world of its own; each client is a process of its own. */
export const openVirtual = <I, S extends object>(
  tag: Context.Tag<I, S>,
  layer: (little: LittleWorld, process: VirtualProcess) => Layer.Layer<I>
): Open<S> =>
  Effect.map(littleWorld(), (little) => {
    let clients = 0
    return Effect.suspend(() => {
      const process = little.world.spawn(`node-${++clients}`, 1)
      return built(little, process, tag, layer(little, process))
    })
  })
