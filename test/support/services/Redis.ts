// Redis as tests see it.

import { Clock, Effect, Either, Logger, LogLevel, type Scope } from "effect"
import type { Redis } from "ioredis"
import { randomUUID } from "node:crypto"
import { describe, inject } from "vitest"
import type { Options } from "../../../src/storage/keys/KeyPoolRedis.ts"
import * as RedisClient from "../../../src/storage/redis/RedisClient.ts"
import * as RedisUrl from "../../../src/storage/redis/RedisUrl.ts"
import { exercised } from "./Exercised.ts"

const server = inject("redis")
const program = inject("redisProgram")

/** A suite that needs Redis. Where there is none it is skipped, and says so in its title. */
export const describeRedis = (title: string, body: () => void): void => {
  if (server._tag === "Running") describe(title, body)
  else describe.skip(`${title} (skipped: Redis is missing)`, body)
}

/** A suite that starts and kills Redis servers of its own. Where their program is missing it is skipped, and says so. */
export const describeRedisProcess = (title: string, body: () => void): void => {
  if (program !== null) describe(title, body)
  else describe.skip(`${title} (skipped: redis-server is missing)`, body)
}

/** Understands a URL of a server that the tests started. */
export const parsed = (url: string): RedisUrl.RedisUrl =>
  Either.getOrThrowWith(RedisUrl.parse(url), (fault) => new Error(`the URL ${fault}`))

/** Runs commands on a connection of their own. What fails here is the test setup, hence a defect. */
export const administer = <A>(
  url: RedisUrl.RedisUrl,
  commands: (redis: Redis) => Promise<A>
): Effect.Effect<A> =>
  RedisClient.make(url, {}).pipe(
    Effect.flatMap(({ send }) => send("administer", commands)),
    Effect.scoped,
    Logger.withMinimumLogLevel(LogLevel.None),
    // The server runs on real time, whatever clock the test has.
    Effect.withClock(Clock.make()),
    Effect.orDie
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
