import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { describe } from "vitest"
import { count, fromStrings, toStrings } from "../../../src/keys/PackedKeys.ts"
import type { KeyStock } from "../../../src/storage/keys/KeyStock.ts"
import { Fenced } from "../../../src/storage/StorageError.ts"
import { keys, keysRecorded, numbered } from "../../support/samples/SomeKeys.ts"
import type { Open } from "../../support/Stores.ts"

const shard = 5

/** What comes into the stock and out of it, one caller at a time, as tests of one kind of stock. */
export const stockedKeyLaws = (
  title: string,
  open: Open<KeyStock["Type"]>,
  { noticesRepeats = true }: { readonly noticesRepeats?: boolean } = {}
): void => {
  const store = Effect.flatten(open)

  describe(`${title}: the stock`, () => {
    it.scopedLive.runIf(noticesRepeats)("stocks a key once, however often it is added", () =>
      Effect.gen(function* () {
        const stock = yield* store
        expect(yield* stock.size).toBe(0)
        yield* stock.add(fromStrings(["b", "a", "b", "c"]))
        yield* stock.add(fromStrings(["c", "d", "a"]))
        yield* stock.add(fromStrings([]))
        expect(yield* stock.size).toBe(4)
        const owner = yield* stock.claim(shard)
        const taken = yield* stock.take({ ...owner, sequence: 1 }, 100)
        expect(toStrings(taken).toSorted()).toEqual(["a", "b", "c", "d"])
      })
    )

    it.scopedLive("keeps keys of any length and case as they are", () =>
      Effect.gen(function* () {
        const stock = yield* store
        const mixed = ["abcdef", "ABCDEF", "abcdefg", "_-_-_-", "Zz09-_zZ90", "abcdefghijkl"]
        yield* stock.add(fromStrings(mixed))
        expect(yield* stock.size).toBe(mixed.length)
        const owner = yield* stock.claim(shard)
        const taken = yield* stock.take({ ...owner, sequence: 1 }, 100)
        expect(toStrings(taken).toSorted()).toEqual(mixed.toSorted())
      })
    )

    it.scopedLive("moves what is taken into the record of its batch, and no more than was asked for", () =>
      Effect.gen(function* () {
        const stock = yield* store
        yield* stock.add(keys("s", 10))
        const owner = yield* stock.claim(shard)
        const taken = yield* stock.take({ ...owner, sequence: 1 }, 4)
        expect(new Set(toStrings(taken)).size).toBe(4)
        expect(numbered("s", 10)).toEqual(expect.arrayContaining(toStrings(taken)))
        expect(yield* stock.size).toBe(6)
        const [batch] = yield* stock.openBatches(shard)
        expect(batch).toMatchObject({ ...owner, sequence: 1 })
        expect(toStrings(batch!.keys).toSorted()).toEqual(toStrings(taken).toSorted())
      })
    )

    it.scopedLive("gives what there is when more is asked for, and opens no batch for nothing", () =>
      Effect.gen(function* () {
        const stock = yield* store
        const owner = yield* stock.claim(shard)
        expect(count(yield* stock.take({ ...owner, sequence: 1 }, 5))).toBe(0)
        yield* stock.add(keys("s", 3))
        expect(count(yield* stock.take({ ...owner, sequence: 2 }, 0))).toBe(0)
        expect(count(yield* stock.take({ ...owner, sequence: 3 }, 5))).toBe(3)
        expect((yield* stock.openBatches(shard)).map(({ sequence }) => sequence)).toEqual([3])
      })
    )

    it.scopedLive("gathers all that is taken and recorded under one id in one batch", () =>
      Effect.gen(function* () {
        const stock = yield* store
        yield* stock.add(keys("s", 7))
        const owner = yield* stock.claim(shard)
        const batch = { ...owner, sequence: 1 }
        const parts = [yield* stock.take(batch, 2), yield* stock.take(batch, 5), keys("longer", 3)]
        yield* stock.record(batch, keys("longer", 3))
        const all = parts.flatMap(toStrings)
        expect(keysRecorded(yield* stock.openBatches(shard))).toEqual(all.toSorted())
        expect(yield* stock.openBatches(shard)).toHaveLength(1)
      })
    )

    it.scopedLive("takes 10,000 keys in a batch", () =>
      Effect.gen(function* () {
        const stock = yield* store
        yield* stock.add(keys("s", 10_000))
        expect(yield* stock.size).toBe(10_000)
        const owner = yield* stock.claim(shard)
        expect(count(yield* stock.take({ ...owner, sequence: 1 }, 9_999))).toBe(9_999)
        expect(yield* stock.size).toBe(1)
        yield* stock.record({ ...owner, sequence: 2 }, keys("r", 10_000))
        expect(keysRecorded(yield* stock.openBatches(shard))).toHaveLength(19_999)
      })
    )
  })
}

/** The laws of `KeyStock` for one caller at a time, as tests of one backend. */
export const keyStockLaws = (title: string, open: Open<KeyStock["Type"]>): void => {
  stockedKeyLaws(title, open)
  const store = Effect.flatten(open)

  describe(`${title}: claims`, () => {
    it.scopedLive("gives a greater epoch with each claim, for each shard by itself", () =>
      Effect.gen(function* () {
        const { claim } = yield* store
        const first = yield* claim(shard)
        const second = yield* claim(shard)
        expect(first.shard).toBe(shard)
        expect(second.epoch).toBeGreaterThan(first.epoch)
        expect(yield* claim(6)).toEqual({ shard: 6, epoch: first.epoch })
        expect((yield* claim(shard)).epoch).toBeGreaterThan(second.epoch)
      })
    )

    it.scopedLive("gives an epoch beyond those that a pool knows", () =>
      Effect.gen(function* () {
        const { claim } = yield* store
        expect((yield* claim(shard, 40)).epoch).toBe(41)
        expect((yield* claim(shard, 7)).epoch).toBe(42)
        expect((yield* claim(shard, 42)).epoch).toBe(43)
        expect((yield* claim(shard, 50)).epoch).toBe(51)
      })
    )

    it.scopedLive("refuses every operation of a stale claim, and does nothing of it", () =>
      Effect.gen(function* () {
        const stock = yield* store
        const stale = yield* stock.claim(shard)
        yield* stock.add(keys("s", 10))
        yield* stock.record({ ...stale, sequence: 1 }, keys("r", 3))
        const newest = yield* stock.claim(shard)
        const before = yield* stock.openBatches(shard)
        const fenced = new Fenced(stale)

        expect(yield* Effect.flip(stock.take({ ...stale, sequence: 1 }, 4))).toEqual(fenced)
        expect(yield* Effect.flip(stock.take({ ...stale, sequence: 2 }, 0))).toEqual(fenced)
        expect(yield* Effect.flip(stock.record({ ...stale, sequence: 1 }, keys("x", 2)))).toEqual(fenced)
        expect(yield* Effect.flip(stock.record({ ...stale, sequence: 3 }, keys("x", 2)))).toEqual(fenced)
        expect(yield* Effect.flip(stock.close(stale, [{ epoch: stale.epoch, sequence: 1 }]))).toEqual(fenced)

        expect(yield* stock.size).toBe(10)
        expect(yield* stock.openBatches(shard)).toEqual(before)
        expect(count(yield* stock.take({ ...newest, sequence: 1 }, 4))).toBe(4)
      })
    )

    it.scopedLive(
      "refuses claims that were never given: of a shard nobody claimed, or of a later epoch",
      () =>
        Effect.gen(function* () {
          const stock = yield* store
          yield* stock.add(keys("s", 10))
          const unclaimed = { shard: 9, epoch: 1 }
          expect(yield* Effect.flip(stock.take({ ...unclaimed, sequence: 1 }, 4))).toEqual(
            new Fenced(unclaimed)
          )
          const { epoch } = yield* stock.claim(shard)
          const future = { shard, epoch: epoch + 1 }
          expect(yield* Effect.flip(stock.take({ ...future, sequence: 1 }, 4))).toEqual(new Fenced(future))
          expect(yield* Effect.flip(stock.record({ ...future, sequence: 1 }, keys("r", 1)))).toEqual(
            new Fenced(future)
          )
          expect(yield* stock.size).toBe(10)
          expect(yield* stock.openBatches(shard)).toEqual([])
        })
    )
  })

  describe(`${title}: batch records`, () => {
    it.scopedLive("lists the open batches of one shard, oldest first, by number", () =>
      Effect.gen(function* () {
        const stock = yield* store
        const [first, other] = [yield* stock.claim(shard), yield* stock.claim(50)]
        for (const sequence of [10, 9, Number.MAX_SAFE_INTEGER, 0]) {
          yield* stock.record({ ...first, sequence }, keys(`f${sequence}`, 1))
        }
        yield* stock.record({ ...other, sequence: 1 }, keys("other", 1))
        let last = first
        for (let claims = 0; claims < 10; claims++) last = yield* stock.claim(shard)
        yield* stock.record({ ...last, sequence: 3 }, keys("late", 2))

        const listed = (yield* stock.openBatches(shard)).map(({ keys, ...id }) => ({
          ...id,
          size: count(keys)
        }))
        expect(listed).toEqual([
          { ...first, sequence: 0, size: 1 },
          { ...first, sequence: 9, size: 1 },
          { ...first, sequence: 10, size: 1 },
          { ...first, sequence: Number.MAX_SAFE_INTEGER, size: 1 },
          { ...last, sequence: 3, size: 2 }
        ])
        expect(yield* stock.openBatches(51)).toEqual([])
      })
    )

    it.scopedLive("records a batch without keys as open and empty, whatever comes to it later", () =>
      Effect.gen(function* () {
        const stock = yield* store
        const owner = yield* stock.claim(shard)
        const batch = { ...owner, sequence: 1 }
        yield* stock.record(batch, keys("x", 0))
        expect((yield* stock.openBatches(shard)).map(({ keys }) => toStrings(keys))).toEqual([[]])
        yield* stock.record(batch, keys("x", 2))
        yield* stock.record(batch, keys("x", 0))
        expect((yield* stock.openBatches(shard)).map(({ keys }) => toStrings(keys))).toEqual([["x0", "x1"]])
      })
    )

    it.scopedLive("closes the batches it is told, of its own and of earlier epochs, and no other", () =>
      Effect.gen(function* () {
        const stock = yield* store
        const other = yield* stock.claim(6)
        yield* stock.record({ ...other, sequence: 1 }, keys("o", 1))
        const first = yield* stock.claim(shard)
        for (const sequence of [1, 2, 3]) yield* stock.record({ ...first, sequence }, keys(`f${sequence}`, 1))
        const second = yield* stock.claim(shard)
        for (const sequence of [1, 2]) yield* stock.record({ ...second, sequence }, keys(`s${sequence}`, 1))

        yield* stock.close(second, [
          { epoch: first.epoch, sequence: 1 },
          { epoch: first.epoch, sequence: 3 },
          { epoch: second.epoch, sequence: 2 },
          { epoch: second.epoch, sequence: 77 }
        ])
        expect(keysRecorded(yield* stock.openBatches(shard))).toEqual(["f20", "s10"])
        expect(keysRecorded(yield* stock.openBatches(6))).toEqual(["o0"])
        yield* stock.close(second, [{ epoch: first.epoch, sequence: 1 }])
        expect(keysRecorded(yield* stock.openBatches(shard))).toEqual(["f20", "s10"])
      })
    )

    it.scopedLive("closes 2,500 batches at once", () =>
      Effect.gen(function* () {
        const stock = yield* store
        const owner = yield* stock.claim(shard)
        yield* stock.record({ ...owner, sequence: 1 }, keys("a", 1))
        yield* stock.record({ ...owner, sequence: 2_400 }, keys("b", 1))
        yield* stock.record({ ...owner, sequence: 9_999 }, keys("c", 1))
        const closed = Array.from({ length: 2_500 }, (_, sequence) => ({ epoch: owner.epoch, sequence }))
        yield* stock.close(owner, closed)
        expect(keysRecorded(yield* stock.openBatches(shard))).toEqual(["c0"])
      })
    )

    it.scopedLive("closes nothing when told of no batch", () =>
      Effect.gen(function* () {
        const stock = yield* store
        const owner = yield* stock.claim(shard)
        yield* stock.record({ ...owner, sequence: 1 }, keys("a", 1))
        yield* stock.close(owner, [])
        expect(keysRecorded(yield* stock.openBatches(shard))).toEqual(["a0"])
      })
    )

    it.scopedLive("opens a closed batch anew when something is recorded under its id again", () =>
      Effect.gen(function* () {
        const stock = yield* store
        const owner = yield* stock.claim(shard)
        yield* stock.record({ ...owner, sequence: 1 }, keys("a", 1))
        yield* stock.close(owner, [{ epoch: owner.epoch, sequence: 1 }])
        yield* stock.record({ ...owner, sequence: 1 }, keys("b", 1))
        expect(keysRecorded(yield* stock.openBatches(shard))).toEqual(["b0"])
      })
    )
  })
}
