import { expect, it } from "@effect/vitest"
import { Effect, type Scope } from "effect"
import { describe } from "vitest"
import { count, fromStrings, toStrings } from "../../../src/keys/PackedKeys.ts"
import type { KeyStock, StockKind } from "../../../src/storage/keys/KeyStock.ts"
import { keys, numbered } from "../../support/samples/SomeKeys.ts"
import { atOnce } from "../../support/Property.ts"
import type { Open } from "../../support/Stores.ts"

type Stock = KeyStock["Type"]

/** Opens a stock of a kind, over the tables and the file that all kinds share. Only one `file` is open at a time, and none beside other kinds that adopt. */
export type Kinds = (kind: StockKind) => Effect.Effect<Stock, never, Scope.Scope>

const shard = 5

/** All that can be taken. */
const takeAll = (stock: Stock) =>
  Effect.flatMap(stock.claim(shard), (owner) =>
    Effect.map(stock.take({ ...owner, sequence: 1 }, 1_000_000), toStrings)
  )

const adoptAll = (stock: Stock) => Effect.repeat(stock.adopt(7), { while: (moved) => moved > 0 })

/** What the kinds of stock have in common and what tells them apart, as tests of one backend that has the kinds `known`. */
export const keyStockKindLaws = (open: Open<Kinds>, known: ReadonlyArray<StockKind>): void => {
  const kinds = Effect.flatten(open)

  describe.each(known)("a stock of the kind %s", (kind) => {
    const forgets = kind === "none" || kind === "table"
    const isFile = kind === "file"

    it.scopedLive("gives what is free again before what was minted ahead, and counts both", () =>
      Effect.gen(function* () {
        const stock = yield* (yield* kinds)(kind)
        expect(yield* stock.fill(keys("m", 30))).toBe(30)
        yield* stock.add(keys("f", 5))
        expect(yield* stock.size).toBe(35)
        if (!forgets) {
          const owner = yield* stock.claim(shard)
          const first = yield* stock.take({ ...owner, sequence: 1 }, 8)
          expect(toStrings(first)).toEqual(expect.arrayContaining(numbered("f", 5)))
          expect(count(first)).toBe(8)
          expect(yield* stock.size).toBe(27)
        }
        yield* takeAll(stock)
        expect(yield* stock.size).toBe(0)
      })
    )

    // A file notices no repeats.
    if (!isFile) {
      it.scopedLive("tells how many keys are new to it, of those that it knows still", () =>
        Effect.gen(function* () {
          const stock = yield* (yield* kinds)(kind)
          expect(yield* stock.fill(fromStrings(["b", "a", "b"]))).toBe(2)
          expect(yield* stock.fill(fromStrings(["c", "b"]))).toBe(1)
          expect(yield* stock.fill(fromStrings([]))).toBe(0)
          expect((yield* takeAll(stock)).toSorted()).toEqual(["a", "b", "c"])
          expect(yield* stock.fill(fromStrings(["a", "d"]))).toBe(forgets ? 2 : 1)
          expect(yield* takeAll(stock)).toEqual(forgets ? ["a", "d"] : ["d"])
        })
      )
    }

    it.scopedLive("gives a key once more that is free again, though it was minted ahead before", () =>
      Effect.gen(function* () {
        const stock = yield* (yield* kinds)(kind)
        yield* stock.fill(keys("m", 3))
        yield* takeAll(stock)
        yield* stock.add(keys("m", 1))
        expect(yield* takeAll(stock)).toEqual(["m0"])
      })
    )

    it.scopedLive("leaves keys that every other kind can adopt, once each", () =>
      Effect.gen(function* () {
        const opened = yield* kinds
        for (const [index, next] of known.entries()) {
          const prefix = `${index}-`
          const used = yield* Effect.scoped(
            Effect.gen(function* () {
              const from = yield* opened(kind)
              yield* from.fill(keys(prefix, 40))
              const owner = yield* from.claim(shard)
              return toStrings(yield* from.take({ ...owner, sequence: 2 }, 9))
            })
          )
          const to = yield* opened(next)
          yield* adoptAll(to)
          expect(yield* to.size).toBe(31)
          const rest = yield* takeAll(to)
          expect([...used, ...rest].toSorted()).toEqual(numbered(prefix, 40).toSorted())
          expect(yield* to.adopt(1)).toBe(0)
        }
      })
    )
  })

  it.scopedLive("loses and doubles no key while several kinds are in use at once", () =>
    Effect.gen(function* () {
      const client = yield* open
      const [one, other] = yield* Effect.all([client, client])
      const inTables = known.filter((kind) => kind !== "file")
      const stocks = yield* Effect.forEach(inTables, (kind) => Effect.all([one(kind), other(kind)]))
      const owner = yield* stocks[0]![0].claim(shard)
      const taken = yield* atOnce(
        Array.from({ length: 60 }, (_, fiber) => {
          const stock = stocks[fiber % inTables.length]![fiber % 2]!
          if (fiber % 5 < 2) return Effect.as(stock.fill(keys(`${fiber}-`, 20)), [])
          if (fiber % 5 === 2) return Effect.as(stock.adopt(15), [])
          return Effect.map(stock.take({ ...owner, sequence: fiber }, 10), toStrings)
        })
      )
      const rest = yield* Effect.forEach(inTables, (kind) => Effect.flatMap(one(kind), takeAll))
      const filled = Array.from({ length: 60 }, (_, fiber) =>
        fiber % 5 < 2 ? numbered(`${fiber}-`, 20) : []
      )
      expect([...taken, ...rest].flat().toSorted()).toEqual(filled.flat().toSorted())
    })
  )
}
