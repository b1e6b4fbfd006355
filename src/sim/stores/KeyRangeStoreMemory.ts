import { Effect, Layer } from "effect"
import { KeyRangeStore, type RangeSlot, type Watermark } from "../../storage/keys/KeyRangeStore.ts"

/** Watermarks by {@link idOf}. */
export type Slots = Map<string, Watermark>

/** A slot's name among all. */
export const idOf = ({ length, range }: RangeSlot): string => `${length}/${range}`

/** `KeyRangeStore` over watermarks, which others may look into. */
export const makeOver = (slots: Slots): typeof KeyRangeStore.Service =>
  KeyRangeStore.of({
    advance: ({ length, range }, { count, size }) =>
      Effect.sync(() => {
        const id = idOf({ length, range })
        const first = slots.get(id)?.next ?? 0
        const taken = Math.max(0, Math.min(count, size - first))
        if (count > 0) slots.set(id, { length, range, next: first + taken })
        return { first, count: taken }
      }),
    watermarks: Effect.sync(() => [...slots.values()])
  })

/** `KeyRangeStore` in this process's memory: the reference that other backends are compared with. */
export const make = Effect.sync(() => makeOver(new Map()))

/** A store of its own for each build of the layer. */
export const layer: Layer.Layer<KeyRangeStore> = Layer.effect(KeyRangeStore, make)
