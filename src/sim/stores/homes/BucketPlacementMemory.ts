import { Effect, Layer } from "effect"
import { bucketCount } from "../../../keys/Buckets.ts"
import {
  BucketPlacement,
  canBegin,
  canEnd,
  firstPlace,
  type Place
} from "../../../storage/links/buckets/BucketPlacement.ts"

/** The places of all buckets, and the epochs of databases by their number. */
export interface Tables {
  readonly places: Array<Place>
  readonly epochs: Map<number, number>
}

/** Every bucket in database 0. */
export const emptyTables = (): Tables => ({
  places: Array.from({ length: bucketCount }, () => firstPlace),
  epochs: new Map()
})

/** The same rows, in tables of their own. */
export const cloned = ({ epochs, places }: Tables): Tables => ({
  places: [...places],
  epochs: new Map(epochs)
})

/** `BucketPlacement` over tables, which others may look into. */
export const makeOver = ({ epochs, places }: Tables): typeof BucketPlacement.Service =>
  BucketPlacement.of({
    read: Effect.sync(() => ({ places: [...places], epochs: new Map(epochs) })),
    begin: (move) =>
      Effect.sync(() => {
        const { buckets, from, to } = move
        if (!buckets.every((bucket) => canBegin(move, places[bucket]!))) return false
        const added = buckets.filter((bucket) => places[bucket]!.movingTo === null)
        for (const bucket of added) places[bucket] = { home: from, movingTo: to }
        if (added.length > 0) epochs.set(from, (epochs.get(from) ?? 0) + 1)
        return true
      }),
    end: (move) =>
      Effect.sync(() => {
        const { buckets, to } = move
        if (!buckets.every((bucket) => canEnd(move, places[bucket]!))) return false
        for (const bucket of buckets) places[bucket] = { home: to, movingTo: null }
        return true
      })
  })

/** `BucketPlacement` in this process's memory: the reference that other backends are compared with. */
export const make = Effect.sync(() => makeOver(emptyTables()))

/** A store of its own for each build of the layer. */
export const layer: Layer.Layer<BucketPlacement> = Layer.effect(BucketPlacement, make)
