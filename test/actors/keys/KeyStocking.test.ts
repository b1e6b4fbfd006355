import { expect, it } from "@effect/vitest"
import { Effect, Layer, TestClock } from "effect"
import { describe } from "vitest"
import * as KeyStocking from "../../../src/actors/keys/KeyStocking.ts"
import { actors, layerEmbedded } from "../../../src/node/Cluster.ts"
import { count, toStrings } from "../../../src/keys/PackedKeys.ts"
import * as KeyStockMemory from "../../../src/sim/stores/KeyStockMemory.ts"
import * as Faults from "../../support/ActorFaults.ts"
import { freshStores, minted, others, ports, type Stores } from "../../support/TestNode.ts"

/** Fills the stock of a node until the scope closes, under faults. */
const filling = Effect.fn(function* (stores: Stores, target: number) {
  const faults = yield* Faults.make
  yield* Layer.build(
    KeyStocking.layer(target).pipe(
      Layer.provide(actors({ inFlightMax: 1, pool: { low: 10, high: 40 } })),
      Layer.provide(layerEmbedded),
      Layer.provide(Layer.succeedContext(ports(stores, faults)))
    )
  )
  return faults
})

/** Lets so many seconds pass, in small steps. */
const pass = (seconds: number) =>
  Effect.repeatN(Effect.zipRight(TestClock.adjust("250 millis"), others), seconds * 4 - 1)

describe("the stock of keys minted ahead", () => {
  it.scoped("is filled in batches up to its target, and again when keys were taken, and no further", () =>
    Effect.gen(function* () {
      const stores = yield* freshStores()
      yield* filling(stores, 2_500)
      yield* pass(1)
      expect(yield* stores.stock.size).toBe(2_500)
      yield* stores.stock.take({ ...(yield* stores.stock.claim(7)), sequence: 1 }, 300)
      yield* pass(6)
      expect(yield* stores.stock.size).toBe(2_500)
      yield* pass(20)
      expect(yield* minted(stores)).toBe(2_800)
    })
  )

  it.scoped("takes over what other kinds of stock have left, and mints the less", () =>
    Effect.gen(function* () {
      const tables = KeyStockMemory.emptyTables()
      const stores = { ...(yield* freshStores()), stock: KeyStockMemory.makeOver(tables, "two-table") }
      for (const key of ["a", "b", "c"]) tables.ahead.status.unused.add(key)
      yield* filling(stores, 10)
      yield* pass(1)
      expect(yield* stores.stock.size).toBe(10)
      expect(tables.stock).toEqual(new Set(["a", "b", "c"]))
      expect(yield* minted(stores)).toBe(7)
    })
  )

  it.scoped("looks for keys that others have left also without a target, and mints none", () =>
    Effect.gen(function* () {
      const tables = KeyStockMemory.emptyTables()
      const stores = { ...(yield* freshStores()), stock: KeyStockMemory.makeOver(tables) }
      yield* filling(stores, 0)
      yield* pass(1)
      tables.ahead.status.unused.add("late")
      yield* pass(61)
      expect(tables.stock).toEqual(new Set(["late"]))
      expect(yield* minted(stores)).toBe(0)
    })
  )

  it.scoped.each([
    { verdict: "refuse" as const, why: "keeps a batch that was not stocked for the next turn" },
    { verdict: "lose" as const, why: "does not stock a batch again that may be there" },
    { verdict: "die" as const, why: "goes on after a defect" }
  ])("$why", ({ verdict }) =>
    Effect.gen(function* () {
      const stores = yield* freshStores()
      const faults = yield* filling(stores, 100)
      yield* pass(1)
      const owner = yield* stores.stock.claim(7)
      faults.set(Faults.once("KeyStock.fill", verdict))
      const taken = yield* stores.stock.take({ ...owner, sequence: 1 }, 60)
      yield* pass(5)
      // Whatever came in is taken before the next turn could put it in again.
      const more = yield* stores.stock.take({ ...owner, sequence: 2 }, 1_000)
      yield* pass(12)
      const rest = yield* stores.stock.take({ ...owner, sequence: 3 }, 1_000)
      expect(count(rest)).toBe(100)
      const all = (yield* stores.stock.openBatches(7)).flatMap(({ keys }) => toStrings(keys))
      expect(new Set(all).size).toBe(all.length)
      expect(yield* minted(stores)).toBe(count(taken) + count(more) + count(rest))
    })
  )
})
