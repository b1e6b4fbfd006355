import { Effect, Exit, Fiber, Scope } from "effect"
import { describe, expect, it } from "vitest"
import { concat, count, empty, toStrings } from "../../../src/keys/PackedKeys.ts"
import * as RedisPorts from "../../../src/sim/redis/Ports.ts"
import type { VirtualProcess } from "../../../src/sim/world/VirtualProcess.ts"
import { keys, numbered } from "../../support/samples/SomeKeys.ts"
import { LittleWorld } from "../stores/LittleWorld.ts"

const owner = { shard: 0, epoch: 1 }
const batch = (sequence: number, size = 10) => ({ epoch: 1, sequence, keys: keys(`b${sequence}-`, size) })

const poolIn = (little: LittleWorld, process: VirtualProcess, scope: Scope.Scope) =>
  Scope.extend(RedisPorts.pool(little.redis, process, little.journal), scope)

const setUp = (seed = 1) => {
  const little = new LittleWorld(seed)
  const process = little.world.spawn("node-1", 1)
  const scope = little.run(process, Scope.make())
  const pool = little.run(process, poolIn(little, process, scope))
  /** What a lease says of having been applied, and how long that took, in milliseconds. */
  const failing = () => {
    const before_us = little.world.now_us
    const error = little.run(process, Effect.flip(pool.lease(0, 3)))
    return { applied: error.applied, took_ms: (little.world.now_us - before_us) / 1_000 }
  }
  /** How long it takes until the pool answers, in milliseconds. */
  const recovered = () => {
    const before_us = little.world.now_us
    const again = Effect.retry(pool.level(0), { while: () => Effect.as(Effect.sleep("10 millis"), true) })
    little.run(process, again)
    return (little.world.now_us - before_us) / 1_000
  }
  return { little, process, pool, redis: little.redis[0]!, scope, failing, recovered }
}

describe("a pool of the simulation, while its server is away", () => {
  it("fails at once, and works again within a second of its return", () => {
    const { failing, little, pool, process, recovered, redis } = setUp()
    little.run(process, pool.push(owner, batch(1)))
    redis.restart(3_000_000)
    little.pass(100)
    for (let again = 0; again < 20; again++) {
      const { applied, took_ms } = failing()
      expect(applied).toBe("no")
      expect(took_ms).toBeLessThan(1)
      little.pass(100)
    }
    little.pass(3_000)
    expect(recovered()).toBeLessThan(1_000)
    expect(little.run(process, pool.level(0))).toBe(10)
  })

  it("resets what is under way, which may have been applied", () => {
    const { little, pool, process, redis } = setUp()
    little.run(process, pool.push(owner, batch(1)))
    const leasing = little.begin(process, Effect.flip(pool.lease(0, 3)))
    little.pass(0.05)
    redis.restart(100_000)
    expect(little.end(leasing)).toMatchObject({ value: { applied: "unknown" } })
  })

  it("works without data when they are lost", () => {
    const { little, pool, process, recovered, redis } = setUp()
    little.run(process, pool.push({ shard: 0, epoch: 5 }, batch(1)))
    redis.lose(500_000)
    little.pass(600)
    recovered()
    expect(count(little.run(process, pool.lease(0, 10)))).toBe(0)
    expect(little.run(process, pool.push(owner, batch(1))).level).toBe(10)
  })
})

describe("a pool of the simulation, while the way is cut", () => {
  it("fails within some second, then at once, and works again when the way is back", () => {
    const { failing, little, recovered } = setUp()
    little.network.cut("node-1", "redis-0", { oneWay: false, for_us: 5_000_000 })
    const first = failing()
    expect(first.applied).toBe("unknown")
    expect(first.took_ms).toBeGreaterThanOrEqual(1_000)
    expect(first.took_ms).toBeLessThan(1_100)
    for (let again = 0; again < 10; again++) {
      const { applied, took_ms } = failing()
      expect(applied).toBe("no")
      expect(took_ms).toBeLessThan(1)
      little.pass(100)
    }
    little.pass(3_000)
    expect(recovered()).toBeLessThan(2_000)
  })

  it("starts all the same, within some second", () => {
    const little = new LittleWorld(3)
    little.network.cut("redis-0", "node-1", { oneWay: true, for_us: 5_000_000 })
    const process = little.world.spawn("node-1", 1)
    const scope = little.run(process, Scope.make())
    const pool = little.run(process, poolIn(little, process, scope))
    expect(little.world.now_us).toBeLessThan(1_100_000)
    expect(little.run(process, Effect.flip(pool.level(0))).applied).toBe("no")
    little.pass(6_000)
    expect(little.run(process, pool.level(0))).toBe(0)
  })
})

describe("a pool of the simulation, when calls fail", () => {
  it("loses the keys of a lease whose answer is lost, and never sends it again", () => {
    const { failing, little, pool, process, recovered, redis } = setUp()
    little.run(process, pool.push(owner, batch(1)))
    little.redisFaults = { refused: 0, lost: 1, ignored: 0 }
    expect(failing().applied).toBe("unknown")
    little.redisFaults = { refused: 0, lost: 0, ignored: 0 }
    recovered()
    expect(redis.keys).toEqual(numbered("b1-", 10).slice(3))
    expect(little.told("leased").map(({ keys }) => keys)).toEqual([numbered("b1-", 3)])
  })

  it("notes the keys of a return that fails, whether it was applied or not, and of no other", () => {
    const { little, pool, process } = setUp()
    little.run(process, pool.push(owner, batch(1)))
    const leased = little.run(process, pool.lease(0, 5))
    const giveBack = (id: number) => little.exit(process, pool.giveBack(0, id, leased))
    const noted = () => little.told("unreturned").map(({ keys }) => keys)
    expect(Exit.isSuccess(giveBack(1))).toBe(true)
    expect(noted()).toEqual([])
    little.redisFaults = { refused: 1, lost: 0, ignored: 0 }
    expect(Exit.isFailure(giveBack(2))).toBe(true)
    // The connection is gone as well.
    expect(Exit.isFailure(giveBack(3))).toBe(true)
    expect(noted()).toEqual([toStrings(leased), toStrings(leased)])
  })

  it("leases nothing where the lease was not sent, or was never seen", () => {
    for (const [faults, applied] of [
      [{ refused: 1, lost: 0, ignored: 0 }, "no"],
      [{ refused: 0, lost: 0, ignored: 1 }, "unknown"]
    ] as const) {
      const { failing, little, pool, process, redis } = setUp()
      little.run(process, pool.push(owner, batch(1)))
      little.redisFaults = faults
      expect(failing().applied).toBe(applied)
      little.pass(5_000)
      expect(redis.keys).toEqual(numbered("b1-", 10))
    }
  })

  it("puts back the keys that come when their caller has gone", () => {
    const { little, pool, process } = setUp()
    little.run(process, pool.push(owner, batch(1, 1_000)))
    let taken = empty
    let gone = 0
    for (let round = 0; round < 100; round++) {
      const lease = Effect.tap(pool.lease(0, 3), (some) => Effect.sync(() => (taken = concat(taken, some))))
      const wait = Effect.repeatN(Effect.yieldNow(), little.world.chance("rounds").below(150))
      const exit = little.exit(
        process,
        Effect.flatMap(Effect.fork(lease), (leasing) => Effect.zipRight(wait, Fiber.interrupt(leasing)))
      )
      if (Exit.isSuccess(exit) && Exit.isInterrupted(exit.value)) gone++
    }
    expect(gone).toBeGreaterThan(10)
    expect(count(taken)).toBeGreaterThan(30)
    const rest = little.run(process, pool.lease(0, 1_000))
    expect([...toStrings(taken), ...toStrings(rest)]).toEqual(numbered("b1-", 1_000))
    expect(little.told("returned").length).toBeGreaterThan(10)
  })

  it("gives back nothing for a process that is killed while it leases", () => {
    const { little, pool, process, redis } = setUp()
    little.run(process, pool.push(owner, batch(1)))
    let calls = 0
    little.crashPoint = (victim) => {
      if (++calls === 2) victim.kill()
    }
    little.begin(process, pool.lease(0, 4))
    little.pass(5_000)
    expect(redis.keys.length).toBe(6)
    expect(little.told("returned")).toEqual([])
  })

  it("runs what one process sends in its order", () => {
    const { little, pool, process } = setUp()
    const sequences = Array.from({ length: 200 }, (_, sequence) => sequence)
    const started: Array<number> = []
    // What is started first shall also be sent first.
    process.preemption = 0
    const pushing = Effect.forEach(
      sequences,
      (sequence) =>
        Effect.suspend(() => {
          started.push(sequence)
          return pool.push(owner, batch(sequence, 1))
        }),
      { concurrency: "unbounded", discard: true }
    )
    little.run(process, pushing)
    const pushed = little.told("pushed").flatMap(({ keys }) => keys)
    expect(pushed).toEqual(started.map((sequence) => `b${sequence}-0`))
  })
})
