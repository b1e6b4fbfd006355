import { expect, it } from "@effect/vitest"
import { Effect, Ref } from "effect"
import { describe } from "vitest"
import type { CounterBlock, KeyRangeStore } from "../../../src/storage/keys/KeyRangeStore.ts"
import { atOnce } from "../../support/Property.ts"
import type { Open } from "../../support/Stores.ts"

const slot = { length: 7, range: 3 }

/** Holds that blocks are disjoint and leave nothing out from 0 to `end`. */
const expectPartition = (blocks: ReadonlyArray<CounterBlock>, end: number) => {
  let next = 0
  for (const { count, first } of blocks
    .filter((block) => block.count > 0)
    .toSorted((a, b) => a.first - b.first)) {
    expect(first).toBe(next)
    next = first + count
  }
  expect(next).toBe(end)
}

/** The laws of `KeyRangeStore`, as tests of one backend. */
export const keyRangeStoreLaws = (title: string, open: Open<KeyRangeStore["Type"]>): void => {
  const store = Effect.flatten(open)

  describe(`${title}: one owner`, () => {
    it.scopedLive("gives out numbers from 0 on, block after block", () =>
      Effect.gen(function* () {
        const { advance } = yield* store
        expect(yield* advance(slot, { count: 10, size: 100 })).toEqual({ first: 0, count: 10 })
        expect(yield* advance(slot, { count: 1, size: 100 })).toEqual({ first: 10, count: 1 })
        expect(yield* advance(slot, { count: 80, size: 100 })).toEqual({ first: 11, count: 80 })
      })
    )

    it.scopedLive("cuts the last block at the slot's size, and then gives empty ones", () =>
      Effect.gen(function* () {
        const { advance, watermarks } = yield* store
        yield* advance(slot, { count: 95, size: 100 })
        expect(yield* advance(slot, { count: 10, size: 100 })).toEqual({ first: 95, count: 5 })
        expect((yield* advance(slot, { count: 10, size: 100 })).count).toBe(0)
        expect((yield* advance(slot, { count: 1, size: 100 })).count).toBe(0)
        expect(yield* watermarks).toEqual([{ ...slot, next: 100 }])
      })
    )

    it.scopedLive("gives a slot whole when more is asked for at once than it has", () =>
      Effect.gen(function* () {
        const { advance } = yield* store
        expect(yield* advance(slot, { count: 1_000, size: 3 })).toEqual({ first: 0, count: 3 })
        expect((yield* advance({ ...slot, range: 4 }, { count: 5, size: 0 })).count).toBe(0)
      })
    )

    it.scopedLive("gives the exact end of a slot whole", () =>
      Effect.gen(function* () {
        const { advance } = yield* store
        yield* advance(slot, { count: 90, size: 100 })
        expect(yield* advance(slot, { count: 10, size: 100 })).toEqual({ first: 90, count: 10 })
      })
    )

    it.scopedLive("never goes back, also when asked with a smaller size", () =>
      Effect.gen(function* () {
        const { advance, watermarks } = yield* store
        yield* advance(slot, { count: 50, size: 100 })
        expect((yield* advance(slot, { count: 10, size: 40 })).count).toBe(0)
        expect(yield* watermarks).toEqual([{ ...slot, next: 50 }])
        expect(yield* advance(slot, { count: 10, size: 100 })).toEqual({ first: 50, count: 10 })
      })
    )

    it.scopedLive("keeps each length and range apart, and lists all that were used", () =>
      Effect.gen(function* () {
        const { advance, watermarks } = yield* store
        expect(yield* watermarks).toEqual([])
        const slots = [6, 7, 12].flatMap((length) => [0, 1, 15].map((range) => ({ length, range })))
        for (const [index, each] of slots.entries()) {
          expect(yield* advance(each, { count: index + 1, size: 100 })).toEqual({
            first: 0,
            count: index + 1
          })
        }
        const listed = (yield* watermarks).toSorted((a, b) => a.next - b.next)
        expect(listed).toEqual(slots.map((each, index) => ({ ...each, next: index + 1 })))
      })
    )

    it.scopedLive("leaves a slot alone when asked for nothing", () =>
      Effect.gen(function* () {
        const { advance, watermarks } = yield* store
        expect((yield* advance(slot, { count: 0, size: 100 })).count).toBe(0)
        expect(yield* watermarks).toEqual([])
        yield* advance(slot, { count: 7, size: 100 })
        expect((yield* advance(slot, { count: 0, size: 100 })).count).toBe(0)
        expect(yield* watermarks).toEqual([{ ...slot, next: 7 }])
      })
    )

    it.scopedLive("is exact up to 2^53 − 1", () =>
      Effect.gen(function* () {
        const { advance, watermarks } = yield* store
        const size = Number.MAX_SAFE_INTEGER
        const big = 2 ** 52 + 2 ** 51 - 1
        expect(yield* advance(slot, { count: big, size })).toEqual({ first: 0, count: big })
        expect(yield* advance(slot, { count: size - big - 12, size })).toEqual({
          first: big,
          count: size - big - 12
        })
        expect(yield* advance(slot, { count: 1, size })).toEqual({ first: size - 12, count: 1 })
        expect(yield* advance(slot, { count: 4, size })).toEqual({ first: size - 11, count: 4 })
        expect(yield* watermarks).toEqual([{ ...slot, next: size - 7 }])
        expect(yield* advance(slot, { count: 10_000, size })).toEqual({ first: size - 7, count: 7 })
        expect((yield* advance(slot, { count: 10_000, size })).count).toBe(0)
        expect(yield* watermarks).toEqual([{ ...slot, next: size }])
      })
    )
  })

  describe(`${title}: many owners at once`, () => {
    it.scopedLive("gives out blocks that are disjoint and complete, no matter who asks", () =>
      Effect.gen(function* () {
        const client = yield* open
        const stores = yield* Effect.all([client, client, client])
        const counts = Array.from({ length: 120 }, (_, index) => 1 + ((index * 37) % 50))
        const blocks = yield* atOnce(
          counts.map((count, fiber) => stores[fiber % 3]!.advance(slot, { count, size: 1_000_000 }))
        )
        expect(blocks.map(({ count }) => count)).toEqual(counts)
        const total = counts.reduce((a, b) => a + b)
        expectPartition(blocks, total)
        expect(yield* stores[0].watermarks).toEqual([{ ...slot, next: total }])
      })
    )

    it.scopedLive("shares the end of a slot out to the last number", () =>
      Effect.gen(function* () {
        const client = yield* open
        const stores = yield* Effect.all([client, client, client])
        for (let round = 0; round < 5; round++) {
          const end = { length: 7, range: round }
          const blocks = yield* atOnce(
            Array.from({ length: 40 }, (_, fiber) =>
              stores[fiber % 3]!.advance(end, { count: 30 + fiber, size: 1_000 })
            )
          )
          expectPartition(blocks, 1_000)
          expect(blocks.every(({ count }) => count >= 0)).toBe(true)
        }
      })
    )

    it.scopedLive("lets several be the first to use a slot", () =>
      Effect.gen(function* () {
        const client = yield* open
        const stores = yield* Effect.all([client, client, client])
        for (let range = 0; range < 10; range++) {
          const blocks = yield* atOnce(
            stores.map((each) => each.advance({ length: 8, range }, { count: 5, size: 12 }))
          )
          expectPartition(blocks, 12)
        }
      })
    )

    it.scopedLive("shows a watermark at or above every block that was given out", () =>
      Effect.gen(function* () {
        const client = yield* open
        const [owner, reader] = yield* Effect.all([client, client])
        const given = yield* Ref.make(0)
        const own = Effect.repeatN(
          Effect.flatMap(owner.advance(slot, { count: 3, size: 10_000 }), ({ count, first }) =>
            Ref.set(given, first + count)
          ),
          60
        )
        const watch = Effect.repeatN(
          Effect.gen(function* () {
            const before = yield* Ref.get(given)
            const next = (yield* reader.watermarks)[0]?.next ?? 0
            expect(next).toBeGreaterThanOrEqual(before)
          }),
          60
        )
        yield* atOnce([own, watch])
      })
    )

    it.scopedLive("repeats nothing when owners are interrupted while they ask", () =>
      Effect.gen(function* () {
        const client = yield* open
        const stores = yield* Effect.all([client, client, client])
        const blocks = yield* Ref.make<ReadonlyArray<CounterBlock>>([])
        const ask = (fiber: number) =>
          Effect.flatMap(stores[fiber % 3]!.advance(slot, { count: 5, size: 1_000_000 }), (block) =>
            Ref.update(blocks, (all) => [...all, block])
          )
        yield* atOnce(
          Array.from({ length: 90 }, (_, fiber) =>
            Effect.race(ask(fiber), Effect.repeatN(Effect.yieldNow(), fiber * 3))
          )
        )
        const last = yield* stores[0].advance(slot, { count: 1, size: 1_000_000 })
        const starts = (yield* Ref.get(blocks)).map(({ first }) => first)
        expect(new Set(starts).size).toBe(starts.length)
        expect(Math.max(...starts, -5) + 5).toBeLessThanOrEqual(last.first)
      })
    )
  })
}
