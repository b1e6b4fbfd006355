import { expect, it } from "@effect/vitest"
import { SqlClient } from "@effect/sql"
import { Clock, Context, Effect, Layer, TestClock } from "effect"
import { describe } from "vitest"
import { KeyStock } from "../../../src/storage/keys/KeyStock.ts"
import * as KeyStockMemory from "../../../src/sim/stores/KeyStockMemory.ts"
import * as KeyStockSql from "../../../src/storage/keys/KeyStockSql.ts"
import { LinkAnnouncer } from "../../../src/storage/links/LinkInvalidationsLocal.ts"
import { LinkLifetime } from "../../../src/storage/links/LinkLifetime.ts"
import * as LinkLifetimeMemory from "../../../src/sim/stores/LinkLifetimeMemory.ts"
import * as LinkLifetimeSql from "../../../src/storage/links/LinkLifetimeSql.ts"
import { type LinkRank, LinkStore } from "../../../src/storage/links/LinkStore.ts"
import type { LastTake } from "../../../src/storage/visits/VisitTakes.ts"
import * as LinkStoreMemory from "../../../src/sim/stores/LinkStoreMemory.ts"
import * as LinkStoreSql from "../../../src/storage/links/LinkStoreSql.ts"
import { expiring, type LifetimeStores, linkLifetimeLaws, past, recycled } from "./LinkLifetimeLaws.ts"
import { linkOf } from "../../support/samples/SomeLinks.ts"
import { describePostgres } from "../../support/services/postgres/Postgres.ts"
import {
  onEveryBackend,
  onEveryDatabase,
  onEverySqlBackend,
  onPostgres,
  onSqlite
} from "../../support/Stores.ts"

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
    removals: new Set<string>(),
    updateIds: new Map<string, ReadonlyArray<number>>(),
    takes: new Map<string, ReadonlyArray<LastTake>>(),
    ranks: new Map<string, LinkRank>(),
    ...KeyStockMemory.emptyTables()
  }
  return gathered([]).pipe(
    Layer.provide(Layer.succeed(LinkStore, LinkStoreMemory.makeOver(tables.links, tables.ended, tables))),
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

describe("on SQLite", () => {
  const open = onSqlite(Stores, sql)
  it.scoped("is that of the process", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(Date.UTC(2130, 0))
      const { lifetime, links } = yield* yield* open
      yield* links.insertMany([linkOf("a"), expiring("b", Date.UTC(2130, 0) + 1_000)])
      yield* links.deleteMany([{ key: "a", at: Date.UTC(1990, 0) }])
      const recycle = lifetime.recycle({ quarantine_ms: 1_000, count: 10 })
      yield* TestClock.adjust("999 millis")
      expect([yield* lifetime.expireSome(10), yield* recycle]).toEqual([[], []])
      yield* TestClock.adjust("1 millis")
      expect([yield* lifetime.expire(["b"]), yield* recycle]).toMatchObject([["b"], [{ key: "a" }]])
    })
  )
})

describePostgres("on PostgreSQL", () => {
  const open = onPostgres(Stores, sql)
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
})

onEverySqlBackend(Stores, sql, (open) => {
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

class StoresOverSql extends Context.Tag("test/StoresOverSql")<
  StoresOverSql,
  { readonly stores: Stores["Type"]; readonly client: SqlClient.SqlClient }
>() {}

const overSql = Layer.effect(StoresOverSql, Effect.all({ stores: Stores, client: SqlClient.SqlClient })).pipe(
  Layer.provide(sql)
)

onEverySqlBackend(StoresOverSql, overSql, (open) => {
  it.scopedLive("announces nothing of what cannot be committed", () =>
    Effect.gen(function* () {
      const { client, stores } = yield* yield* open
      yield* stores.links.insertMany([expiring("a", past)])
      yield* stores.lifetime.expire(["a"])
      stores.announced.length = 0
      // No link may go that a row is left of: SQLite looks at that only where it is asked to.
      if (client.onDialectOrElse({ orElse: () => true, pg: () => false }))
        yield* client`PRAGMA foreign_keys = ON`
      yield* client`CREATE TABLE holds (key TEXT REFERENCES links (key) DEFERRABLE INITIALLY DEFERRED)`
      yield* client`INSERT INTO holds VALUES ('a')`
      const failed = yield* Effect.flip(stores.lifetime.recycle({ quarantine_ms: 0, count: 10 }))
      expect(failed).toMatchObject({ operation: "LinkLifetime.recycle", applied: "no" })
      expect(stores.announced).toEqual([])
      yield* client`DELETE FROM holds`
      expect(yield* stores.lifetime.recycle({ quarantine_ms: 0, count: 10 })).toMatchObject([{ key: "a" }])
      expect(stores.announced).toEqual(["a"])
    })
  )
})

const minute_ms = 60_000

onEveryDatabase((client) => {
  it.scopedLive("keeps nothing of how often links were visited whose keys are free again", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { links, ...stores } = yield* Stores
      const keys = ["alias", "minted"]
      yield* links.insertMany(
        keys.map((key) => expiring(key, past, { createdAt: 1, custom: key === "alias" }))
      )
      yield* links.rankMany(keys.map((key) => ({ key, createdAt: 1, visits: 9, lastVisit: 100 })))
      expect(yield* sql`SELECT link_key FROM link_ranks`).toHaveLength(2)
      yield* stores.lifetime.expire(keys)
      yield* recycled({ links, ...stores }, 0, 2)
      expect(yield* sql`SELECT link_key FROM link_ranks`).toEqual([])
    }).pipe(Effect.provide(Layer.provideMerge(sql, client)))
  )

  it.scopedLive("stocks no key that can have been given to another in a time that was forgotten", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { lifetime, links, stock } = yield* Stores
      const now = yield* Clock.currentTimeMillis
      const ago = (minutes: number) => now - minutes * minute_ms
      /** Keys by when their links began and ended, in minutes ago; the quarantine is half an hour. */
      const tombstones = Effect.fn(function* (ended: Readonly<Record<string, readonly [number, number]>>) {
        for (const [key, [from, to]] of Object.entries(ended)) {
          yield* links.insertMany([{ ...linkOf(key), createdAt: ago(from) }])
          yield* sql`UPDATE links SET deleted_at = ${ago(to)}, ended_at = ${ago(to)} WHERE key = ${key}`
        }
        yield* lifetime.recycle({ quarantine_ms: 30 * minute_ms, count: 10 })
        expect(yield* links.takenAmong(Object.keys(ended))).toEqual(new Set())
        return yield* stock.size
      })
      const regression = (since: number, noticed: number) =>
        sql`INSERT INTO database_regressions (lineage, noticed_at, since, mark, witnessed, skipped, dropped)
            VALUES (${noticed}, ${ago(noticed)}, ${ago(since)}, 1, 2, 0, 0)`

      expect(yield* tombstones({ free: [300, 200] })).toBe(1)
      yield* regression(70, 60)
      // It could have been freed and bound again by then.
      expect(yield* tombstones({ overdue: [300, 100] })).toBe(1)
      // It was in its quarantine all that time, or had not ended when so little was forgotten; or it is new.
      expect(yield* tombstones({ young: [300, 80], living: [300, 40], fresh: [50, 40] })).toBe(4)
      yield* regression(170, 50)
      // So much was forgotten that it may have ended, been freed and bound to another: its link stands there as it was before.
      expect(yield* tombstones({ returned: [300, 40] })).toBe(4)
      expect(yield* tombstones({ newer: [45, 40] })).toBe(5)
    }).pipe(Effect.provide(Layer.provideMerge(sql, client)))
  )
})
