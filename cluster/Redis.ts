// The cluster's Redis servers, and the Sentinels that watch over them.

import { Effect, Either, Logger, LogLevel, type Scope } from "effect"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import * as RedisClient from "../src/storage/redis/RedisClient.ts"
import * as RedisUrl from "../src/storage/redis/RedisUrl.ts"
import { serverVersion } from "../test/support/services/redis/RedisServer.ts"
import { Unavailable } from "../test/support/services/Service.ts"
import * as Folder from "./Folder.ts"
import { type Launched, launch } from "./Launch.ts"
import { inRepository } from "./Repository.ts"

/** A Redis server or a Sentinel to start. */
export interface RedisOptions {
  readonly name: string
  /** The path of `redis-server`. */
  readonly program: string
  readonly folder: string
  readonly port: number
  /**
   * Whether its configuration file, once written, is its own: under Sentinels each writes into it what role it has,
   * and must find that again.
   */
  readonly isSelfConfiguring: boolean
}

/** A primary as the Sentinels see it. */
export interface Pool {
  /** What they call it: `pool-1` and so on, in the order in which they are told. */
  readonly name: string
  readonly port: number
}

const host = "127.0.0.1"

/** Where a server at this port is. */
export const urlOf = (port: number): string => `redis://${host}:${port}`

/** What `REDIS_URLS` says of pools that Sentinels at these ports watch over. */
export const sentinelUrlOf = (ports: ReadonlyArray<number>, pool: string): string =>
  `redis+sentinel://${ports.map((port) => `${host}:${port}`).join(",")}/${pool}`

const startWith = Effect.fn("Redis.start")(function* (
  options: RedisOptions,
  script: "server" | "sentinel",
  args: ReadonlyArray<string>
): Effect.fn.Return<Launched, Unavailable, Scope.Scope> {
  const { folder, isSelfConfiguring, name, port, program } = options
  const file = join(folder, script === "server" ? "redis.conf" : "sentinel.conf")
  const isThere = isSelfConfiguring && existsSync(file)
  if (isThere && !readFileSync(file, "utf8").split("\n").includes(`port ${port}`)) {
    return yield* new Unavailable({
      reason: `The port that ${name} had is taken, and the others know it by that`
    })
  }
  return yield* launch({
    name,
    folder,
    prepare: () => {
      if (!isThere) Folder.clear(file)
    },
    commands: [["/bin/sh", inRepository(`redis/${script}.sh`), folder, String(port), ...args]],
    env: { PATH: process.env["PATH"], LC_ALL: "C", BIND: host, REDIS_SERVER: program },
    signal: "TERM",
    answers: serverVersion(urlOf(port)),
    limit: "20 seconds"
  })
})

/** Starts a server: a primary, or the replica of the one at port `replicaOf`. */
export const start = (options: RedisOptions & { readonly replicaOf?: number }) =>
  startWith(options, "server", options.replicaOf === undefined ? [] : [host, String(options.replicaOf)])

/** Starts a Sentinel for all pools. */
export const startSentinel = (options: RedisOptions, pools: ReadonlyArray<Pool>) =>
  startWith(
    options,
    "sentinel",
    pools.map(({ port }) => `${host}:${port}`)
  )

const field = (reply: unknown, name: string): string | undefined => {
  const parts = Array.isArray(reply) ? (reply as ReadonlyArray<string>) : []
  return parts[parts.indexOf(name) + 1]
}

/** Waits until a Sentinel knows a replica and both other Sentinels for each pool: before that it could not put another in a primary's place. */
export const awaitWatch = (port: number, pools: ReadonlyArray<Pool>): Effect.Effect<void, Unavailable> =>
  Effect.gen(function* () {
    const { send } = yield* RedisClient.make(Either.getOrThrow(RedisUrl.parse(urlOf(port))), {})
    const isWatching = ({ name }: Pool) =>
      Effect.map(
        send("SENTINEL MASTER", (redis) => redis.call("SENTINEL", "MASTER", name)),
        (reply) => field(reply, "num-slaves") === "1" && field(reply, "num-other-sentinels") === "2"
      )
    yield* Effect.every(pools, isWatching).pipe(
      Effect.orElseSucceed(() => false),
      Effect.tap((all) => (all ? Effect.void : Effect.sleep("100 millis"))),
      Effect.repeat({ until: (all) => all })
    )
  }).pipe(
    Effect.scoped,
    Logger.withMinimumLogLevel(LogLevel.None),
    Effect.timeoutFail({
      duration: "30 seconds",
      onTimeout: () => new Unavailable({ reason: "The Sentinels did not find each other and the replicas" })
    })
  )
