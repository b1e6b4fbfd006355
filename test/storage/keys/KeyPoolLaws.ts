import { expect, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { describe } from "vitest"
import { count, fromStrings, toStrings } from "../../../src/keys/PackedKeys.ts"
import { drawId } from "../../../src/model/RandomId.ts"
import { KeyPool, type PoolKind } from "../../../src/storage/keys/KeyPool.ts"
import { Fenced } from "../../../src/storage/StorageError.ts"
import { keys, numbered } from "../../support/samples/SomeKeys.ts"
import { atOnce } from "../../support/Property.ts"

/**
 * The laws of `KeyPool`, as tests of shard `shard` of one backend. Each test builds the layer again and counts on an empty shard,
 * whose epochs may have begun at any number: they are taken from `firstEpoch` on. A set gives its keys in any order.
 */
export const keyPoolLaws = <E>(
  title: string,
  layer: Layer.Layer<KeyPool, E>,
  shard: number,
  firstEpoch = 1,
  kind: PoolKind = "list"
): void => {
  /** Expects keys that were leased one after the other to be these, in their order where the pool has one. */
  const expectKeys = (leased: ReadonlyArray<ReadonlyArray<string>>, keys: ReadonlyArray<string>) => {
    const all = leased.flat()
    expect(kind === "list" ? all : all.toSorted()).toEqual(kind === "list" ? keys : keys.toSorted())
  }

  const open = Effect.map(Layer.build(layer), (context) => Context.get(context, KeyPool))
  const epoch = firstEpoch
  const owner = { shard, epoch }
  const batch = (sequence: number, packed = keys(`b${sequence}-`, 10), of = epoch) => ({
    epoch: of,
    sequence,
    keys: packed
  })

  describe(`${title}: pushing and leasing`, () => {
    it.scopedLive("is empty at first, and leases nothing", () =>
      Effect.gen(function* () {
        const pool = yield* open
        expect(pool.shards).toBeGreaterThan(shard)
        expect(yield* pool.level(shard)).toBe(0)
        expect(count(yield* pool.lease(shard, 10))).toBe(0)
      })
    )

    it.scopedLive("leases pushed keys once each, across batches; a list first in, first out", () =>
      Effect.gen(function* () {
        const pool = yield* open
        yield* pool.claim(owner)
        expect((yield* pool.push(owner, batch(1, keys("a", 4)))).level).toBe(4)
        expect((yield* pool.push(owner, batch(2, keys("b", 3)))).level).toBe(7)
        const first = toStrings(yield* pool.lease(shard, 3))
        const second = toStrings(yield* pool.lease(shard, 2))
        expect([first.length, second.length]).toEqual([3, 2])
        expect(yield* pool.level(shard)).toBe(2)
        expect(count(yield* pool.lease(shard, 0))).toBe(0)
        const rest = toStrings(yield* pool.lease(shard, 100))
        expectKeys([first, second, rest], ["a0", "a1", "a2", "a3", "b0", "b1", "b2"])
        expect(count(yield* pool.lease(shard, 100))).toBe(0)
        expect(yield* pool.level(shard)).toBe(0)
      })
    )

    it.scopedLive("holds keys of different lengths", () =>
      Effect.gen(function* () {
        const pool = yield* open
        yield* pool.claim(owner)
        yield* pool.push(owner, batch(1, fromStrings(["abcdef", "ghijkl"])))
        yield* pool.push(owner, batch(2, fromStrings(["mnopqrs", "-_0189Zz"])))
        const leased = toStrings(yield* pool.lease(shard, 4))
        expectKeys([leased], ["abcdef", "ghijkl", "mnopqrs", "-_0189Zz"])
      })
    )

    it.scopedLive("tells which batches it has taken, whoever asks, also when their keys are leased", () =>
      Effect.gen(function* () {
        const pool = yield* open
        const batches = [batch(1), batch(2), batch(3)]
        expect(yield* pool.known(shard, batches)).toEqual([])
        yield* pool.claim(owner)
        yield* pool.push(owner, batch(1))
        yield* pool.push(owner, batch(3, keys("a", 0)))
        yield* pool.lease(shard, 100)
        yield* pool.claim({ shard, epoch: epoch + 1 })
        expect((yield* pool.known(shard, batches)).map(({ sequence }) => sequence)).toEqual([1, 3])
      })
    )

    it.scopedLive("takes a batch without keys", () =>
      Effect.gen(function* () {
        const pool = yield* open
        yield* pool.claim(owner)
        expect((yield* pool.push(owner, batch(1, keys("a", 0)))).level).toBe(0)
        expect(count(yield* pool.lease(shard, 5))).toBe(0)
      })
    )

    it.scopedLive(
      "adds a batch once, however often its push is repeated, also after its keys were leased",
      () =>
        Effect.gen(function* () {
          const pool = yield* open
          yield* pool.claim(owner)
          for (const _ of [1, 2, 3]) expect((yield* pool.push(owner, batch(1))).level).toBe(10)
          expect(count(yield* pool.lease(shard, 10))).toBe(10)
          expect((yield* pool.push(owner, batch(1))).level).toBe(0)
          expect(count(yield* pool.lease(shard, 10))).toBe(0)
        })
    )

    it.scopedLive("knows the batches of an earlier epoch when the next owner pushes them again", () =>
      Effect.gen(function* () {
        const pool = yield* open
        yield* pool.claim(owner)
        yield* pool.push(owner, batch(1))
        const next = { shard, epoch: epoch + 1 }
        yield* pool.claim(next)
        expect((yield* pool.push(next, batch(1))).level).toBe(10)
        expect((yield* pool.push(next, batch(2))).level).toBe(20)
        expect((yield* pool.push(next, batch(1, keys("n", 5), next.epoch))).level).toBe(25)
        const leased = toStrings(yield* pool.lease(shard, 100))
        expect(new Set(leased).size).toBe(25)
      })
    )

    it.scopedLive("leases a key that was given back to one caller again", () =>
      Effect.gen(function* () {
        const pool = yield* open
        yield* pool.claim(owner)
        yield* pool.push(owner, batch(1, keys("a", 10)))
        const leased = toStrings(yield* pool.lease(shard, 6))
        yield* pool.giveBack(shard, 1, fromStrings(leased.slice(4)))
        yield* pool.giveBack(shard, 2, keys("none", 0))
        expect(yield* pool.level(shard)).toBe(6)
        const rest = toStrings(yield* pool.lease(shard, 100))
        expect([...leased.slice(0, 4), ...rest].toSorted()).toEqual(numbered("a", 10))
        expect(rest).toEqual(expect.arrayContaining(leased.slice(4)))
        expect(count(yield* pool.lease(shard, 100))).toBe(0)
      })
    )
  })

  const returned = Number.MAX_SAFE_INTEGER - 1

  describe(`${title}: giving back`, () => {
    it.scopedLive(
      "adds a return once, however often it is repeated, also after its keys were leased again",
      () =>
        Effect.gen(function* () {
          const pool = yield* open
          yield* pool.claim(owner)
          yield* pool.push(owner, batch(1, keys("a", 10)))
          const back = yield* pool.lease(shard, 4)
          for (const _ of [1, 2]) yield* pool.giveBack(shard, returned, back)
          expect(yield* pool.level(shard)).toBe(10)
          const again = toStrings(yield* pool.lease(shard, 5))
          expect(again.length).toBe(5)
          yield* pool.giveBack(shard, returned, back)
          expectKeys([again, toStrings(yield* pool.lease(shard, 100))], numbered("a", 10))
          yield* pool.giveBack(shard, returned, back)
          expect(yield* pool.level(shard)).toBe(0)
        })
    )

    it.scopedLive("adds keys again that were leased again, under another id", () =>
      Effect.gen(function* () {
        const pool = yield* open
        yield* pool.claim(owner)
        yield* pool.push(owner, batch(1, keys("a", 3)))
        for (const id of [0, returned]) {
          yield* pool.giveBack(shard, id, yield* pool.lease(shard, 3))
          expect(yield* pool.level(shard)).toBe(3)
        }
      })
    )

    it.scopedLive("adds a return of the same keys once, whoever repeats it at the same time", () =>
      Effect.gen(function* () {
        const pool = yield* open
        yield* pool.claim(owner)
        yield* pool.push(owner, batch(1))
        const leased = yield* pool.lease(shard, 10)
        yield* atOnce(Array.from({ length: 20 }, () => pool.giveBack(shard, returned, leased)))
        expect(toStrings(yield* pool.lease(shard, 100)).toSorted()).toEqual(toStrings(leased).toSorted())
      })
    )
  })

  describe(`${title}: fencing`, () => {
    it.scopedLive("refuses the claim of an epoch that it has seen, or of an older one", () =>
      Effect.gen(function* () {
        const pool = yield* open
        const newest = epoch + 5
        yield* pool.claim({ shard, epoch: newest })
        for (const stale of [newest, newest - 1]) {
          const claim = { shard, epoch: stale }
          expect(yield* Effect.flip(pool.claim(claim))).toEqual(new Fenced({ ...claim, newest }))
        }
        expect((yield* pool.push({ shard, epoch: newest }, batch(1))).level).toBe(10)
        yield* pool.claim({ shard, epoch: newest + 1 })
      })
    )

    it.scopedLive("refuses the claim of an epoch that has pushed and has not claimed", () =>
      Effect.gen(function* () {
        const pool = yield* open
        yield* pool.push(owner, batch(1))
        expect(yield* Effect.flip(pool.claim(owner))).toEqual(new Fenced({ ...owner, newest: epoch }))
      })
    )

    it.scopedLive("refuses the push of an older epoch, and does nothing of it", () =>
      Effect.gen(function* () {
        const pool = yield* open
        yield* pool.claim(owner)
        yield* pool.push(owner, batch(1))
        const next = { shard, epoch: epoch + 1 }
        yield* pool.claim(next)
        expect(yield* Effect.flip(pool.push(owner, batch(2)))).toEqual(
          new Fenced({ ...owner, newest: epoch + 1 })
        )
        expect(yield* pool.level(shard)).toBe(10)
        expect((yield* pool.push(next, batch(2))).level).toBe(20)
      })
    )

    it.scopedLive("takes a push of a newer epoch as its claim", () =>
      Effect.gen(function* () {
        const pool = yield* open
        yield* pool.claim(owner)
        yield* pool.push({ shard, epoch: epoch + 1 }, batch(1))
        expect(yield* Effect.flip(pool.push(owner, batch(2)))).toEqual(
          new Fenced({ ...owner, newest: epoch + 1 })
        )
      })
    )
  })

  describe(`${title}: many at once`, () => {
    it.scopedLive("leases each key to one caller, whoever leases while others push and give back", () =>
      Effect.gen(function* () {
        const pool = yield* open
        yield* pool.claim(owner)
        const lease = Effect.flatMap(pool.lease(shard, 7), (leased) => {
          const all = toStrings(leased)
          const [kept, back] = [all.slice(0, 5), all.slice(5)]
          return Effect.flatMap(drawId, (id) => {
            const giveBack = pool.giveBack(shard, id, fromStrings(back))
            return Effect.as(Effect.zipRight(giveBack, giveBack), kept)
          })
        })
        const kept = yield* atOnce([
          ...Array.from({ length: 20 }, (_, sequence) => Effect.as(pool.push(owner, batch(sequence)), [])),
          ...Array.from({ length: 20 }, (_, sequence) => Effect.as(pool.push(owner, batch(sequence)), [])),
          ...Array.from({ length: 25 }, () => lease)
        ])
        const rest = toStrings(yield* pool.lease(shard, 1_000))
        const pushed = Array.from({ length: 20 }, (_, sequence) => numbered(`b${sequence}-`, 10)).flat()
        expect([...kept.flat(), ...rest].toSorted()).toEqual(pushed.toSorted())
      })
    )
  })
}
