// A Redis server for the tests: the one that TEST_REDIS_URL names, or one started for this run alone.

import { Effect, Either, Logger, LogLevel, type Scope } from "effect"
import { randomBytes } from "node:crypto"
import { accessSync, constants, existsSync, rmSync, writeFileSync } from "node:fs"
import { delimiter, join } from "node:path"
import * as RedisClient from "../../src/storage/RedisClient.ts"
import * as RedisUrl from "../../src/storage/RedisUrl.ts"
import { run } from "./Command.ts"
import { keep } from "./Keeper.ts"
import { startOnFreePort, temporaryFolder, writeSecret } from "./OwnServer.ts"
import { type Availability, type Running, type Source, Unavailable, firstAvailable } from "./Service.ts"

/** The oldest major version that Linkmint supports. */
export const oldestMajor = 7

const dockerImage = "redis:7"

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

/** The server that somebody runs already, at `url`. */
export const givenServer = Effect.fn("givenServer")(function* (
  url: string
): Effect.fn.Return<Running, Unavailable> {
  const version = yield* serverVersion(url)
  if (Number.parseInt(version) < oldestMajor) {
    return yield* new Unavailable({ reason: `Redis ${version} is older than ${oldestMajor}` })
  }
  return { _tag: "Running", url, version, origin: "TEST_REDIS_URL" }
})

const isExecutable = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** The first `redis-server` of version 7 or newer in a list of folders as in `PATH`. The error says what was found instead. */
export const findProgram = Effect.fn("findProgram")(function* (
  path: string = process.env["PATH"] ?? ""
): Effect.fn.Return<string, Unavailable> {
  const programs = path
    .split(delimiter)
    .filter((folder) => folder.startsWith("/"))
    .map((folder) => join(folder, "redis-server"))
  const unfit: Array<string> = []
  for (const program of new Set(programs.filter(isExecutable))) {
    const answer = yield* Effect.either(run(program, ["--version"]))
    const version = answer._tag === "Right" ? /\bv=(\d[\w.]*)/.exec(answer.right)?.[1] : undefined
    if (version === undefined) unfit.push(`${program} does not run`)
    else if (Number.parseInt(version) < oldestMajor) unfit.push(`${program} is Redis ${version}`)
    else return program
  }
  const place = `no redis-server ${oldestMajor} or newer in PATH`
  return yield* new Unavailable({ reason: unfit.length === 0 ? place : `${place} (${unfit.join(", ")})` })
})

// Packages ask it whether they may start their services.
const policy = "/usr/sbin/policy-rc.d"

const aptGet = (...args: ReadonlyArray<string>) =>
  run("apt-get", ["-o", "DPkg::Lock::Timeout=60", "-y", ...args], {
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive", LC_ALL: "C" },
    timeout: "10 minutes"
  })

const offeredMajor = Effect.map(
  run("apt-cache", ["policy", "redis-server"], { env: { ...process.env, LC_ALL: "C" } }),
  (offer) => Number.parseInt(/Candidate: (?:\d+:)?(\d+)/.exec(offer)?.[1] ?? "0")
)

/**
 * Installs the distribution's `redis-server` package, on Debian and Ubuntu and as root only, within 10 minutes a step. Its service
 * is neither started nor left to start at the next boot.
 */
export const installProgram = Effect.fn("installProgram")(function* (): Effect.fn.Return<void, Unavailable> {
  if (!existsSync("/etc/debian_version"))
    return yield* new Unavailable({ reason: "not Debian or Ubuntu, so not installed" })
  if (process.getuid?.() !== 0) return yield* new Unavailable({ reason: "not root, so not installed" })
  process.stderr.write("Redis is not here: installing it with `apt-get install -y redis-server`\n")

  if ((yield* offeredMajor) === 0) yield* aptGet("update")
  const major = yield* offeredMajor
  if (major < oldestMajor) {
    const offer = major === 0 ? "no `redis-server`" : `Redis ${major}`
    return yield* new Unavailable({ reason: `apt offers ${offer}, so not installed` })
  }

  const install = aptGet("install", "--no-install-recommends", "redis-server")
  // Somebody's own policy stays; then the service is stopped below.
  const hasPolicy = existsSync(policy)
  yield* Effect.acquireUseRelease(
    Effect.sync(() => {
      if (!hasPolicy) writeFileSync(policy, "#!/bin/sh\nexit 101\n", { mode: 0o755 })
    }),
    // Package lists that have aged name files that the mirror no longer has: one fresh try.
    () => Effect.catchAll(install, () => Effect.zipRight(aptGet("update"), install)),
    () =>
      Effect.sync(() => {
        if (!hasPolicy) rmSync(policy, { force: true })
      })
  )
  if (existsSync("/run/systemd/system")) {
    yield* Effect.ignore(run("systemctl", ["disable", "--now", "redis-server"]))
  }
})

const urlWith = (password: string) => (port: number) => `redis://:${password}@127.0.0.1:${port}/0`

/**
 * A server of our own: in a temporary folder, on a free port of the loopback interface, in memory alone. It goes when the scope
 * closes or this process ends.
 */
export const privateServer = (program: string): Source => {
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
  install: Effect.Effect<void, Unavailable> = installProgram()
): Source =>
  findProgram(path).pipe(
    Effect.catchAll((none) =>
      install.pipe(
        Effect.mapError(({ detail, reason }) => {
          const both = `${none.reason}; ${reason}`
          return new Unavailable(detail === undefined ? { reason: both } : { reason: both, detail })
        }),
        Effect.zipRight(findProgram(path))
      )
    ),
    Effect.flatMap(privateServer)
  )

/** A server in a container, where a docker engine answers. The first start may have to fetch the image: at most 5 minutes. */
export const dockerServer: Source = Effect.gen(function* () {
  yield* Effect.mapError(
    run("docker", ["version", "--format", "{{.Server.Version}}"]),
    () => new Unavailable({ reason: "no docker engine answers" })
  )
  const name = `linkmint-redis-${randomBytes(6).toString("hex")}`
  const password = randomBytes(16).toString("hex")
  const start = (port: number) => {
    const container = ["docker", "run", "--rm", `--name=${name}`, `--publish=127.0.0.1:${port}:6379`] as const
    return keep({
      // The shell in the container reads the password: a command line can be seen by all.
      commands: [
        [
          ...container,
          "--env=PASSWORD",
          dockerImage,
          "sh",
          "-c",
          'exec redis-server --requirepass "$PASSWORD"'
        ]
      ],
      env: { ...process.env, PASSWORD: password },
      // The container stays when its client is killed: it is the cleanup that ends it.
      signal: "KILL",
      cleanup: ["docker", "rm", "--force", "--volumes", name]
    })
  }
  return yield* startOnFreePort({
    origin: `docker, ${dockerImage}`,
    url: urlWith(password),
    start,
    version: serverVersion,
    limit: "5 minutes"
  })
})

/**
 * The Redis for a test run: `TEST_REDIS_URL` where set (an error if it does not answer, because somebody meant it), else
 * a private server, else docker, else missing.
 */
export const startRedis: Effect.Effect<Availability, Unavailable, Scope.Scope> = Effect.suspend(() => {
  const url = process.env["TEST_REDIS_URL"]
  if (url === undefined || url === "") return firstAvailable("Redis", [localServer(), dockerServer])
  return Effect.mapError(
    givenServer(url),
    ({ message }) => new Unavailable({ reason: `TEST_REDIS_URL: ${message}` })
  )
})
