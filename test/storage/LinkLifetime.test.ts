import { expect, it } from "@effect/vitest"
import { Context, Effect, Layer, TestClock } from "effect"
import { describe } from "vitest"
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
import { expiring, type LifetimeStores, linkLifetimeLaws, past, recycled } from "./LinkLifetimeLaws.ts"
import { linkOf } from "./links.ts"
import { onEveryBackend, onEverySqlBackend } from "./stores.ts"

class Stores extends Context.Tag("test/Stores")<
  Stores,
  LifetimeStores & { readonly announced: Array<string> }
>() {}

const gathered = (announced: Array<string>) =>
  Layer.effect(
    Stores,
    Effect.all({
      links: LinkStore,
      stock: KeyStock,
      lifetime: LinkLifetime,
      pause: Effect.succeed(Effect.sleep),
      announced: Effect.succeed(announced)
    })
  )

const memory = Layer.suspend(() => {
  const tables = {
    links: new Map(),
    ended: new Map(),
    ...KeyStockMemory.emptyTables()
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
    Layer.provide([LinkStoreSql.layer, KeyStockSql.layer()]),
    Layer.provide(Layer.succeed(LinkAnnouncer, (keys) => void announced.push(...keys)))
  )
})

onEveryBackend(Stores, { memory, sql }, linkLifetimeLaws)

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
