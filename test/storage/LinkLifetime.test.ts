import { expect, it } from "@effect/vitest"
import { Clock, Context, Effect, Layer, Schedule, TestClock } from "effect"
import { describe } from "vitest"
import type { Link } from "../../src/Link.ts"
import { fromStrings, toStrings } from "../../src/PackedKeys.ts"
import { KeyStock } from "../../src/storage/KeyStock.ts"
import * as KeyStockMemory from "../../src/storage/KeyStockMemory.ts"
import * as KeyStockSql from "../../src/storage/KeyStockSql.ts"
import { LinkAnnouncer } from "../../src/storage/LinkChangesLocal.ts"
import { LinkLifetime } from "../../src/storage/LinkLifetime.ts"
import * as LinkLifetimeMemory from "../../src/storage/LinkLifetimeMemory.ts"
import * as LinkLifetimeSql from "../../src/storage/LinkLifetimeSql.ts"
import { LinkStore } from "../../src/storage/LinkStore.ts"
import * as LinkStoreMemory from "../../src/storage/LinkStoreMemory.ts"
import * as LinkStoreSql from "../../src/storage/LinkStoreSql.ts"
import { linkOf } from "./links.ts"
import { onEveryBackend, onEverySqlBackend } from "./stores.ts"

/** The three ports that a key passes through when its link ends. */
class Stores extends Context.Tag("test/Stores")<
  Stores,
  {
    readonly links: typeof LinkStore.Service
    readonly stock: typeof KeyStock.Service
    readonly lifetime: typeof LinkLifetime.Service
    readonly announced: Array<string>
  }
>() {}

const gathered = (announced: Array<string>) =>
  Layer.effect(
    Stores,
    Effect.all({
      links: LinkStore,
      stock: KeyStock,
      lifetime: LinkLifetime,
      announced: Effect.succeed(announced)
    })
  )

const memory = Layer.suspend(() => {
  const tables = {
    links: new Map(),
    ended: new Map(),
    epochs: new Map(),
    stock: new Set<string>(),
    batches: new Map()
  }
  return gathered([]).pipe(
    Layer.provide(Layer.succeed(LinkStore, LinkStoreMemory.makeOver(tables.links, tables.ended))),
    Layer.provide(Layer.succeed(KeyStock, KeyStockMemory.makeOver(tables))),
    Layer.provide(Layer.succeed(LinkLifetime, LinkLifetimeMemory.makeOver(tables)))
  )
})

const sql = Layer.suspend(() => {
  const announced: Array<string> = []
  return gathered(announced).pipe(
    Layer.provide(LinkLifetimeSql.layer),
    Layer.provide([LinkStoreSql.layer, KeyStockSql.layer]),
    Layer.provide(Layer.succeed(LinkAnnouncer, (keys) => void announced.push(...keys)))
  )
})

const expiring = (key: string, expiresAt: number, more: Partial<Link> = {}): Link => ({
  ...linkOf(key),
  expiresAt,
  ...more
})

const past = 1_700_000_000_000

/** Asks until the quarantine is over, by whichever clock. */
const recycled = (stores: typeof Stores.Service, quarantine_ms: number, wanted: number) =>
  Effect.gen(function* () {
    const keys: Array<string> = []
    const some = Effect.map(stores.lifetime.recycle({ quarantine_ms, count: 100 }), (more) =>
      keys.push(...more.map(({ key }) => key))
    )
    yield* Effect.repeat(some, {
      until: () => keys.length >= wanted,
      schedule: Schedule.spaced("20 millis")
    }).pipe(Effect.timeout("10 seconds"))
    return keys.toSorted()
  })

onEveryBackend(Stores, { memory, sql }, (open) => {
  const opened = Effect.flatten(open)

  describe("LinkLifetime: expiry", () => {
    it.scopedLive("ends links that have expired, and leaves the others alone", () =>
      Effect.gen(function* () {
        const { lifetime, links } = yield* opened
        const soon = (yield* Clock.currentTimeMillis) + 3_600_000
        yield* links.insertMany([expiring("gone", past), expiring("soon", soon), linkOf("never")])
        expect(yield* lifetime.expire(["gone", "soon", "never", "none", "gone"])).toEqual(["gone"])
        expect(yield* lifetime.expire(["gone"])).toEqual([])
        expect(yield* lifetime.expire([])).toEqual([])
        const [gone, live, never] = yield* links.findMany(["gone", "soon", "never"])
        expect(gone).toMatchObject({
          url: linkOf("gone").url,
          expiresAt: past,
          deletedAt: expect.any(Number)
        })
        expect([live, never]).toEqual([expiring("soon", soon), linkOf("never")])
      })
    )

    it.scopedLive("ends some of all, those first that expired first", () =>
      Effect.gen(function* () {
        const { lifetime, links } = yield* opened
        yield* links.insertMany(["a", "b", "c", "d"].map((key, index) => expiring(key, past - index)))
        expect((yield* lifetime.expireSome(3)).toSorted()).toEqual(["b", "c", "d"])
        expect(yield* lifetime.expireSome(3)).toEqual(["a"])
        expect(yield* lifetime.expireSome(3)).toEqual([])
      })
    )

    it.scopedLive("keeps the key of a link that has ended from being bound", () =>
      Effect.gen(function* () {
        const { lifetime, links } = yield* opened
        const link = expiring("a", past, { createId: 5 })
        yield* links.insertMany([link])
        yield* lifetime.expire(["a"])
        expect(yield* links.insertMany([linkOf("a"), link])).toEqual([false, false])
        expect(yield* links.deleteMany([{ key: "a", at: past, deleteId: 1 }])).toEqual([false])
      })
    )
  })

  describe("LinkLifetime: recycling", () => {
    it.scopedLive("frees no key before its quarantine is over, counted from when the store ended it", () =>
      Effect.gen(function* () {
        const stores = yield* opened
        const { lifetime, links } = stores
        yield* links.insertMany([linkOf("a"), expiring("b", past)])
        // The node that deletes may have a clock that is years late.
        yield* links.deleteMany([{ key: "a", at: past, deleteId: 1 }])
        yield* lifetime.expire(["b"])
        expect(yield* lifetime.recycle({ quarantine_ms: 60_000, count: 10 })).toEqual([])
        expect(yield* links.takenAmong(["a", "b"])).toEqual(new Set(["a", "b"]))
        expect(yield* recycled(stores, 200, 2)).toEqual(["a", "b"])
        expect(yield* links.findMany(["a", "b"])).toEqual([null, null])
      })
    )

    it.scopedLive("counts the quarantine from the deletion, not from its repeat", () =>
      Effect.gen(function* () {
        const stores = yield* opened
        const deletion = { key: "a", at: past, deleteId: 1 }
        yield* stores.links.insertMany([linkOf("a")])
        yield* stores.links.deleteMany([deletion])
        yield* Effect.sleep("2 seconds")
        expect(yield* stores.links.deleteMany([deletion])).toEqual([true])
        expect(yield* stores.lifetime.recycle({ quarantine_ms: 1_900, count: 10 })).toMatchObject([
          { key: "a" }
        ])
      })
    )

    it.scopedLive("gives minted keys to the stock, once, and aliases to nobody", () =>
      Effect.gen(function* () {
        const stores = yield* opened
        const { links, stock } = stores
        yield* links.insertMany([linkOf("minted"), { ...linkOf("alias"), custom: true }])
        yield* links.deleteMany(["minted", "alias"].map((key) => ({ key, at: past })))
        expect(yield* recycled(stores, 0, 2)).toEqual(["alias", "minted"])
        expect(yield* stores.lifetime.recycle({ quarantine_ms: 0, count: 10 })).toEqual([])
        const claim = yield* stock.claim(1)
        expect(toStrings(yield* stock.take({ ...claim, sequence: 1 }, 10))).toEqual(["minted"])
        expect(yield* links.insertMany([linkOf("alias"), linkOf("minted")])).toEqual([true, true])
      })
    )

    it.scopedLive("strikes keys from the records of open batches, which would hand them out again", () =>
      Effect.gen(function* () {
        const stores = yield* opened
        const { links, stock } = stores
        const claim = yield* stock.claim(1)
        const batch = { ...claim, sequence: 1 }
        const other = { ...(yield* stock.claim(2)), sequence: 1 }
        yield* stock.record(batch, fromStrings(["first", "kept", "inside", "last"]))
        yield* stock.record(other, fromStrings(["all"]))
        const ended = ["first", "inside", "last", "all", "free"]
        yield* links.insertMany(ended.map((key) => linkOf(key)))
        yield* links.deleteMany(ended.map((key) => ({ key, at: past })))
        expect(yield* recycled(stores, 0, 5)).toEqual(ended.toSorted())
        const keysIn = (shard: number) =>
          Effect.map(stock.openBatches(shard), (batches) => batches.flatMap(({ keys }) => toStrings(keys)))
        expect(yield* keysIn(1)).toEqual(["kept"])
        expect(yield* keysIn(2)).toEqual([])
        const next = { ...claim, sequence: 2 }
        expect(toStrings(yield* stock.take(next, 10)).toSorted()).toEqual(ended.toSorted())
      })
    )

    it.scopedLive("takes as many as it is asked for, the oldest first, and gives each to one caller", () =>
      Effect.gen(function* () {
        const stores = yield* opened
        const { lifetime, links } = stores
        const keys = Array.from({ length: 40 }, (_, index) => `k${index}`)
        yield* links.insertMany(keys.map((key) => linkOf(key)))
        yield* links.deleteMany([{ key: "k7", at: past }])
        yield* Effect.sleep("20 millis")
        yield* links.deleteMany(keys.map((key) => ({ key, at: past })))
        expect(yield* lifetime.recycle({ quarantine_ms: 0, count: 1 })).toEqual([
          { key: "k7", createdAt: linkOf("k7").createdAt }
        ])
        const all = yield* Effect.forEach(
          Array.from({ length: 8 }),
          () => lifetime.recycle({ quarantine_ms: 0, count: 3 }),
          { concurrency: "unbounded" }
        )
        expect(all.every((some) => some.length <= 3)).toBe(true)
        const given = all.flat().map(({ key }) => key)
        expect(new Set(given).size).toBe(given.length)
        expect(given.length).toBeGreaterThan(0)
        expect((yield* links.takenAmong(keys)).size).toBe(39 - given.length)
      })
    )
  })
})

describe("the clocks of LinkLifetime", () => {
  it.scoped("in memory: thirty days are thirty days", () =>
    Effect.gen(function* () {
      const { lifetime, links } = yield* Effect.provide(Stores, memory)
      yield* links.insertMany([linkOf("a"), expiring("b", 1_000)])
      yield* links.deleteMany([{ key: "a", at: 0 }])
      yield* TestClock.adjust("999 millis")
      expect(yield* lifetime.expireSome(10)).toEqual([])
      yield* TestClock.adjust("1 millis")
      expect(yield* lifetime.expireSome(10)).toEqual(["b"])
      const recycle = lifetime.recycle({ quarantine_ms: 30 * 86_400_000, count: 10 })
      yield* TestClock.adjust("2591998999 millis")
      expect(yield* recycle).toEqual([])
      yield* TestClock.adjust("1 millis")
      expect(yield* recycle).toMatchObject([{ key: "a" }])
      yield* TestClock.adjust("1 second")
      expect(yield* recycle).toMatchObject([{ key: "b" }])
    })
  )
})

onEverySqlBackend(Stores, sql, (open) => {
  it.scoped("is not moved by a node whose clock is a century ahead", () =>
    Effect.gen(function* () {
      const { lifetime, links } = yield* yield* open
      yield* TestClock.setTime(Date.UTC(2130, 0))
      yield* links.insertMany([linkOf("a"), expiring("b", Date.UTC(2129, 0))])
      yield* links.deleteMany([{ key: "a", at: Date.UTC(1990, 0) }])
      expect(yield* lifetime.expireSome(10)).toEqual([])
      expect(yield* lifetime.expire(["b"])).toEqual([])
      expect(yield* lifetime.recycle({ quarantine_ms: 3_600_000, count: 10 })).toEqual([])
    })
  )

  it.scopedLive("announces what it ends and what it frees", () =>
    Effect.gen(function* () {
      const stores = yield* yield* open
      stores.announced.length = 0
      yield* stores.links.insertMany([expiring("a", past)])
      yield* stores.lifetime.expire(["a"])
      expect(stores.announced).toEqual(["a"])
      yield* recycled(stores, 0, 1)
      expect(stores.announced).toEqual(["a", "a"])
    })
  )
})
