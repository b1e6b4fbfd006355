import { expect, it } from "@effect/vitest"
import { Cause, Effect, Fiber, Layer } from "effect"
import {
  concat,
  count,
  empty,
  fromStrings,
  type PackedKeys,
  toStrings
} from "../../../src/keys/PackedKeys.ts"
import type { PoolKind } from "../../../src/storage/keys/KeyPool.ts"
import * as KeyPoolMemory from "../../../src/storage/keys/KeyPoolMemory.ts"
import * as KeyPoolRedis from "../../../src/storage/keys/KeyPoolRedis.ts"
import { Fenced } from "../../../src/storage/StorageError.ts"
import { administer, describeRedis, freshRedis, keyNames } from "../../support/services/redis/Redis.ts"
import { keyPoolLaws } from "./KeyPoolLaws.ts"
import { keys, numbered } from "../../support/samples/SomeKeys.ts"
import { likeMemory } from "../../support/LikeMemory.ts"
import { playPool, playUnorderedPool, poolCommand } from "../../support/Players.ts"

const fresh = (shards: number, kind?: PoolKind) =>
  Layer.unwrapScoped(
    Effect.map(freshRedis(shards), (redis) => KeyPoolRedis.layer({ ...redis, ...(kind && { kind }) }))
  )

describeRedis("on Redis", () => {
  keyPoolLaws("KeyPool", fresh(1), 0)
  keyPoolLaws("KeyPool, one of three shards", fresh(3), 1, 2 ** 53 - 100)
  keyPoolLaws("KeyPool of sets", fresh(1, "set"), 0, 1, "set")
})

const owner = { shard: 0, epoch: 1 }
const batch = (sequence: number, packed = keys(`b${sequence}-`, 10)) => ({ epoch: 1, sequence, keys: packed })

/** A key of seven or eight characters for each number. */
const keyOf = (index: number) =>
  (index % 3 === 0 ? "k" : "long") + String(index).padStart(index % 3 === 0 ? 7 : 3, "0")

describeRedis("KeyPool on Redis", () => {
  it.scopedLive("takes 65,536 keys in one push and gives them in one lease, in their order", () =>
    Effect.gen(function* () {
      const pool = yield* KeyPoolRedis.make(yield* freshRedis())
      const all = fromStrings(Array.from({ length: 65_536 }, (_, index) => keyOf(index)))
      expect((yield* pool.push(owner, batch(1, all))).level).toBe(65_536)
      expect((yield* pool.push(owner, batch(1, all))).level).toBe(65_536)
      // Compared here, not by `expect`, which takes seconds for half a megabyte.
      const isAll = (leased: PackedKeys) =>
        leased.width === all.width && Buffer.compare(leased.bytes, all.bytes) === 0
      const leased = yield* pool.lease(0, 65_536)
      expect(isAll(leased)).toBe(true)
      yield* pool.giveBack(0, 7, leased)
      expect(isAll(yield* pool.lease(0, 65_536))).toBe(true)
    })
  )

  it.scopedLive("takes batches of every size around the chunks in which they are stored", () =>
    Effect.gen(function* () {
      const pool = yield* KeyPoolRedis.make(yield* freshRedis())
      for (const size of [0, 1, 999, 1_000, 1_001, 2_000, 2_001]) {
        const pushed = yield* pool.push(owner, batch(size, keys("x", size)))
        expect(pushed).toEqual({ level: size, settled: [{ epoch: 1, sequence: size }] })
        expect(toStrings(yield* pool.lease(0, 10_000))).toEqual(numbered("x", size))
      }
    })
  )

  it.scopedLive("stores each key as it is, whatever the longest one beside it", () =>
    Effect.gen(function* () {
      const redis = yield* freshRedis()
      const pool = yield* KeyPoolRedis.make(redis)
      yield* pool.push(owner, batch(1, fromStrings(["abcdef", "abcdefgh", "-_0"])))
      const stored = administer(redis.urls[0]!, (client) =>
        client.lrange(`linkmint:{${redis.namespace}}:pool:0:keys`, 0, -1)
      )
      expect(yield* stored).toEqual(["abcdef", "abcdefgh", "-_0"])
      yield* pool.giveBack(0, 7, yield* pool.lease(0, 2))
      expect(yield* stored).toEqual(["abcdef", "abcdefgh", "-_0"])
    })
  )

  it.scopedLive("settles a batch with its push, and says so again when that is repeated", () =>
    Effect.gen(function* () {
      const pool = yield* KeyPoolRedis.make(yield* freshRedis())
      const settled = [{ epoch: 1, sequence: 7 }]
      expect(yield* pool.push(owner, batch(7))).toEqual({ level: 10, settled })
      yield* pool.lease(0, 4)
      expect(yield* pool.push({ shard: 0, epoch: 2 }, batch(7))).toEqual({ level: 6, settled })
    })
  )

  it.scopedLive("remembers the last thousand batches, and no more", () =>
    Effect.gen(function* () {
      const redis = yield* freshRedis()
      const pool = yield* KeyPoolRedis.make(redis)
      const push = (sequence: number) => pool.push(owner, batch(sequence, keys("k", 1)))
      yield* Effect.forEach(numbered("", 1_500), (sequence) => push(Number(sequence)), { concurrency: 100 })
      for (const recent of [501, 1_000, 1_499]) expect((yield* push(recent)).level).toBe(1_500)
      const name = `linkmint:{${redis.namespace}}:pool:0:batches`
      expect(yield* administer(redis.urls[0]!, (client) => client.llen(name))).toBe(1_000)
    })
  )

  it.scopedLive("remembers the last thousand returns beside the batches, and no more", () =>
    Effect.gen(function* () {
      const redis = yield* freshRedis()
      const pool = yield* KeyPoolRedis.make(redis)
      yield* pool.push(owner, batch(1))
      const giveBack = (id: number) => Effect.zipRight(pool.giveBack(0, id, keys("k", 1)), pool.level(0))
      yield* Effect.forEach(numbered("", 1_500), (id) => giveBack(Number(id)), { concurrency: 100 })
      for (const recent of [600, 1_000, 1_499]) expect(yield* giveBack(recent)).toBe(1_510)
      expect((yield* pool.push(owner, batch(1))).level).toBe(1_510)
      const name = `linkmint:{${redis.namespace}}:pool:0:returns`
      expect(yield* administer(redis.urls[0]!, (client) => client.llen(name))).toBe(1_000)
    })
  )

  it.scopedLive("refuses what a stale owner on another node pushes, and stores nothing of it", () =>
    Effect.gen(function* () {
      const redis = yield* freshRedis()
      const [stale, newest] = yield* Effect.all([KeyPoolRedis.make(redis), KeyPoolRedis.make(redis)])
      yield* stale.claim(owner)
      yield* stale.push(owner, batch(1))
      yield* newest.claim({ shard: 0, epoch: 2 })
      expect(yield* Effect.flip(stale.push(owner, batch(2)))).toEqual(new Fenced({ ...owner, newest: 2 }))
      expect(yield* Effect.flip(stale.claim(owner))).toEqual(new Fenced({ ...owner, newest: 2 }))
      // Neither its keys nor its batch id: the next owner can still finish the batch.
      expect(yield* newest.level(0)).toBe(10)
      expect((yield* newest.push({ shard: 0, epoch: 2 }, batch(2))).level).toBe(20)
    })
  )

  it.scopedLive("works on with an empty shard when its data are gone", () =>
    Effect.gen(function* () {
      const redis = yield* freshRedis()
      const pool = yield* KeyPoolRedis.make(redis)
      yield* pool.claim({ shard: 0, epoch: 5 })
      yield* pool.push({ shard: 0, epoch: 5 }, batch(1))
      const names = yield* keyNames(redis.urls[0]!, redis.namespace)
      yield* administer(redis.urls[0]!, (client) => client.del(names))
      // The scripts are gone too, where a server was restarted.
      yield* administer(redis.urls[0]!, (client) => client.script("FLUSH"))
      expect(yield* pool.level(0)).toBe(0)
      expect(count(yield* pool.lease(0, 10))).toBe(0)
      expect((yield* pool.push({ shard: 0, epoch: 5 }, batch(2))).level).toBe(10)
      expect(toStrings(yield* pool.lease(0, 10))).toEqual(numbered("b2-", 10))
    })
  )

  it.scopedLive("keeps namespaces apart, and shards, with all names of a namespace in one slot", () =>
    Effect.gen(function* () {
      const redis = yield* freshRedis(2)
      const other = yield* freshRedis(2)
      const one = yield* KeyPoolRedis.make(redis)
      const two = yield* KeyPoolRedis.make(other)
      yield* one.push(owner, batch(1))
      yield* one.push({ shard: 1, epoch: 3 }, batch(1, keys("s", 3)))
      yield* two.push(owner, batch(1, keys("n", 5)))
      expect([yield* one.level(0), yield* one.level(1), yield* two.level(0), yield* two.level(1)]).toEqual([
        10, 3, 5, 0
      ])
      expect(toStrings(yield* two.lease(0, 100))).toEqual(numbered("n", 5))
      expect((yield* one.push(owner, batch(2))).level).toBe(20)
      const names = yield* keyNames(redis.urls[0]!, redis.namespace)
      expect(names.length).toBe(6)
      expect(names.every((name) => name.startsWith(`linkmint:{${redis.namespace}}:pool:`))).toBe(true)
    })
  )

  it.scopedLive("refuses a namespace that could be mistaken for another", () =>
    Effect.gen(function* () {
      for (const namespace of ["", "a}:pool", "a b", "a".repeat(65)]) {
        const cause = yield* Effect.flip(Effect.sandbox(KeyPoolRedis.make({ urls: [], namespace })))
        expect(Cause.pretty(cause)).toContain("RangeError: a namespace has 1 to 64")
      }
    })
  )

  it.scopedLive("puts back the keys that come when their caller has gone", () =>
    Effect.gen(function* () {
      const pool = yield* KeyPoolRedis.make(yield* freshRedis())
      yield* pool.push(owner, batch(1, keys("k", 100)))
      let taken = empty
      for (let round = 0; round < 100; round++) {
        const leasing = yield* Effect.fork(
          Effect.tap(pool.lease(0, 3), (some) => Effect.sync(() => (taken = concat(taken, some))))
        )
        yield* Effect.repeatN(Effect.yieldNow(), round % 10)
        if (round % 5 === 0) yield* Effect.promise(() => new Promise(setImmediate))
        yield* Fiber.interrupt(leasing)
      }
      const rest = yield* pool.lease(0, 1_000)
      expect([...toStrings(taken), ...toStrings(rest)]).toEqual(numbered("k", 100))
    })
  )

  it.scopedLive("moves the keys over with the next claim when the kind of pool is another one", () =>
    Effect.gen(function* () {
      const redis = yield* freshRedis()
      const all = numbered("k", 2_500)
      const kinds = ["list", "set", "list"] as const
      for (const [index, kind] of kinds.entries()) {
        const pool = yield* KeyPoolRedis.make({ ...redis, kind })
        const claim = { shard: 0, epoch: index + 1 }
        yield* pool.claim(claim)
        if (index === 0) yield* pool.push(claim, batch(1, fromStrings(all)))
        expect(yield* pool.level(0)).toBe(2_500)
        // What was leased, or pushed, before is known after the move.
        yield* pool.giveBack(0, index, yield* pool.lease(0, 100))
        expect((yield* pool.push(claim, batch(1, fromStrings(all)))).level).toBe(2_500)
        // An owner of before has lost the shard, and finds nothing to lease.
        const former = yield* KeyPoolRedis.make({ ...redis, kind: kind === "list" ? "set" : "list" })
        expect(count(yield* former.lease(0, 10))).toBe(0)
        expect(yield* Effect.flip(former.claim({ shard: 0, epoch: index }))).toBeInstanceOf(Fenced)
      }
      const last = yield* KeyPoolRedis.make(redis)
      expect(toStrings(yield* last.lease(0, 10_000)).toSorted()).toEqual(all.toSorted())
    })
  )

  it.scopedLive("gives the keys of a set in no order that they came in", () =>
    Effect.gen(function* () {
      const pool = yield* KeyPoolRedis.make({ ...(yield* freshRedis()), kind: "set" })
      yield* pool.push(owner, batch(1, keys("k", 100)))
      const leased = toStrings(yield* pool.lease(0, 100))
      expect(leased).not.toEqual(numbered("k", 100))
      expect(leased.toSorted()).toEqual(numbered("k", 100).toSorted())
    })
  )

  likeMemory({
    title: "answers random commands like the pool in memory",
    open: Effect.map(freshRedis(), KeyPoolRedis.make),
    memory: KeyPoolMemory.make({ shards: 1, settleAfter: 0 }),
    command: poolCommand,
    player: playPool,
    numRuns: 60
  })

  likeMemory({
    title: "gives as many keys of a set, to random commands, as the pool in memory",
    open: Effect.map(freshRedis(), (redis) => KeyPoolRedis.make({ ...redis, kind: "set" })),
    memory: KeyPoolMemory.make({ shards: 1, settleAfter: 0 }),
    command: poolCommand,
    player: playUnorderedPool,
    numRuns: 60
  })
})
