import { describe, expect, it } from "vitest"
import { type Command, namespace, type VirtualRedis } from "../../../src/sim/redis/VirtualRedis.ts"
import { fromStrings } from "../../../src/keys/PackedKeys.ts"
import { namesOf } from "../../../src/storage/keys/KeyPoolRedis.ts"
import { scripts } from "../../../src/storage/keys/KeyPoolRedisScripts.ts"
import { numbered } from "../../support/samples/SomeKeys.ts"
import { LittleWorld } from "../stores/LittleWorld.ts"

const lag_ms = 100

/** A server whose operations happen when they are called, with time between them. */
const setUp = (seed = 1) => {
  const little = new LittleWorld(seed, { replicaLag_ms: lag_ms })
  return { little, redis: little.redis[0]! }
}

/** What a node asks of it, as `KeyPoolRedis` does. */
const asking = (redis: VirtualRedis, by = "node-1#1") => {
  const names = namesOf(namespace, redis.shard)
  const pool = names[redis.kind]
  const ask = (name: string, ...args: Command["args"]) => {
    const script = scripts(redis.kind)[name]
    return redis.run(by, [
      { name, args, script: script && { lua: script.lua, names: script.numberOfKeys! } }
    ])[0]
  }
  const packed = (keys: ReadonlyArray<string>) => {
    const { bytes, width } = fromStrings(keys)
    return [width, bytes] as const
  }
  return {
    claim: (epoch: number) => ask("linkmintClaim", names.epoch, pool, "none", epoch),
    push: (epoch: number, batch: string, keys: ReadonlyArray<string>) =>
      ask("linkmintPush", names.epoch, pool, names.batches, epoch, batch, ...packed(keys)),
    pop: (wanted: number) => ask(redis.kind === "list" ? "lpop" : "spop", pool, wanted),
    giveBack: (id: number, keys: ReadonlyArray<string>) =>
      ask("linkmintGiveBack", pool, names.returns, id, ...packed(keys))
  }
}

const push = (redis: VirtualRedis, epoch: number, sequence: number, count = 3) =>
  asking(redis).push(epoch, `${epoch}/${sequence}`, numbered(`${epoch}/${sequence}-`, count))

/** What can be seen of it without asking it. */
const stateOf = (redis: VirtualRedis) => JSON.stringify([redis.epoch, redis.keys])

describe("a Redis of the simulation", () => {
  it("comes back with its data from a restart", () => {
    const { little, redis } = setUp()
    push(redis, 4, 1)
    asking(redis).pop(1)
    const before = stateOf(redis)
    redis.restart(1_000)
    little.pass(2)
    expect(stateOf(redis)).toBe(before)
    for (const known of [3, 4]) expect(asking(redis).claim(known)).toBe(-4)
    expect(push(redis, 4, 1)).toBe(2)
    expect(little.told("forgot")).toEqual([])
  })

  it("comes back without anything when its data are lost", () => {
    const { little, redis } = setUp()
    push(redis, 4, 1)
    redis.lose(1_000)
    expect(stateOf(redis)).toBe("[0,[]]")
    expect(little.told("forgot")).toMatchObject([{ shard: 0, gone: numbered("4/1-", 3), again: [] }])
    expect(asking(redis).claim(1)).toBe(0)
    expect(push(redis, 4, 1)).toBe(3)
  })

  it("has each key once where it is a set, also when a return brings one twice", () => {
    const keysOf = (kind: "list" | "set") => {
      const redis = new LittleWorld(1, { kind }).redis[0]!
      asking(redis).giveBack(7, ["a", "b", "a"])
      asking(redis).push(1, "1/1", ["b", "c"])
      return redis.keys.toSorted()
    }
    expect(keysOf("set")).toEqual(["a", "b", "c"])
    expect(keysOf("list")).toEqual(["a", "a", "b", "b", "c"])
  })

  it("keeps in a failover what its replica has seen", () => {
    const { little, redis } = setUp()
    push(redis, 4, 1)
    asking(redis).pop(1)
    const before = stateOf(redis)
    little.pass(lag_ms + 1)
    redis.failover(1_000)
    expect(stateOf(redis)).toBe(before)
    expect(push(redis, 4, 1)).toBe(2)
    expect(little.told("forgot")).toMatchObject([{ gone: [], again: [] }])
  })

  it("can forget pushes, pops, keys that were put back, batches and epochs", () => {
    const forgotten = new Set<string>()
    for (let seed = 1; seed <= 30; seed++) {
      const { little, redis } = setUp(seed)
      push(redis, 4, 1)
      little.pass(lag_ms + 1)
      asking(redis).pop(2)
      little.pass(20)
      asking(redis).giveBack(7, ["4/1-1"])
      little.pass(20)
      push(redis, 5, 2)
      redis.failover(1_000)
      const { again, gone } = little.told("forgot")[0]!
      if (gone.includes("5/2-0")) {
        forgotten.add("push")
        expect(redis.epoch).toBe(4)
        // Neither is the batch known any more, so that it can be pushed again.
        const level = redis.keys.length
        expect(push(redis, 5, 2)).toBe(level + 3)
        forgotten.add("epoch and batch")
      } else expect(push(redis, 5, 2)).toBe(redis.keys.length)
      if (again.includes("4/1-0")) {
        forgotten.add("pop")
        expect(redis.keys.slice(0, 3)).toEqual(numbered("4/1-", 3))
      } else if (gone.includes("4/1-1")) forgotten.add("put back")
    }
    expect([...forgotten].toSorted()).toEqual(["epoch and batch", "pop", "push", "put back"])
  })

  it("is after a failover as it was at a moment since the lag began, whatever it did", () => {
    let older = 0
    for (let seed = 1; seed <= 150; seed++) {
      const { little, redis } = setUp(seed)
      const chance = little.world.chance("operations")
      const states: Array<{ readonly until_us: number; readonly state: string }> = []
      let epoch = 1
      for (let operation = 0; operation < 60; operation++) {
        const before = stateOf(redis)
        const kind = chance.below(10)
        if (kind < 3) push(redis, epoch, chance.below(30), chance.below(5))
        else if (kind < 7) asking(redis).pop(chance.below(6))
        else if (kind < 9)
          asking(redis).giveBack(operation, numbered(`back${operation}-`, 1 + chance.below(3)))
        else asking(redis).claim(++epoch)
        states.push({ until_us: little.world.now_us, state: before })
        little.pass(chance.below(20))
        // Now and then one soon after another one.
        if (operation === 54) {
          redis.failover(1_000)
          states.length = 0
          little.pass(chance.below(20))
        }
      }
      const now = stateOf(redis)
      const possible = states.filter(({ until_us }) => until_us >= little.world.now_us - lag_ms * 1_000)
      redis.failover(1_000)
      expect([now, ...possible.map(({ state }) => state)], `seed ${seed}`).toContain(stateOf(redis))
      if (stateOf(redis) !== now) older++
    }
    expect(older).toBeGreaterThan(75)
  })

  it("remembers the last thousand batches and no more, also when a failover forgets the last of them", () => {
    const { little, redis } = setUp()
    for (let sequence = 0; sequence < 1_500; sequence++) push(redis, 1, sequence, 1)
    for (const recent of [500, 1_000, 1_499]) expect(push(redis, 1, recent, 1)).toBe(1_500)
    little.pass(lag_ms + 1)
    for (let sequence = 1_500; sequence < 2_500; sequence++) push(redis, 1, sequence, 1)
    // The thousand were pushed at this moment, and no replica has seen it.
    redis.failover(1_000)
    expect(redis.keys.length).toBe(1_500)
    for (const recent of [500, 1_000, 1_499]) expect(push(redis, 1, recent, 1)).toBe(1_500)
    expect(push(redis, 1, 499, 1)).toBe(1_501)
  })

  it("tells the journal of each push, lease, return and refusal", () => {
    const { little, redis } = setUp()
    for (const _ of [1, 2]) push(redis, 4, 1)
    asking(redis, "node-2#1").claim(3)
    asking(redis, "node-2#1").push(3, "3/1", ["x"])
    asking(redis).pop(0)
    asking(redis).pop(2)
    for (const _ of [1, 2]) asking(redis).giveBack(7, numbered("4/1-", 2))
    expect(little.journal.entries).toMatchObject([
      { tag: "pushed", by: "node-1#1", shard: 0, keys: numbered("4/1-", 3) },
      { tag: "fenced", by: "node-2#1", shard: 0, epoch: 3 },
      { tag: "fenced", by: "node-2#1", shard: 0, epoch: 3 },
      { tag: "leased", by: "node-1#1", shard: 0, keys: numbered("4/1-", 2) },
      { tag: "returned", by: "node-1#1", shard: 0, keys: numbered("4/1-", 2) }
    ])
    expect(redis.keys).toEqual(numbered("4/1-", 3))
  })
})
