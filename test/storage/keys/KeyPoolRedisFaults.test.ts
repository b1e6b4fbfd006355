import { expect, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Logger, LogLevel, Schedule } from "effect"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { createServer } from "node:net"
import { toStrings } from "../../../src/keys/PackedKeys.ts"
import { type PoolKind, poolKinds } from "../../../src/storage/keys/KeyPool.ts"
import * as KeyPoolRedis from "../../../src/storage/keys/KeyPoolRedis.ts"
import * as WitnessRedis from "../../../src/storage/nodes/WitnessRedis.ts"
import {
  administer,
  describeRedisProcess,
  inMemory,
  ownProgram,
  ownRedis,
  parsed
} from "../../support/services/redis/Redis.ts"
import { freePorts } from "../../support/FreePort.ts"
import { makeRedisProcess } from "../../support/services/redis/RedisProcess.ts"
import { keys, numbered } from "../../support/samples/SomeKeys.ts"

const onDisk = ['save ""', "appendonly yes", "appendfsync always"]

const owner = { shard: 0, epoch: 1 }
const batch = (sequence: number) => ({ epoch: 1, sequence, keys: keys(`b${sequence}-`, 10) })

/** Losses of connections are what these tests are about: no need to read of each. */
const quietly = Logger.withMinimumLogLevel(LogLevel.None)

const readme = readFileSync(new URL("../../../README.md", import.meta.url), "utf8")

/** What the README says that the Redis user needs. */
const rightsOf = (kind: PoolKind): string => {
  const [, rule, ofSets] = /The Redis user needs\s+`([^`]+)`,\s+and with `KEY_POOL=set` also `([^`]+)`/.exec(
    readme
  )!
  return kind === "set" ? `${rule} ${ofSets}` : rule!
}

/** A Redis server of the test's own, and a pool of one shard on it. */
const serverAndPool = Effect.fn("serverAndPool")(function* (config: ReadonlyArray<string> = inMemory) {
  const { server, url } = yield* ownRedis(config)
  const pool = yield* quietly(KeyPoolRedis.make({ urls: [url], namespace: "test" }))
  return { server, url, pool }
})

type Pool = Effect.Effect.Success<ReturnType<typeof KeyPoolRedis.make>>

const operations = (pool: Pool) => ({
  claim: pool.claim({ shard: 0, epoch: 1 }),
  push: pool.push(owner, batch(99)),
  lease: pool.lease(0, 3),
  giveBack: pool.giveBack(0, 7, keys("back", 3)),
  level: pool.level(0)
})

const timed = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.timed(effect), ([took, value]) => ({ value, took_ms: Duration.toMillis(took) }))

/** Every operation fails with a `StorageError`; gives what each says of having been applied. The slowest takes `limit_ms` at most. */
const expectAllToFail = (pool: Pool, limit_ms: number) =>
  Effect.gen(function* () {
    const failing = Effect.all(operations(pool), { concurrency: "unbounded", mode: "either" })
    const { took_ms, value } = yield* timed(failing)
    expect(took_ms).toBeLessThan(limit_ms)
    return Object.values(value).map((each) => {
      if (each._tag === "Right") return "answered"
      return each.left._tag === "StorageError" ? each.left.applied : each.left._tag
    })
  })

/** Waits until the pool answers; gives how long that took. */
const recovered = (pool: Pool) =>
  Effect.map(
    timed(Effect.retry(pool.level(0), Schedule.spaced("10 millis")).pipe(Effect.timeout("5 seconds"))),
    ({ took_ms }) => took_ms
  )

const all = (what: string) => [what, what, what, what, what]

describeRedisProcess("KeyPool on Redis, when the server is killed", () => {
  it.scopedLive("fails at once while it is away, and works again when it is back, empty without a log", () =>
    Effect.gen(function* () {
      const { pool, server } = yield* serverAndPool()
      yield* pool.push(owner, batch(1))
      yield* server.kill
      // It may not have heard of the end yet.
      yield* Effect.exit(pool.level(0))
      expect(yield* expectAllToFail(pool, 900)).toEqual(all("no"))
      yield* server.start
      expect(yield* recovered(pool)).toBeLessThan(4_500)
      expect(yield* pool.level(0)).toBe(0)
      expect((yield* pool.push(owner, batch(1))).level).toBe(10)
      expect(toStrings(yield* pool.lease(0, 10))).toEqual(numbered("b1-", 10))
    })
  )

  it.scopedLive("finds keys, batches and epoch again in its log", () =>
    Effect.gen(function* () {
      const { pool, server } = yield* serverAndPool(onDisk)
      yield* pool.push({ shard: 0, epoch: 4 }, batch(1))
      yield* pool.lease(0, 3)
      yield* server.kill
      yield* server.start
      yield* recovered(pool)
      expect((yield* Effect.flip(pool.claim({ shard: 0, epoch: 3 })))._tag).toBe("Fenced")
      expect((yield* pool.push({ shard: 0, epoch: 4 }, batch(1))).level).toBe(7)
      expect(toStrings(yield* pool.lease(0, 10))).toEqual(numbered("b1-", 10).slice(3))
    })
  )

  it.scopedLive("starts without it, and finds it when it comes", () =>
    Effect.gen(function* () {
      const program = yield* ownProgram
      const [port] = yield* freePorts(1)
      const urls = [parsed(`redis://127.0.0.1:${port}`)]
      const { took_ms, value: pool } = yield* timed(quietly(KeyPoolRedis.make({ urls, namespace: "test" })))
      expect(took_ms).toBeLessThan(1_000)
      const error = yield* Effect.flip(pool.lease(0, 1))
      expect(error).toMatchObject({ operation: "KeyPool.lease", applied: "no" })
      expect(error.reason).toContain("ECONNREFUSED")
      yield* Effect.orDie(makeRedisProcess({ program, port: port!, config: inMemory }))
      expect(yield* recovered(pool)).toBeLessThan(4_500)
    })
  )
})

describeRedisProcess("KeyPool on Redis, when the server hangs", () => {
  it.scopedLive("fails within some second, then at once, and works again when it goes on", () =>
    Effect.gen(function* () {
      const { pool, server } = yield* serverAndPool()
      yield* pool.push(owner, batch(1))
      yield* server.pause
      expect(yield* expectAllToFail(pool, 8_000)).toEqual(all("unknown"))
      // Nothing more is sent to a server that does not answer: it would run it later, when nobody waits for the keys.
      for (let again = 0; again < 3; again++) expect(yield* expectAllToFail(pool, 900)).toEqual(all("no"))
      yield* server.resume
      expect(yield* recovered(pool)).toBeLessThan(4_500)
      // What had been sent before was run then: 10 keys, and 10 pushed and 3 put back, and 3 leased.
      expect(yield* pool.level(0)).toBe(20)
    })
  )

  it.scopedLive("never sends a lease again whose answer was lost with the connection", () =>
    Effect.gen(function* () {
      const { pool, server, url } = yield* serverAndPool(onDisk)
      yield* pool.push(owner, batch(1))
      yield* administer(url, (redis) => redis.client("PAUSE", 60_000, "WRITE"))
      const leasing = yield* Effect.fork(Effect.flip(pool.lease(0, 4)))
      yield* administer(url, async (redis) => String(await redis.client("LIST"))).pipe(
        Effect.repeat({ until: (clients) => clients.includes("cmd=lpop ") })
      )
      yield* server.kill
      expect(yield* Fiber.join(leasing)).toMatchObject({ applied: "unknown" })
      yield* server.start
      yield* recovered(pool)
      expect(yield* pool.level(0)).toBe(10)
      expect(toStrings(yield* pool.lease(0, 4))).toEqual(numbered("b1-", 4))
    })
  )
})

/** Log lines of a scope. */
const logged = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    const lines: Array<string> = []
    const logger = Logger.make(({ message }) => lines.push(String(message)))
    return Effect.map(Effect.provide(effect, Logger.replace(Logger.defaultLogger, logger)), (value) => ({
      value,
      lines
    }))
  })

describeRedisProcess("KeyPool on Redis, when the server refuses", () => {
  const refusedBy = Effect.fn("refusedBy")(function* (port: number, rest: { user?: string; path?: string }) {
    const url = parsed(`redis://${rest.user ?? ""}127.0.0.1:${port}${rest.path ?? ""}`)
    const opened = Effect.flatMap(KeyPoolRedis.make({ urls: [url], namespace: "test" }), (pool) =>
      Effect.flip(pool.level(0))
    )
    const { lines, value: error } = yield* logged(opened)
    expect(error.applied).toBe("no")
    expect(lines.length).toBe(1)
    expect(lines[0]).toContain(`No connection to redis://127.0.0.1:${port}/`)
    return { reason: error.reason, line: lines[0]! }
  })

  it.scopedLive("says that the password is wrong, or missing, and never shows it", () =>
    Effect.gen(function* () {
      const program = yield* ownProgram
      const [port] = yield* freePorts(1)
      const config = [...inMemory, "requirepass right-one"]
      const url = `redis://:right-one@127.0.0.1:${port}`
      yield* Effect.orDie(makeRedisProcess({ program, port: port!, config, url }))
      for (const wrong of [
        yield* refusedBy(port!, { user: ":hunter2@" }),
        yield* refusedBy(port!, { user: "me:hunter2@" })
      ]) {
        expect(wrong.reason).toContain("WRONGPASS")
        expect(wrong.line).toContain("WRONGPASS")
        expect(`${wrong.reason}${wrong.line}`).not.toContain("hunter2")
      }
      expect((yield* refusedBy(port!, {})).reason).toContain("NOAUTH")
      const pool = yield* KeyPoolRedis.make({ urls: [parsed(url)], namespace: "test" })
      expect(yield* pool.level(0)).toBe(0)
    })
  )

  it.scopedLive.each(poolKinds)("needs for a %s and a witness no more rights than the README names", (kind) =>
    Effect.gen(function* () {
      const program = yield* ownProgram
      const [port] = yield* freePorts(1)
      const config = [...inMemory, "user default off", `user linkmint on >right-one ${rightsOf(kind)}`]
      const url = `redis://linkmint:right-one@127.0.0.1:${port}/1`
      yield* Effect.orDie(makeRedisProcess({ program, port: port!, config, url }))
      const urls = [parsed(url)]
      const pool = yield* KeyPoolRedis.make({ urls, namespace: "test", kind })
      yield* Effect.all(operations(pool))
      expect((yield* pool.push(owner, batch(1))).level).toBe(20)
      const witness = yield* WitnessRedis.make(urls[0]!, "test")
      const told = { timeline: 1, mark: 7, watermarks: [{ length: 7, range: 3, next: 40 }] }
      yield* witness.raise({ ...told, system: "one" })
      expect(yield* witness.read).toEqual({ ...told, system: "one" })
      for (const system of ["other", undefined]) {
        yield* witness.adopt({ system, timeline: 1 })
        expect(yield* witness.read).toEqual({ ...told, system })
      }
      yield* KeyPoolRedis.forget({ urls, namespace: "test" })
      expect(yield* pool.level(0)).toBe(0)
    })
  )

  it.scopedLive("says that the database is not there, and does not use another one", () =>
    Effect.gen(function* () {
      const { server, url } = yield* serverAndPool()
      expect((yield* refusedBy(server.port, { path: "/4711" })).reason).toContain("DB index is out of range")
      expect(yield* administer(url, (redis) => redis.dbsize())).toBe(0)
      const urls = [parsed(`redis://127.0.0.1:${server.port}/7`)]
      const pool = yield* KeyPoolRedis.make({ urls, namespace: "test" })
      yield* pool.push(owner, batch(1))
      expect(yield* administer(urls[0]!, (redis) => redis.dbsize())).toBeGreaterThan(0)
      expect(yield* administer(url, (redis) => redis.dbsize())).toBe(0)
    })
  )

  it.scopedLive("certainly did nothing on a replica, and connects anew to look for the primary", () =>
    Effect.gen(function* () {
      const { pool, url } = yield* serverAndPool()
      yield* pool.push(owner, batch(1))
      const clients = administer(url, async (redis) => String(await redis.client("LIST")))
      const ourId = /id=(\d+) [^\n]*cmd=(?:eval|evalsha) /.exec(yield* clients)![1]
      yield* administer(url, (redis) => redis.replicaof("127.0.0.1", 1))
      expect(yield* Effect.flip(pool.lease(0, 3))).toMatchObject({ applied: "no" })
      yield* recovered(pool)
      expect(yield* Effect.flip(pool.push(owner, batch(2)))).toMatchObject({ applied: "no" })
      yield* recovered(pool)
      expect(yield* clients).not.toContain(`id=${ourId} `)
      yield* administer(url, (redis) => redis.replicaof("NO", "ONE"))
      expect((yield* pool.push(owner, batch(2))).level).toBe(20)
    })
  )

  it.scopedLive("did nothing where another program's value stands under its name", () =>
    Effect.gen(function* () {
      const { pool, url } = yield* serverAndPool()
      yield* pool.push(owner, batch(1))
      yield* administer(url, (redis) => redis.set("linkmint:{test}:pool:0:batches", "mine"))
      const push = pool.push({ shard: 0, epoch: 9 }, batch(2))
      expect(yield* Effect.flip(push)).toMatchObject({ applied: "no" })
      expect(yield* pool.level(0)).toBe(10)
      expect(yield* administer(url, (redis) => redis.get("linkmint:{test}:pool:0:epoch"))).toBe("1")
    })
  )
})

describeRedisProcess("KeyPool on Redis: connections", () => {
  const connected = (url: Parameters<typeof administer>[0]) =>
    administer(url, async (redis) => String(await redis.client("LIST")).split("name=linkmint ").length - 1)

  it.scopedLive("has one for each shard, and none when its scope has closed", () =>
    Effect.gen(function* () {
      const { url } = yield* serverAndPool()
      const three = KeyPoolRedis.make({ urls: [url, url, url], namespace: "other" })
      expect(yield* Effect.scoped(Effect.zipRight(three, connected(url)))).toBe(4)
      expect(yield* connected(url)).toBe(1)
    })
  )

  it.scopedLive("speaks TLS where the URL says so", () =>
    Effect.gen(function* () {
      const heard: Array<Buffer> = []
      const server = yield* Effect.acquireRelease(
        Effect.promise(async () => {
          const listening = createServer((socket) =>
            socket.on("data", (data) => (heard.push(data), socket.destroy())).on("error", () => {})
          )
          await once(listening.listen(0, "127.0.0.1"), "listening")
          return listening
        }),
        (listening) => Effect.sync(() => listening.close())
      )
      const { port } = server.address() as { readonly port: number }
      const urls = [parsed(`rediss://127.0.0.1:${port}`)]
      const pool = yield* quietly(KeyPoolRedis.make({ urls, namespace: "test" }))
      expect((yield* Effect.flip(pool.level(0))).applied).toBe("no")
      // A handshake record of TLS, of whatever version (RFC 8446, section 5.1).
      expect(heard[0]!.subarray(0, 2)).toEqual(Buffer.from([0x16, 0x03]))
    })
  )
})
