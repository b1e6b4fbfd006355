import { expect, it } from "@effect/vitest"
import { Effect, Logger, LogLevel, Schedule } from "effect"
import { toStrings } from "../../../src/keys/PackedKeys.ts"
import * as KeyPoolRedis from "../../../src/storage/keys/KeyPoolRedis.ts"
import { describeRedisProcess, ownProgram, parsed } from "../../support/services/redis/Redis.ts"
import { freePorts } from "../../support/FreePort.ts"
import { makeRedisProcess } from "../../support/services/redis/RedisProcess.ts"
import { makeSentinelDeployment } from "../../support/services/redis/RedisSentinel.ts"
import { keys, numbered } from "../../support/samples/SomeKeys.ts"

const owner = { shard: 0, epoch: 1 }
const batch = (sequence: number, size = 10) => ({ epoch: 1, sequence, keys: keys(`b${sequence}-`, size) })

const deploymentAndPool = Effect.gen(function* () {
  const deployment = yield* Effect.orDie(makeSentinelDeployment)
  const pool = yield* KeyPoolRedis.make({ urls: [parsed(deployment.url)], namespace: "test" })
  return { ...deployment, pool }
}).pipe(Logger.withMinimumLogLevel(LogLevel.None))

/** The client follows a failover within a second, or later on a busy machine. */
const followMax = "10 seconds"

/** Failing over takes Sentinels with a timeout of 500 ms some 2 s, and half a minute more where they were held up meanwhile. */
const limit_ms = 120_000

// Each waits for servers of its own.
const tests = () => {
  it.scopedLive(
    "follows a failover without a restart, with what was replicated",
    () =>
      Effect.gen(function* () {
        const { pool, primary, promotedAfter, replica, replicated } = yield* deploymentAndPool
        yield* pool.claim({ shard: 0, epoch: 4 })
        yield* pool.push({ shard: 0, epoch: 4 }, batch(1))
        yield* pool.lease(0, 3)
        yield* replicated
        yield* primary.kill
        expect(yield* promotedAfter(primary.port)).toBe(replica.port)
        const level = yield* Effect.retry(pool.level(0), Schedule.spaced("20 millis")).pipe(
          Effect.timeout(followMax)
        )
        expect(level).toBe(7)
        expect((yield* Effect.flip(pool.claim({ shard: 0, epoch: 3 })))._tag).toBe("Fenced")
        expect((yield* pool.push({ shard: 0, epoch: 4 }, batch(1))).level).toBe(7)
        expect(toStrings(yield* pool.lease(0, 100))).toEqual(numbered("b1-", 10).slice(3))
      }),
    limit_ms
  )

  it.scopedLive(
    "hands keys out twice when the promoted replica has forgotten the pops",
    () =>
      Effect.gen(function* () {
        const { cutOff, pool, primary, promotedAfter, replicated } = yield* deploymentAndPool
        yield* pool.push(owner, batch(1, 20))
        const before = toStrings(yield* pool.lease(0, 5))
        yield* replicated
        yield* cutOff
        const forgotten = toStrings(yield* pool.lease(0, 8))
        expect((yield* pool.push(owner, batch(2))).level).toBe(17)
        yield* primary.kill
        yield* promotedAfter(primary.port)
        yield* Effect.retry(pool.level(0), Schedule.spaced("20 millis"))
        // The pops are forgotten, and so is the push, though it was settled: these keys are lost.
        expect(yield* pool.level(0)).toBe(15)
        const again = toStrings(yield* pool.lease(0, 100))
        expect(again.slice(0, 8)).toEqual(forgotten)
        expect([...before, ...again]).toEqual(numbered("b1-", 20))
        expect((yield* pool.push(owner, batch(2))).level).toBe(10)
      }),
    limit_ms
  )

  it.scopedLive(
    "moves on from a primary that hangs, and stays away from it when it goes on",
    () =>
      Effect.gen(function* () {
        const { pool, primary, promotedAfter, replicated } = yield* deploymentAndPool
        yield* pool.push(owner, batch(1))
        yield* replicated
        yield* primary.pause
        yield* promotedAfter(primary.port)
        const follow = Effect.retry(pool.push(owner, batch(2)), Schedule.spaced("20 millis"))
        expect((yield* Effect.timeout(follow, followMax)).level).toBe(20)
        yield* primary.resume
        expect(yield* pool.level(0)).toBe(20)
      }),
    limit_ms
  )

  it.scopedLive("says whom it asked when it finds no primary", () =>
    Effect.gen(function* () {
      const program = yield* ownProgram
      const [port, nobody] = yield* freePorts(2)
      const config = ["requirepass s3cret"]
      const url = `redis://:s3cret@127.0.0.1:${port}`
      yield* Effect.orDie(makeRedisProcess({ program, port: port!, config, args: ["--sentinel"], url }))
      const failing = (text: string) =>
        KeyPoolRedis.make({ urls: [parsed(text)], namespace: "test" }).pipe(
          Effect.flatMap((pool) => Effect.flip(pool.level(0))),
          Effect.scoped,
          // An answer is waited for a second, which is short on a busy machine.
          Effect.repeat({ while: ({ reason }) => reason.includes("timed out"), times: 10 }),
          Logger.withMinimumLogLevel(LogLevel.None)
        )
      for (const [text, expected] of [
        [`redis+sentinel://127.0.0.1:${nobody}/main`, `failed to connect to sentinel 127.0.0.1:${nobody}`],
        [`redis+sentinel://127.0.0.1:${port}/main`, "NOAUTH"],
        [`redis+sentinel://127.0.0.1:${port}/main?sentinelPassword=other`, "WRONGPASS"],
        // It answers then, and knows no such primary.
        [
          `redis+sentinel://127.0.0.1:${nobody},127.0.0.1:${port}/main?sentinelPassword=s3cret`,
          "invalid reply: null"
        ]
      ] as const) {
        const error = yield* failing(text)
        expect(error.applied).toBe("no")
        expect(error.reason).toContain("no Sentinel names a primary")
        expect(error.reason).toContain(expected)
        expect(error.reason).not.toContain("s3cret")
      }
    })
  )
}

describeRedisProcess("KeyPool on Redis behind Sentinels", tests, { concurrent: true })
