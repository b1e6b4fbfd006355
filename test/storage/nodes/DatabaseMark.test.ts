import { expect, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { count, toStrings } from "../../../src/keys/PackedKeys.ts"
import { DatabaseMark } from "../../../src/storage/nodes/DatabaseMark.ts"
import * as DatabaseMarkMemory from "../../../src/sim/stores/DatabaseMarkMemory.ts"
import * as DatabaseMarkSql from "../../../src/storage/nodes/DatabaseMarkSql.ts"
import { KeyRangeStore } from "../../../src/storage/keys/KeyRangeStore.ts"
import * as KeyRangeStoreMemory from "../../../src/sim/stores/KeyRangeStoreMemory.ts"
import * as KeyRangeStoreSql from "../../../src/storage/keys/KeyRangeStoreSql.ts"
import { KeyStock, type StockKind } from "../../../src/storage/keys/KeyStock.ts"
import * as KeyStockMemory from "../../../src/sim/stores/KeyStockMemory.ts"
import * as KeyStockSql from "../../../src/storage/keys/KeyStockSql.ts"
import { keys } from "../../support/samples/SomeKeys.ts"
import { atOnce } from "../../support/Property.ts"
import { onEveryBackend } from "../../support/Stores.ts"

/** What one database has of keys. */
class Database extends Context.Tag("Database")<
  Database,
  {
    readonly mark: typeof DatabaseMark.Service
    readonly ranges: typeof KeyRangeStore.Service
    readonly stock: (kind: Exclude<StockKind, "file">) => typeof KeyStock.Service
  }
>() {}

const memory = Layer.sync(Database, () => {
  const tables = DatabaseMarkMemory.emptyTables()
  return {
    mark: DatabaseMarkMemory.makeOver(tables),
    ranges: KeyRangeStoreMemory.makeOver(tables.slots),
    stock: (kind) => KeyStockMemory.makeOver(tables, kind)
  }
})

const sql = Layer.effect(
  Database,
  Effect.gen(function* () {
    const stocks = {
      none: yield* KeyStockSql.make("none"),
      table: yield* KeyStockSql.make("table"),
      status: yield* KeyStockSql.make("status"),
      "two-table": yield* KeyStockSql.make("two-table")
    }
    return {
      mark: yield* DatabaseMarkSql.make,
      ranges: yield* KeyRangeStoreSql.make,
      stock: (kind) => stocks[kind]
    }
  })
)

const size = 1_000_000

onEveryBackend(Database, { memory, sql }, (open) => {
  it.scopedLive("moves by one each time, whoever moves it, unless it is below the floor", () =>
    Effect.gen(function* () {
      const client = yield* open
      const [one, other] = [(yield* client).mark, (yield* client).mark]
      const { timeline } = yield* one.identity
      expect(yield* one.look).toMatchObject({ mark: 0, lineage: 0 })
      expect(yield* one.move({ floor: 0, timeline })).toMatchObject({ mark: 1, lineage: 0 })
      expect(yield* one.move({ floor: 1, timeline })).toMatchObject({ mark: 2, lineage: 0 })
      expect(yield* one.move({ floor: 3, timeline })).toBeUndefined()
      expect(yield* other.look).toMatchObject({ mark: 2, lineage: 0 })
      expect(yield* other.look).toEqual({ mark: 2, lineage: 0, timeline })
      const moved = yield* atOnce(
        Array.from({ length: 30 }, (_, index) => (index % 2 ? one : other).move({ floor: 2, timeline }))
      )
      expect(moved.map((each) => each!.mark).toSorted((a, b) => a - b)).toEqual(
        Array.from({ length: 30 }, (_, index) => index + 3)
      )
    })
  )

  it.scopedLive(
    "is recovered where it is behind: ranges go on where they were, and what stood ready is given up",
    () =>
      Effect.gen(function* () {
        const { mark, ranges, stock } = yield* yield* open
        const slots = [0, 1, 2].map((range) => ({ length: 7, range }))
        for (const slot of slots) yield* ranges.advance(slot, { count: 100, size })
        yield* stock("none").add(keys("free", 5))
        yield* stock("status").fill(keys("status", 6))
        yield* stock("two-table").fill(keys("unused", 7))
        const claim = yield* stock("none").claim(3)
        yield* stock("none").record({ ...claim, sequence: 1 }, keys("recorded", 8))
        const { timeline } = yield* mark.identity
        yield* mark.move({ floor: 0, timeline })

        const witnessed = {
          mark: 40,
          timeline,
          watermarks: [
            { length: 7, range: 0, next: 250 },
            { length: 7, range: 1, next: 90 },
            { length: 8, range: 1, next: 30 }
          ]
        }
        const found = yield* mark.recover(witnessed)
        expect(found).toMatchObject({ mark: 1, witnessed: 40, skipped: 180, dropped: 26 })
        expect(found!.at).toBeGreaterThanOrEqual(found!.since)
        expect(yield* mark.look).toMatchObject({ mark: 41, lineage: 41 })
        expect(yield* mark.regressions).toEqual([found])
        expect((yield* ranges.advance(slots[0]!, { count: 1, size })).first).toBe(250)
        expect((yield* ranges.advance(slots[1]!, { count: 1, size })).first).toBe(100)
        expect((yield* ranges.advance(slots[2]!, { count: 1, size })).first).toBe(100)
        expect((yield* ranges.advance({ length: 8, range: 1 }, { count: 1, size })).first).toBe(30)
        expect(yield* stock("none").openBatches(3)).toEqual([])
        for (const kind of ["none", "status", "two-table"] as const) expect(yield* stock(kind).size).toBe(0)
        // The claim is void, and its owner claims again.
        expect(
          yield* Effect.flip(stock("none").record({ ...claim, sequence: 2 }, keys("late", 1)))
        ).toMatchObject({
          _tag: "Fenced"
        })
        expect((yield* stock("none").claim(3)).epoch).toBeGreaterThan(claim.epoch + 1)
      })
  )

  it.scopedLive("is left alone where it is not behind", () =>
    Effect.gen(function* () {
      const { mark, ranges, stock } = yield* yield* open
      yield* ranges.advance({ length: 7, range: 0 }, { count: 100, size })
      yield* stock("none").add(keys("free", 5))
      const { timeline } = yield* mark.identity
      yield* mark.move({ floor: 0, timeline })
      expect(
        yield* mark.recover({ mark: 1, timeline, watermarks: [{ length: 7, range: 0, next: 500 }] })
      ).toBeUndefined()
      expect(yield* mark.look).toMatchObject({ mark: 1, lineage: 0 })
      expect(yield* mark.regressions).toEqual([])
      expect((yield* ranges.advance({ length: 7, range: 0 }, { count: 1, size })).first).toBe(100)
      expect(yield* stock("none").size).toBe(5)
    })
  )

  it.scopedLive("is left alone where the server is of another promotion than is expected", () =>
    Effect.gen(function* () {
      const { mark } = yield* yield* open
      const { timeline } = yield* mark.identity
      expect(yield* mark.move({ floor: 0, timeline: timeline + 1 })).toBeUndefined()
      expect(yield* mark.recover({ mark: 9, timeline: timeline + 1, watermarks: [] })).toBeUndefined()
      expect(yield* mark.look).toMatchObject({ mark: 0, lineage: 0, timeline })
    })
  )

  it.scopedLive("is recovered once by many who notice at once, and keys put in then are taken once", () =>
    Effect.gen(function* () {
      const client = yield* open
      const databases = [yield* client, yield* client, yield* client]
      const { timeline } = yield* databases[0]!.mark.identity
      const found = yield* atOnce(
        databases.map(({ mark }) => mark.recover({ mark: 9, timeline, watermarks: [] }))
      )
      expect(found.filter((each) => each !== undefined)).toHaveLength(1)
      const [{ mark, stock }] = databases as [Database["Type"]]
      expect(yield* mark.look).toMatchObject({ mark: 10, lineage: 10 })
      const claim = yield* stock("none").claim(0)
      yield* stock("none").add(keys("free", 3))
      const taken = yield* stock("none").take({ ...claim, sequence: 1 }, 10)
      expect(count(taken)).toBe(3)
      expect(toStrings(taken).toSorted()).toEqual(toStrings(keys("free", 3)).toSorted())
    })
  )

  it.scopedLive("tells the newest regressions first", () =>
    Effect.gen(function* () {
      const { mark } = yield* yield* open
      const { timeline } = yield* mark.identity
      for (let turn = 1; turn <= 12; turn++)
        yield* mark.recover({ mark: turn * 100, timeline, watermarks: [] })
      const told = yield* mark.regressions
      expect(told.map(({ witnessed }) => witnessed)).toEqual([
        1_200, 1_100, 1_000, 900, 800, 700, 600, 500, 400, 300
      ])
      expect(told[0]).toMatchObject({ mark: 1_101, skipped: 0, dropped: 0 })
    })
  )
})
