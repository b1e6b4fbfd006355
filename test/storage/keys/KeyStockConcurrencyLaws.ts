import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { describe } from "vitest"
import { count, fromStrings, toStrings } from "../../../src/keys/PackedKeys.ts"
import type { KeyStock } from "../../../src/storage/keys/KeyStock.ts"
import { keys, keysRecorded, numbered } from "../../support/samples/SomeKeys.ts"
import { atOnce } from "../../support/Property.ts"
import type { Open } from "../../support/Stores.ts"

type Stock = KeyStock["Type"]

/** All keys that a stock still has: stocked, or recorded for one of the shards. Takes what is stocked. */
const drain = Effect.fn(function* (stock: Stock, shards: ReadonlyArray<number>) {
  const last = { ...(yield* stock.claim(999)), sequence: 1 }
  yield* stock.take(last, 1_000_000)
  const batches = yield* Effect.forEach([...shards, 999], (shard) => stock.openBatches(shard))
  return keysRecorded(batches.flat())
})

/** What happens when many use a `KeyStock` at once, as tests of one backend. */
export const keyStockConcurrencyLaws = (title: string, open: Open<Stock>): void => {
  describe(`${title}: many at once`, () => {
    it.scopedLive("gives each claim an epoch of its own", () =>
      Effect.gen(function* () {
        const client = yield* open
        const stocks = yield* Effect.all([client, client, client])
        const claims = yield* atOnce(Array.from({ length: 60 }, (_, fiber) => stocks[fiber % 3]!.claim(5)))
        const epochs = claims.map(({ epoch }) => epoch)
        expect(new Set(epochs).size).toBe(60)
        expect((yield* stocks[0].claim(5)).epoch).toBeGreaterThan(Math.max(...epochs))
      })
    )

    it.scopedLive("gives each key to one take, whichever shard it is for", () =>
      Effect.gen(function* () {
        const client = yield* open
        const stocks = yield* Effect.all([client, client, client])
        yield* stocks[0].add(keys("s", 1_000))
        const shards = [0, 1, 2, 3]
        const owners = yield* Effect.forEach(shards, (shard) => stocks[0].claim(shard))
        const taken = yield* atOnce(
          Array.from({ length: 48 }, (_, fiber) =>
            stocks[fiber % 3]!.take({ ...owners[fiber % 4]!, sequence: fiber % 5 }, 30)
          )
        )
        const all = taken.flatMap(toStrings)
        expect(new Set(all).size).toBe(all.length)
        expect(yield* stocks[1].size).toBe(1_000 - all.length)
        const batches = yield* Effect.forEach(shards, (shard) => stocks[2].openBatches(shard))
        expect(keysRecorded(batches.flat())).toEqual(all.toSorted())
        expect(yield* drain(stocks[0], shards)).toEqual(numbered("s", 1_000).toSorted())
      })
    )

    it.scopedLive("adds batches that overlap in opposite orders", () =>
      Effect.gen(function* () {
        const client = yield* open
        const stocks = yield* Effect.all([client, client, client])
        const up = numbered("s", 400)
        for (let round = 0; round < 6; round++) {
          const orders = [up, up.toReversed(), up, up.toReversed(), up]
          yield* atOnce(
            orders.map((order, fiber) =>
              stocks[fiber % 3]!.add(fromStrings(order.map((key) => `${key}/${round}`)))
            )
          )
        }
        expect(yield* stocks[0].size).toBe(6 * 400)
      })
    )

    it.scopedLive("loses and doubles no key while some add and others take", () =>
      Effect.gen(function* () {
        const client = yield* open
        const stocks = yield* Effect.all([client, client, client])
        const owner = yield* stocks[0].claim(1)
        yield* atOnce([
          ...Array.from({ length: 20 }, (_, fiber) => stocks[fiber % 3]!.add(keys(`a${fiber}-`, 20))),
          ...Array.from({ length: 20 }, (_, fiber) =>
            stocks[fiber % 3]!.take({ ...owner, sequence: fiber }, 15)
          )
        ])
        const added = Array.from({ length: 20 }, (_, fiber) => numbered(`a${fiber}-`, 20)).flat()
        expect(yield* drain(stocks[0], [1])).toEqual(added.toSorted())
      })
    )

    it.scopedLive(
      "lets no take through under a claim that others supersede meanwhile, and loses no key",
      () =>
        Effect.gen(function* () {
          const client = yield* open
          const stocks = yield* Effect.all([client, client, client])
          yield* stocks[0].add(keys("s", 600))
          const owners = yield* atOnce(
            Array.from({ length: 12 }, (_, fiber) =>
              Effect.gen(function* () {
                const stock = stocks[fiber % 3]!
                const owner = yield* stock.claim(1)
                const taken = yield* Effect.either(
                  Effect.forEach([1, 2, 3], (sequence) => stock.take({ ...owner, sequence }, 10))
                )
                return { owner, fenced: taken._tag === "Left" }
              })
            )
          )
          const newest = owners.toSorted((a, b) => b.owner.epoch - a.owner.epoch)[0]!
          expect(newest.fenced).toBe(false)
          expect(yield* drain(stocks[0], [1])).toEqual(numbered("s", 600).toSorted())
        })
    )

    it.scopedLive("loses and doubles no key when takes are interrupted", () =>
      Effect.gen(function* () {
        const client = yield* open
        const stocks = yield* Effect.all([client, client, client])
        yield* stocks[0].add(keys("s", 1_000))
        const owner = yield* stocks[0].claim(1)
        yield* atOnce(
          Array.from({ length: 80 }, (_, fiber) =>
            Effect.race(
              stocks[fiber % 3]!.take({ ...owner, sequence: fiber }, 10),
              Effect.repeatN(Effect.yieldNow(), fiber * 5)
            )
          )
        )
        const batches = yield* stocks[1].openBatches(1)
        expect((yield* stocks[0].size) + batches.reduce((sum, batch) => sum + count(batch.keys), 0)).toBe(
          1_000
        )
        expect(yield* drain(stocks[0], [1])).toEqual(numbered("s", 1_000).toSorted())
      })
    )
  })
}
