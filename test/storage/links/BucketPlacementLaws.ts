import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { describe } from "vitest"
import { bucketCount } from "../../../src/keys/Buckets.ts"
import type { BucketPlacement, Place } from "../../../src/storage/links/buckets/BucketPlacement.ts"
import { atOnce } from "../../support/Property.ts"
import type { Open } from "../../support/Stores.ts"

/** All places, where those of some buckets differ from the first. */
const placesWith = (changed: Readonly<Record<number, Place>>): ReadonlyArray<Place> =>
  Array.from({ length: bucketCount }, (_, bucket) => changed[bucket] ?? { home: 0, movingTo: null })

/** The laws of `BucketPlacement`, as tests of one backend. */
export const bucketPlacementLaws = (title: string, open: Open<BucketPlacement["Type"]>): void => {
  const store = Effect.flatten(open)
  const move = { buckets: [7, 255], from: 0, to: 2 }

  describe(title, () => {
    it.scopedLive("has all buckets in database 0 before any move, with epoch 0", () =>
      Effect.gen(function* () {
        const { read } = yield* store
        expect(yield* read).toEqual({ places: placesWith({}), epochs: new Map() })
      })
    )

    it.scopedLive(
      "leaves moving buckets at home until the move ends, and raises the epoch of their home",
      () =>
        Effect.gen(function* () {
          const { begin, end, read } = yield* store
          expect(yield* begin(move)).toBe(true)
          const moving = { home: 0, movingTo: 2 }
          expect(yield* read).toEqual({
            places: placesWith({ 7: moving, 255: moving }),
            epochs: new Map([[0, 1]])
          })
          expect(yield* end(move)).toBe(true)
          const there = { home: 2, movingTo: null }
          expect(yield* read).toEqual({
            places: placesWith({ 7: there, 255: there }),
            epochs: new Map([[0, 1]])
          })
        })
    )

    it.scopedLive("answers repeats like the first time, and changes nothing", () =>
      Effect.gen(function* () {
        const { begin, end, read } = yield* store
        yield* begin(move)
        const begun = yield* read
        expect(yield* begin(move)).toBe(true)
        expect(yield* read).toEqual(begun)
        yield* end(move)
        const ended = yield* read
        expect(yield* end(move)).toBe(true)
        expect(yield* read).toEqual(ended)
      })
    )

    it.scopedLive("adds buckets to a move, with another epoch, and ends it for some of them", () =>
      Effect.gen(function* () {
        const { begin, end, read } = yield* store
        yield* begin(move)
        expect(yield* begin({ ...move, buckets: [7, 8] })).toBe(true)
        expect(yield* end({ ...move, buckets: [8] })).toBe(true)
        const moving = { home: 0, movingTo: 2 }
        expect(yield* read).toEqual({
          places: placesWith({ 7: moving, 8: { home: 2, movingTo: null }, 255: moving }),
          epochs: new Map([[0, 2]])
        })
      })
    )

    it.scopedLive("refuses a move whole when one bucket is elsewhere or on its way elsewhere", () =>
      Effect.gen(function* () {
        const { begin, end, read } = yield* store
        yield* begin(move)
        const begun = yield* read
        expect(yield* begin({ buckets: [6, 7], from: 0, to: 3 })).toBe(false)
        expect(yield* begin({ buckets: [6], from: 1, to: 2 })).toBe(false)
        expect(yield* end({ buckets: [7], from: 0, to: 3 })).toBe(false)
        expect(yield* end({ buckets: [6, 7], from: 0, to: 2 })).toBe(false)
        expect(yield* end({ buckets: [7], from: 1, to: 2 })).toBe(false)
        expect(yield* read).toEqual(begun)
        yield* end(move)
        expect(yield* begin(move)).toBe(false)
      })
    )

    it.scopedLive("raises the epoch of a database each time that buckets leave it, there and back", () =>
      Effect.gen(function* () {
        const { begin, end, read } = yield* store
        const back = { ...move, from: 2, to: 0 }
        for (let turn = 1; turn <= 3; turn++) {
          for (const one of [move, back]) {
            expect(yield* begin(one)).toBe(true)
            expect(yield* end(one)).toBe(true)
          }
          expect(yield* read).toEqual({
            places: placesWith({}),
            epochs: new Map([
              [0, turn],
              [2, turn]
            ])
          })
        }
      })
    )

    it.scopedLive("lets one of several movers have a bucket, and counts each move that it began", () =>
      Effect.gen(function* () {
        const client = yield* open
        const stores = yield* Effect.all([client, client, client])
        for (let bucket = 0; bucket < 10; bucket++) {
          const begun = yield* atOnce(
            stores.map((each, index) => each.begin({ buckets: [bucket], from: 0, to: index + 1 }))
          )
          expect(begun.filter(Boolean)).toHaveLength(1)
          const { epochs, places } = yield* stores[0].read
          expect(places[bucket]).toEqual({ home: 0, movingTo: begun.indexOf(true) + 1 })
          expect(epochs.get(0)).toBe(bucket + 1)
        }
      })
    )
  })
}
