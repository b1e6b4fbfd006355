// A Redis server for the tests: the one that TEST_REDIS_URL names, or one started for this run alone.

import { Effect, Either, Logger, LogLevel, type Scope } from "effect"
import { randomBytes } from "node:crypto"
import { delimiter, join } from "node:path"
import * as RedisClient from "../../../../src/storage/redis/RedisClient.ts"
import * as RedisUrl from "../../../../src/storage/redis/RedisUrl.ts"
import { installServer } from "../Apt.ts"
import { dockerServer } from "../DockerServer.ts"
import { keep } from "../Keeper.ts"
import { startOnFreePort, temporaryFolder, writeSecret } from "../OwnServer.ts"
import { findOrInstall, firstFit, inFolders } from "../Programs.ts"
import { type Availability, type Source, Unavailable, serverForTests } from "../Service.ts"

/** The oldest major version that Linkmint supports. */
const oldestMajor = 7

/** Asks the server at `url` for its version, like `7.0.15`; at most some 3 s. */
export const serverVersion = (url: string): Effect.Effect<string, Unavailable> =>
  Effect.gen(function* () {
    const parsed = yield* Either.mapLeft(
      RedisUrl.parse(url),
      (fault) => new Unavailable({ reason: `the URL ${fault}` })
    )
    const { send } = yield* RedisClient.make(parsed, {})
    const info = yield* Effect.mapError(
      send("INFO", (redis) => redis.info("server")),
      ({ reason }) => new Unavailable({ reason: "the server does not answer", detail: reason })
    )
    return /^redis_version:(\S+)/m.exec(info)?.[1] ?? "?"
  }).pipe(Effect.scoped, Logger.withMinimumLogLevel(LogLevel.None))

/** The first `redis-server` of version 7 or newer in a list of folders as in `PATH`. The error says what was found instead. */
export const findProgram = Effect.fn("findProgram")(function* (
  path: string = process.env["PATH"] ?? ""
): Effect.fn.Return<string, Unavailable> {
  const wanted = {
    product: "Redis",
    versionArgument: "--version",
    version: /\bv=(\d[\w.]*)/,
    isOld: (version: string) => Number.parseInt(version) < oldestMajor,
    none: `no redis-server ${oldestMajor} or newer in PATH`
  }
  return (yield* firstFit(wanted, inFolders("redis-server", path.split(delimiter)))).program
})

/** Installs the distribution's `redis-server` package: see `installServer`. */
export const installProgram: Effect.Effect<void, Unavailable> = installServer({
  name: "Redis",
  package: "redis-server",
  oldestMajor
})

const urlWith = (password: string) => (port: number) => `redis://:${password}@127.0.0.1:${port}/0`

/**
 * A server of our own: in a temporary folder, on a free port of the loopback interface, in memory alone. It goes when the scope
 * closes or this process ends.
 */
const privateServer = (program: string): Source => {
  const password = randomBytes(16).toString("hex")
  const start = Effect.fn("privateServer.start")(function* (port: number) {
    const folder = yield* temporaryFolder({})
    const file = join(folder, "redis.conf")
    const config = [`port ${port}`, "bind 127.0.0.1", `dir ${folder}`, `requirepass ${password}`, 'save ""']
    writeSecret(file, config.join("\n"), {})
    return yield* keep({ commands: [[program, file]], signal: "KILL", cleanup: ["rm", "-rf", folder] })
  })
  return startOnFreePort({
    origin: `private server, ${program}`,
    url: urlWith(password),
    start,
    version: serverVersion,
    limit: "20 seconds"
  })
}

/** A private server from the program of this machine. Where there is none, `install` shall add it. */
export const localServer = (
  path: string = process.env["PATH"] ?? "",
  install: Effect.Effect<void, Unavailable> = installProgram
): Source => Effect.flatMap(findOrInstall(findProgram(path), install), privateServer)

const container = dockerServer({
  name: "redis",
  image: "redis:7",
  port: 6379,
  passwordVariable: "PASSWORD",
  command: ["sh", "-c", 'exec redis-server --requirepass "$PASSWORD"'],
  url: urlWith,
  version: serverVersion
})

/** The Redis for a test run: see `serverForTests`. */
export const startRedis: Effect.Effect<Availability, Unavailable, Scope.Scope> = serverForTests(
  { name: "Redis", variable: "TEST_REDIS_URL", oldestMajor, version: serverVersion },
  [localServer(), container]
)
