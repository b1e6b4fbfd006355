// Redis as tests see it.

import { Effect, Either, Redacted, type Scope } from "effect"
import { Redis } from "ioredis"
import { randomUUID } from "node:crypto"
import { describe, inject } from "vitest"
import type { Options } from "../../../../src/storage/keys/KeyPoolRedis.ts"
import * as RedisUrl from "../../../../src/storage/redis/RedisUrl.ts"
import { freePorts } from "../../FreePort.ts"
import { exercised } from "../Exercised.ts"
import { makeRedisProcess } from "./RedisProcess.ts"

const server = inject("redis")
const program = inject("redisProgram")

/** A suite that needs Redis. Where there is none it is skipped, and says so in its title. */
export const describeRedis = (title: string, body: () => void): void => {
  if (server._tag === "Running") describe(title, body)
  else describe.skip(`${title} (skipped: Redis is missing)`, body)
}

/** A suite that starts and kills Redis servers of its own. Where their program is missing it is skipped, and says so. */
export const describeRedisProcess = (
  title: string,
  body: () => void,
  options: { readonly concurrent?: boolean } = {}
): void => {
  if (program !== null) describe(title, options, body)
  else describe.skip(`${title} (skipped: redis-server is missing)`, body)
}

/** Understands a URL of a server that the tests started. */
export const parsed = (url: string): RedisUrl.RedisUrl =>
  Either.getOrThrowWith(RedisUrl.parse(url), (fault) => new Error(`the URL ${fault}`))

/** Generous, for a busy machine. */
const wait_ms = 20_000

const connected = async (url: RedisUrl.RedisUrl): Promise<Redis> => {
  if (url._tag !== "Server") throw new Error("only servers are administered")
  const { address, credentials, database } = url
  const redis = new Redis({
    ...address,
    ...(credentials !== null && {
      password: Redacted.value(credentials.password),
      ...(credentials.username !== null && { username: credentials.username })
    }),
    db: database,
    lazyConnect: true,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
    connectTimeout: wait_ms,
    commandTimeout: wait_ms,
    disableClientInfo: true
  })
  // What goes wrong fails the commands.
  redis.on("error", () => {})
  await redis.connect()
  return redis
}

/** Runs commands on a connection of their own. What fails here is the test setup, hence a defect. */
export const administer = <A>(
  url: RedisUrl.RedisUrl,
  commands: (redis: Redis) => Promise<A>
): Effect.Effect<A> =>
  Effect.acquireUseRelease(
    Effect.promise(() => connected(url)),
    (redis) => Effect.promise(() => commands(redis)),
    (redis) => Effect.sync(() => redis.disconnect())
  )

const keysOf = async (redis: Redis, namespace: string): Promise<Array<string>> => {
  const found: Array<string> = []
  for await (const keys of redis.scanStream({ match: `linkmint:{${namespace}}:*`, count: 1_000 })) {
    found.push(...(keys as Array<string>))
  }
  return found
}

/** The names of a namespace's keys on a server. */
export const keyNames = (url: RedisUrl.RedisUrl, namespace: string): Effect.Effect<Array<string>> =>
  administer(url, (redis) => keysOf(redis, namespace))

/**
 * A namespace of its own for the caller on the run's server, for `shards` pool shards; its keys are deleted when the scope
 * closes.
 */
export const freshRedis = (shards = 1): Effect.Effect<Options, never, Scope.Scope> =>
  Effect.gen(function* () {
    if (server._tag === "Missing") return yield* Effect.dieMessage(`Redis is missing: ${server.reason}`)
    exercised("Redis", `${server.version} (${server.origin})`)
    const url = parsed(server.url)
    const namespace = `test-${randomUUID()}`
    yield* Effect.addFinalizer(() =>
      administer(url, async (redis) => {
        const keys = await keysOf(redis, namespace)
        if (keys.length > 0) await redis.del(keys)
      })
    )
    return { urls: Array.from({ length: shards }, () => url), namespace }
  })

/** The URL of the run's server. */
export const serverUrl: Effect.Effect<string> = Effect.suspend(() =>
  server._tag === "Missing"
    ? Effect.dieMessage(`Redis is missing: ${server.reason}`)
    : Effect.succeed(server.url)
)

/** The program for servers of the caller's own. */
export const ownProgram: Effect.Effect<string> = Effect.suspend(() =>
  program === null ? Effect.dieMessage("redis-server is missing") : Effect.succeed(program)
)

/** The configuration of a Redis that keeps nothing on its disk. */
export const inMemory: ReadonlyArray<string> = ['save ""', "appendonly no"]

/** A Redis server of the caller's own on a free port, and its URL. */
export const ownRedis = Effect.fn("ownRedis")(function* (config: ReadonlyArray<string> = inMemory) {
  const program = yield* ownProgram
  const [port] = yield* freePorts(1)
  const server = yield* Effect.orDie(makeRedisProcess({ program, port: port!, config }))
  return { server, url: parsed(`redis://127.0.0.1:${server.port}`) }
})
