import { Effect, Layer } from "effect"
import { later, nothing, type Testimony, Witness } from "../../storage/nodes/Witness.ts"

/** `Witness` in this process's memory: the reference that other backends are compared with. */
export const make = Effect.sync(() => {
  let known: Testimony = nothing
  return Witness.of({
    read: Effect.sync(() => known),
    raise: (seen) =>
      Effect.sync(() => {
        known = later(known, seen)
      }),
    adopt: (database) =>
      Effect.sync(() => {
        known = { ...known, ...database }
      })
  })
})

/** A witness of its own for each build of the layer. */
export const layer: Layer.Layer<Witness> = Layer.effect(Witness, make)
