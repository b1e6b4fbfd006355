import { Effect, Layer } from "effect"
import { KeyRangeStore, type Watermark } from "./KeyRangeStore.ts"

/** `KeyRangeStore` in this process's memory: the reference that other backends are compared with. */
export const make = Effect.sync(() => {
  const slots = new Map<string, Watermark>()
  return KeyRangeStore.of({
    advance: ({ length, range }, { count, size }) =>
      Effect.sync(() => {
        const id = `${length}/${range}`
        const first = slots.get(id)?.next ?? 0
        const taken = Math.max(0, Math.min(count, size - first))
        if (count > 0) slots.set(id, { length, range, next: first + taken })
        return { first, count: taken }
      }),
    watermarks: Effect.sync(() => [...slots.values()])
  })
})

/** A store of its own for each build of the layer. */
export const layer: Layer.Layer<KeyRangeStore> = Layer.effect(KeyRangeStore, make)
