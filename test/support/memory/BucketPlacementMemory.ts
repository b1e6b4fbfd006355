import { Effect, Layer } from "effect"
import { bucketCount } from "../../../src/keys/Buckets.ts"
import { BucketPlacement, canBegin, canEnd, firstPlace } from "../../../src/storage/links/BucketPlacement.ts"

/** `BucketPlacement` in memory. */
export const make = Effect.sync(() => {
  const places = Array.from({ length: bucketCount }, () => firstPlace)
  const epochs = new Map<number, number>()
  return BucketPlacement.of({
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
})

/** A store of its own for each build of the layer. */
export const layer: Layer.Layer<BucketPlacement> = Layer.effect(BucketPlacement, make)
