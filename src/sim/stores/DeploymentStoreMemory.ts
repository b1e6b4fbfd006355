import { Effect, Layer } from "effect"
import { DeploymentStore } from "../../storage/nodes/DeploymentStore.ts"

/** `DeploymentStore` in this process's memory: the reference that other backends are compared with. */
export const make = Effect.sync(() => {
  const decisions = new Map<string, string>()
  return DeploymentStore.of({
    decide: (name, value) =>
      Effect.sync(() => {
        const decided = decisions.get(name) ?? value
        decisions.set(name, decided)
        return decided
      })
  })
})

/** A store of its own for each build of the layer. */
export const layer: Layer.Layer<DeploymentStore> = Layer.effect(DeploymentStore, make)
