import { expect, it } from "@effect/vitest"
import { Effect, FastCheck as fc, Layer } from "effect"
import { describe } from "vitest"
import { fromStrings, toStrings } from "../../../src/keys/PackedKeys.ts"
import type { BatchName } from "../../../src/storage/keys/KeyPool.ts"
import * as KeyPoolMemory from "../../../src/storage/keys/KeyPoolMemory.ts"
import { exercised } from "../../support/services/Exercised.ts"
import { keyPoolLaws } from "./KeyPoolLaws.ts"
import { keys } from "../../support/samples/SomeKeys.ts"
import { forAll } from "../../support/Property.ts"

const memory = (settleAfter: number) =>
  Layer.tap(KeyPoolMemory.layer({ shards: 3, settleAfter }), () => Effect.sync(() => exercised("memory")))
keyPoolLaws("KeyPool in memory", memory(0), 0)
keyPoolLaws("KeyPool in memory, last shard", memory(512), 2, 1_000)

const owner = { shard: 0, epoch: 1 }
const batch = (sequence: number, size: number) => ({ epoch: 1, sequence, keys: keys(`b${sequence}-`, size) })
const batchOf = (key: string) => Number(/^b(\d+)-/.exec(key)![1])
const name = (sequence: number): BatchName => ({ epoch: 1, sequence })

describe("KeyPool in memory: settling", () => {
  /** Pushes nothing, and so tells what is settled. */
  const open = Effect.map(KeyPoolMemory.make({ shards: 2, settleAfter: 5 }), (pool) => {
    let sequence = 1_000
    const settled = Effect.map(pool.push(owner, batch(sequence++, 0)), (pushed) =>
      pushed.settled.filter((each) => each.sequence < 1_000)
    )
    return { ...pool, settled }
  })

  it.effect("settles a batch when all its keys and `settleAfter` more were leased, not before", () =>
    Effect.gen(function* () {
      const pool = yield* open
      yield* pool.push(owner, batch(1, 10))
      yield* pool.push(owner, batch(2, 10))
      yield* pool.lease(0, 10)
      expect(yield* pool.settled).toEqual([])
      yield* pool.lease(0, 4)
      expect(yield* pool.settled).toEqual([])
      yield* pool.lease(0, 1)
      expect(yield* pool.settled).toEqual([name(1)])
    })
  )

  it.effect("counts a key that was given back as not leased", () =>
    Effect.gen(function* () {
      const pool = yield* open
      yield* pool.push(owner, batch(1, 10))
      yield* pool.push(owner, batch(2, 10))
      const leased = yield* pool.lease(0, 14)
      yield* pool.giveBack(0, 7, leased)
      yield* pool.lease(0, 14)
      expect(yield* pool.settled).toEqual([])
      yield* pool.lease(0, 1)
      expect(yield* pool.settled).toEqual([name(1)])
    })
  )

  it.effect("says again that a batch is settled when its push is repeated, and never before", () =>
    Effect.gen(function* () {
      const pool = yield* open
      yield* pool.push(owner, batch(1, 10))
      expect((yield* pool.push(owner, batch(1, 10))).settled).toEqual([])
      yield* pool.push(owner, batch(2, 10))
      yield* pool.lease(0, 15)
      expect((yield* pool.push(owner, batch(2, 10))).settled).toEqual([name(1)])
      expect((yield* pool.push(owner, batch(1, 10))).settled).toEqual([name(1)])
      expect((yield* pool.push(owner, batch(2, 10))).settled).toEqual([])
    })
  )

  it.effect("keeps shards apart", () =>
    Effect.gen(function* () {
      const pool = yield* open
      yield* pool.push(owner, batch(1, 3))
      yield* pool.push({ shard: 1, epoch: 9 }, { ...batch(1, 20), epoch: 9 })
      yield* pool.lease(1, 20)
      expect(yield* pool.level(0)).toBe(3)
      expect(yield* pool.settled).toEqual([])
    })
  )

  it.effect("knows every batch that is not settled, however many there are", () =>
    Effect.gen(function* () {
      const pool = yield* open
      for (let sequence = 0; sequence < 3_000; sequence++) yield* pool.push(owner, batch(sequence, 1))
      expect(yield* pool.level(0)).toBe(3_000)
      for (let sequence = 0; sequence < 3_000; sequence++) yield* pool.push(owner, batch(sequence, 1))
      expect(yield* pool.level(0)).toBe(3_000)
    })
  )

  it.effect("keeps each key that a kill would lose in a batch that is not settled", () => {
    // A buffer of five keys, as full as it gets, in front of the pool. Keys leave it for good in the order they were leased.
    const steps = fc.array(
      fc.oneof(
        fc.record({ _tag: fc.constant("push" as const), size: fc.nat(8) }),
        fc.record({ _tag: fc.constant("use" as const), size: fc.nat(12) }),
        fc.record({ _tag: fc.constant("giveBack" as const), size: fc.nat(5) })
      ),
      { maxLength: 60 }
    )
    return forAll(steps, (commands) =>
      Effect.gen(function* () {
        const pool = yield* KeyPoolMemory.make({ shards: 1, settleAfter: 5 })
        let sequence = 0
        let buffer: Array<string> = []
        const settled = new Set<number>()
        const fill = Effect.map(
          Effect.suspend(() => pool.lease(0, 5 - buffer.length)),
          (leased) => {
            buffer = [...buffer, ...toStrings(leased)]
          }
        )
        for (const { _tag, size } of commands) {
          if (_tag === "push") {
            const pushed = yield* pool.push(owner, batch(sequence++, size))
            pushed.settled.forEach((each) => settled.add(each.sequence))
          } else if (_tag === "use") {
            for (let used = 0; used < size; used++) {
              yield* fill
              buffer = buffer.slice(1)
            }
          } else {
            const kept = buffer.slice(0, Math.max(0, buffer.length - size))
            yield* pool.giveBack(0, sequence++, fromStrings(buffer.slice(kept.length)))
            buffer = kept
          }
          yield* fill
          for (const key of buffer) expect(settled.has(batchOf(key))).toBe(false)
        }
        const pooled = toStrings(yield* pool.lease(0, 10_000))
        for (const key of pooled) expect(settled.has(batchOf(key))).toBe(false)
      })
    )
  })
})
