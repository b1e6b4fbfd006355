import { expect, it } from "@effect/vitest"
import { Effect, Fiber, Layer, TestClock } from "effect"
import { describe } from "vitest"
import * as KeyMetrics from "../../../src/actors/keys/KeyMetrics.ts"
import * as PoolRest from "../../../src/actors/keys/PoolRest.ts"
import { fromStrings, toStrings } from "../../../src/keys/PackedKeys.ts"
import { KeyPool } from "../../../src/storage/keys/KeyPool.ts"
import * as KeyPoolMemory from "../../../src/storage/keys/KeyPoolMemory.ts"
import { KeyStock } from "../../../src/storage/keys/KeyStock.ts"
import * as KeyStockMemory from "../../../src/sim/stores/KeyStockMemory.ts"
import * as Metered from "../../../src/telemetry/Metered.ts"

/** A pool that has leased the batch `a b`, has it closed, and is given `a` back, when `c d` are pooled and recorded. Gives what is in stock when it has been shut down. */
const shutDown = (stockAtTheEnd: (stock: typeof KeyStock.Service) => typeof KeyStock.Service) =>
  Effect.gen(function* () {
    const stock = yield* KeyStockMemory.make()
    const pool = yield* KeyPoolMemory.make({ shards: 1, settleAfter: 0 })
    const claim = yield* stock.claim(0)
    const push = (sequence: number, keys: ReadonlyArray<string>) => {
      const batch = { ...claim, sequence }
      return Effect.zipRight(
        stock.record(batch, fromStrings(keys)),
        pool.push(claim, { ...batch, keys: fromStrings(keys) })
      )
    }
    yield* push(0, ["a", "b"])
    yield* pool.lease(0, 2)
    const { settled } = yield* push(1, ["c", "d"])
    expect(settled).toEqual([{ epoch: 1, sequence: 0 }])
    yield* stock.close(claim, settled)
    yield* pool.giveBack(0, 1, fromStrings(["a"]))
    yield* Layer.build(PoolRest.layer).pipe(
      Effect.provideService(KeyPool, pool),
      Effect.provideService(KeyStock, stockAtTheEnd(stock)),
      Effect.scoped
    )
    const size = yield* stock.size
    return toStrings(yield* stock.take({ ...claim, sequence: 2 }, size))
  })

describe("what is left in the pool of a process alone", () => {
  it.effect("goes to the stock at a graceful shutdown where no record has it, and nothing else does", () =>
    Effect.gen(function* () {
      expect(yield* shutDown((stock) => stock)).toEqual(["a"])
    })
  )

  it.effect("is given up, and counted, when the database does not answer within 2 s", () =>
    Effect.gen(function* () {
      const counted = Metered.read(KeyMetrics.lost["return-failed"]).count
      const down = yield* Effect.fork(shutDown((stock) => ({ ...stock, openBatches: () => Effect.never })))
      yield* TestClock.adjust("1999 millis")
      expect(down.unsafePoll()).toBeNull()
      yield* TestClock.adjust("1 millis")
      expect(yield* Fiber.join(down)).toEqual([])
      expect(Metered.read(KeyMetrics.lost["return-failed"]).count - counted).toBe(3)
    })
  )
})
