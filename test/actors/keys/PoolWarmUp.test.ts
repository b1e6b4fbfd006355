import { expect, it } from "@effect/vitest"
import { Sharding } from "@effect/cluster"
import { Effect, Layer, TestClock } from "effect"
import { describe } from "vitest"
import * as PoolWarmUp from "../../../src/actors/keys/PoolWarmUp.ts"
import { KeyPool } from "../../../src/storage/keys/KeyPool.ts"
import { always } from "../../support/ActorFaults.ts"
import { freshStores, others, startNode } from "../../support/TestNode.ts"

const sizes = { shards: 3, high: 40 }

describe("a node that starts", () => {
  it.scoped("has every pool shard filled, though nobody leases from it", () =>
    Effect.gen(function* () {
      const stores = yield* freshStores(sizes)
      const node = yield* startNode(stores, sizes)
      // The first answers fail: each shard is asked again.
      node.faults.set(always("refuse", "KeyStock.claim"))
      yield* Layer.build(PoolWarmUp.layer).pipe(
        Effect.provideService(Sharding.Sharding, node.sharding),
        Effect.provideService(KeyPool, stores.pool)
      )
      yield* others
      node.faults.set()
      yield* TestClock.adjust("1 seconds")
      yield* others
      const levels = yield* Effect.forEach([0, 1, 2], (shard) => stores.pool.level(shard))
      expect(levels).toEqual([40, 40, 40])
    })
  )
})
