import { expect, it } from "@effect/vitest"
import { Context, Deferred, Effect, Fiber } from "effect"
import { describe } from "vitest"
import { RangeExhausted } from "../../../src/actors/keys/KeyRange.ts"
import * as KeyMinter from "../../../src/keys/KeyMinter.ts"
import { rangeCount } from "../../../src/keys/KeyRanges.ts"
import * as KeySpace from "../../../src/keys/KeySpace.ts"
import { lengthMax } from "../../../src/keys/KeySpace.ts"
import { toStrings } from "../../../src/keys/PackedKeys.ts"
import { LinkPlaces } from "../../../src/storage/homes/LinkPlaces.ts"
import { plainRow } from "../../support/Plain.ts"
import { all, always, once } from "../../support/ActorFaults.ts"
import {
  freshStores,
  minted,
  others,
  realMinter,
  startNode,
  type TestNode,
  tinyMinter
} from "../../support/TestNode.ts"

const mint = (node: TestNode, range: number, count: number) =>
  Effect.map(node.range(range).Mint({ count }), toStrings)

const ranges = Array.from({ length: rangeCount }, (_, range) => range)

describe("a key range", () => {
  it.scoped("mints keys that no range, no restart and no second owner mints again", () =>
    Effect.gen(function* () {
      const stores = yield* freshStores()
      const one = yield* startNode(stores)
      const other = yield* startNode(stores)
      const mintAll = (node: TestNode) =>
        Effect.forEach(ranges, (range) => mint(node, range, 50), { concurrency: "unbounded" })
      // Two owners at once, for all ranges at once, several times each.
      const before = yield* Effect.all([mintAll(one), mintAll(other), mintAll(one), mintAll(other)], {
        concurrency: "unbounded"
      })
      yield* one.kill
      yield* other.stop
      const later = yield* startNode(stores)
      const keys = [...before, yield* mintAll(later)].flat(2)
      expect(keys.length).toBe(5 * rangeCount * 50)
      expect(new Set(keys).size).toBe(keys.length)
      expect(yield* minted(stores)).toBe(keys.length)
    })
  )

  it.scoped("leaves out of random keys those that are bound, and those that were drawn twice", () =>
    Effect.gen(function* () {
      // Draws A to H, one after the other, twice.
      let drawn = 0
      const draw = (bytes: number) => Uint8Array.from({ length: bytes }, () => 10 + ((drawn++ >> 3) % 8))
      const minter = KeyMinter.makeRandom(KeySpace.make("base62", 8), draw)
      const stores = yield* freshStores({}, minter)
      const node = yield* startNode(stores)
      const all = ["A", "B", "C", "D", "E", "F", "G", "H"].map((letter) => letter.repeat(8))
      const bound = all.slice(2, 4)
      yield* stores.links.insertMany(
        bound.map((key) => ({
          ...plainRow,
          key,
          url: "https://example.com",
          custom: true,
          createdAt: 1,
          updatedAt: 1
        }))
      )
      expect(yield* mint(node, 3, 16)).toEqual(all.filter((key) => !bound.includes(key)))
      expect(yield* mint(node, 3, 2)).toEqual(all.slice(0, 2))
      expect(yield* Effect.flip(node.range(3).Mint({ count: 2 }))).toMatchObject({ _tag: "Unavailable" })
      // Draws are counted, whatever comes of them.
      expect(yield* minted(stores)).toBe(20)
    })
  )

  it.scoped("gives random keys of databases that answer, where one does not", () =>
    Effect.gen(function* () {
      let drawn = 0
      const draw = (bytes: number) => Uint8Array.from({ length: bytes }, () => 10 + ((drawn++ >> 3) % 8))
      const stores = yield* freshStores({}, KeyMinter.makeRandom(KeySpace.make("base62", 8), draw))
      const places = Context.get(yield* Effect.context<never>(), LinkPlaces)
      const isOfSecond = (key: string) => key >= "E"
      const node = yield* Effect.provideService(startNode(stores), LinkPlaces, {
        ...places,
        databases: 2,
        lanes: 3,
        laneOf: (key) => (isOfSecond(key) ? 1 : 0)
      })
      node.faults.set(({ args, operation }) =>
        operation === "LinkStore.takenAmong" && (args[0] as ReadonlyArray<string>).some(isOfSecond)
          ? "refuse"
          : "pass"
      )
      const all = ["A", "B", "C", "D", "E", "F", "G", "H"].map((letter) => letter.repeat(8))
      expect(yield* mint(node, 3, 6)).toEqual(all.slice(0, 4))
      expect(yield* Effect.flip(node.range(3).Mint({ count: 2 }))).toMatchObject({ _tag: "Unavailable" })
    })
  )

  it.scoped("moves its watermark before keys leave: a crash in between skips numbers", () =>
    Effect.gen(function* () {
      const stores = yield* freshStores()
      const node = yield* startNode(stores)
      const first = yield* mint(node, 3, 5)
      node.faults.set(once("KeyRangeStore.advance", "hang after"))
      const request = yield* Effect.fork(mint(node, 3, 7))
      yield* Effect.repeatN(Effect.yieldNow(), 50)
      expect(yield* minted(stores)).toBe(12)
      yield* node.kill
      yield* Fiber.await(request)
      const second = yield* mint(yield* startNode(stores), 3, 5)
      const counters = (from: number) => toStrings(realMinter.mint(7, 3, from, 5))
      expect(first).toEqual(counters(0))
      expect(second).toEqual(counters(12))
    })
  )

  it.scoped("skips what was advanced for a request whose answer was lost, or that met a defect", () =>
    Effect.gen(function* () {
      const stores = yield* freshStores()
      const node = yield* startNode(stores)
      node.faults.set(once("KeyRangeStore.advance", "lose"))
      expect(yield* Effect.flip(node.range(0).Mint({ count: 4 }))).toMatchObject({ _tag: "Unavailable" })
      node.faults.set(once("KeyRangeStore.advance", "die"))
      expect((yield* Effect.exit(node.range(0).Mint({ count: 4 })))._tag).toBe("Failure")
      expect(yield* mint(node, 0, 2)).toEqual(toStrings(realMinter.mint(7, 0, 8, 2)))
    })
  )

  it.scoped.each([
    ["in the stock", "pass", 7],
    ["lost, where the stock refuses them", "refuse", 0]
  ] as const)("has keys whose asker went away before they were minted %s", ([, verdict, stocked]) =>
    Effect.gen(function* () {
      const stores = yield* freshStores()
      const node = yield* startNode(stores)
      const isAdvanced = yield* Deferred.make<void>()
      node.faults.set(({ operation }) => {
        if (operation === "KeyRangeStore.advance") return Deferred.await(isAdvanced)
        return operation === "KeyStock.fill" ? verdict : "pass"
      })
      const asked = yield* Effect.fork(mint(node, 3, 7))
      yield* node.faults.called("KeyRangeStore.advance")
      yield* Fiber.interruptFork(asked)
      yield* others
      yield* Deferred.succeed(isAdvanced, undefined)
      yield* node.faults.called("KeyStock.fill")
      yield* others
      expect(yield* minted(stores)).toBe(7)
      expect(yield* stores.stock.size).toBe(stocked)
      // The range goes on, and nobody is given them twice.
      node.faults.set()
      expect(yield* mint(node, 3, 2)).toEqual(toStrings(realMinter.mint(7, 3, 7, 2)))
      expect(yield* stores.stock.size).toBe(stocked)
    })
  )

  it.scoped("does not mint while its store is away, and mints again when it is back", () =>
    Effect.gen(function* () {
      const stores = yield* freshStores()
      const node = yield* startNode(stores)
      node.faults.set(all("refuse"))
      expect(yield* Effect.flip(node.range(9).Mint({ count: 1 }))).toMatchObject({
        _tag: "Unavailable",
        applied: "no"
      })
      node.faults.set()
      expect(yield* mint(node, 9, 1)).toEqual(toStrings(realMinter.mint(7, 9, 0, 1)))
    })
  )

  it.scoped("opens the next key length by itself, in the same request", () =>
    Effect.gen(function* () {
      const stores = yield* freshStores()
      const size = realMinter.spanOf(7, 2)
      yield* stores.ranges.advance({ length: 7, range: 2 }, { count: size - 3, size })
      const node = yield* startNode(stores)
      expect(yield* mint(node, 2, 5)).toEqual([
        ...toStrings(realMinter.mint(7, 2, size - 3, 3)),
        ...toStrings(realMinter.mint(8, 2, 0, 2))
      ])
      expect(yield* mint(node, 2, 1)).toEqual(toStrings(realMinter.mint(8, 2, 2, 1)))
      const status = yield* node.range(2).Status()
      expect(status.toSorted((a, b) => a.length - b.length)).toEqual([
        { length: 7, minted: size, remaining: 0 },
        { length: 8, minted: 3, remaining: realMinter.spanOf(8, 2) - 3 }
      ])
      // The other ranges are at the first length still.
      expect(yield* mint(node, 1, 1)).toEqual(toStrings(realMinter.mint(7, 1, 0, 1)))
    })
  )

  it.scoped("finds the length that it had come to after a restart", () =>
    Effect.gen(function* () {
      const minter = tinyMinter(4, 6)
      const stores = yield* freshStores({}, minter)
      const node = yield* startNode(stores)
      const before = yield* mint(node, 0, 10)
      yield* node.kill
      const after = yield* mint(yield* startNode(stores), 0, 10)
      expect(before.map(({ length }) => length)).toEqual([6, 6, 6, 6, 7, 7, 7, 7, 8, 8])
      expect(after.map(({ length }) => length)).toEqual([8, 8, 9, 9, 9, 9, 10, 10, 10, 10])
      expect(new Set([...before, ...after]).size).toBe(20)
    })
  )

  it.scoped("gives what is left of its last length, and is exhausted from then on", () =>
    Effect.gen(function* () {
      const stores = yield* freshStores({}, tinyMinter(4, lengthMax - 1))
      const node = yield* startNode(stores)
      expect((yield* mint(node, 5, 100)).length).toBe(8)
      for (let turn = 0; turn < 2; turn++) {
        expect(yield* Effect.flip(node.range(5).Mint({ count: 1 }))).toEqual(new RangeExhausted({ range: 5 }))
      }
      expect(yield* mint(node, 6, 1)).toEqual(toStrings(tinyMinter(4, lengthMax - 1).mint(11, 6, 0, 1)))
    })
  )

  it.scoped("gives what it has minted when its store fails between two lengths", () =>
    Effect.gen(function* () {
      const stores = yield* freshStores({}, tinyMinter(4, 6))
      const node = yield* startNode(stores)
      node.faults.set(({ args, operation }) =>
        operation === "KeyRangeStore.advance" && (args[0] as { length: number }).length === 7
          ? "refuse"
          : "pass"
      )
      expect((yield* mint(node, 0, 6)).map(({ length }) => length)).toEqual([6, 6, 6, 6])
      node.faults.set()
      expect((yield* mint(node, 0, 2)).map(({ length }) => length)).toEqual([7, 7])
      expect(yield* minted(stores)).toBe(6)
    })
  )

  it.scoped("answers its status from the store, so that a dead store is no status", () =>
    Effect.gen(function* () {
      const node = yield* startNode(yield* freshStores())
      expect(yield* node.range(0).Status()).toEqual([])
      node.faults.set(always("refuse", "KeyRangeStore.watermarks"))
      expect(yield* Effect.flip(node.range(0).Status())).toMatchObject({ _tag: "Unavailable" })
    })
  )
})
