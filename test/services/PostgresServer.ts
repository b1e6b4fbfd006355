// A PostgreSQL server for the tests: the one that TEST_DATABASE_URL names, or one started for this run alone.

import * as Reactivity from "@effect/experimental/Reactivity"
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted, type Scope } from "effect"
import { randomBytes } from "node:crypto"
import { join } from "node:path"
import { type RunAs, run } from "./Command.ts"
import { type Command, keep } from "./Keeper.ts"
import { startOnFreePort, temporaryFolder, writeSecret } from "./OwnServer.ts"
import {
  type Binaries,
  type SearchPaths,
  findBinaries,
  installBinaries,
  machinePaths,
  oldestMajor,
  serverUser
} from "./PostgresBinaries.ts"
import { type Availability, type Running, type Source, Unavailable, firstAvailable } from "./Service.ts"

const maxConnections = 200
const dockerImage = "postgres:15"

/** Asks the server at `url` for its version, like `15.18`; at most 5 s. */
export const serverVersion = (url: string): Effect.Effect<string, Unavailable> =>
  Effect.gen(function* () {
    const sql = yield* PgClient.make({
      url: Redacted.make(url),
      maxConnections: 1,
      connectTimeout: "5 seconds"
    })
    const [row] = yield* sql<{ server_version: string }>`show server_version`
    return row?.server_version.split(" ")[0] ?? "?"
  }).pipe(
    Effect.scoped,
    Effect.provide(Reactivity.layer),
    Effect.mapError(
      ({ cause }) => new Unavailable({ reason: "the server does not answer", detail: String(cause) })
    )
  )

/** The server that somebody runs already, at `url`. */
export const givenServer = Effect.fn("givenServer")(function* (
  url: string
): Effect.fn.Return<Running, Unavailable> {
  const version = yield* serverVersion(url)
  if (Number.parseInt(version) < oldestMajor) {
    return yield* new Unavailable({ reason: `PostgreSQL ${version} is older than ${oldestMajor}` })
  }
  return { _tag: "Running", url, version, origin: "TEST_DATABASE_URL" }
})

const urlWith = (password: string) => (port: number) =>
  `postgresql://postgres:${password}@127.0.0.1:${port}/postgres`

/**
 * A server of our own, from the programs found: in a temporary folder, on a free port of the loopback interface,
 * with durable settings as in production. Both go when the scope closes or this process ends.
 */
export const privateServer = (binaries: Binaries, user: RunAs): Source => {
  const password = randomBytes(16).toString("hex")

  const start = Effect.fn("privateServer.start")(function* (port: number) {
    const folder = yield* temporaryFolder(user)
    const data = join(folder, "data")
    const passwordFile = join(folder, "password")
    writeSecret(passwordFile, password, user)

    const initdb: Command = [
      join(binaries.folder, "initdb"),
      `--pgdata=${data}`,
      "--username=postgres",
      "--auth=scram-sha-256",
      `--pwfile=${passwordFile}`,
      "--encoding=UTF8",
      "--no-locale",
      // Nothing in the folder is worth a sync yet; the server itself runs with fsync on.
      "--no-sync"
    ]
    const postgres: Command = [
      join(binaries.folder, "postgres"),
      "-D",
      data,
      "--listen-addresses=127.0.0.1",
      `--port=${port}`,
      "--unix-socket-directories=",
      `--max-connections=${maxConnections}`
    ]
    return yield* keep({
      ...user,
      // Not ours: PGDATA, PGOPTIONS and their like would lead it astray.
      env: { PATH: process.env["PATH"], LC_ALL: "C" },
      commands: [initdb, postgres],
      // The immediate shutdown: it cuts clients off and writes nothing, as all of it is thrown away.
      signal: "QUIT",
      cleanup: ["rm", "-rf", folder]
    })
  })

  return startOnFreePort({
    origin: `private server, ${binaries.folder}`,
    url: urlWith(password),
    start,
    version: serverVersion,
    limit: "60 seconds"
  })
}

/**
 * A private server from the programs of this machine. Where there are none, `install` shall add them: with the
 * package manager, unless told otherwise.
 */
export const localServer = (
  paths: SearchPaths = machinePaths(),
  install: Effect.Effect<void, Unavailable> = installBinaries()
): Source =>
  Effect.gen(function* () {
    // Who runs the server may change with the installation: the package brings the user `postgres`.
    const find = Effect.bindTo(serverUser, "user").pipe(
      Effect.bind("binaries", ({ user }) => findBinaries(paths, user))
    )
    const { binaries, user } = yield* Effect.catchAll(find, (none) =>
      install.pipe(
        Effect.mapError(({ detail, reason }) => {
          const both = `${none.reason}; ${reason}`
          return new Unavailable(detail === undefined ? { reason: both } : { reason: both, detail })
        }),
        Effect.zipRight(find)
      )
    )
    return yield* privateServer(binaries, user)
  })

/**
 * A server in a container, where a docker engine answers. The first start may have to fetch the image: at most
 * 5 minutes.
 */
export const dockerServer: Source = Effect.gen(function* () {
  yield* Effect.mapError(
    run("docker", ["version", "--format", "{{.Server.Version}}"]),
    () => new Unavailable({ reason: "no docker engine answers" })
  )
  const name = `linkmint-postgres-${randomBytes(6).toString("hex")}`
  const password = randomBytes(16).toString("hex")

  const start = (port: number) => {
    const container = ["docker", "run", "--rm", `--name=${name}`, `--publish=127.0.0.1:${port}:5432`] as const
    const server = ["--env=POSTGRES_PASSWORD", dockerImage, "-c", `max_connections=${maxConnections}`]
    return keep({
      commands: [[...container, ...server]],
      env: { ...process.env, POSTGRES_PASSWORD: password },
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
 * The PostgreSQL for a test run: `TEST_DATABASE_URL` where set (an error if it does not answer, because somebody
 * meant it), else a private server, else docker, else missing.
 */
export const startPostgres: Effect.Effect<Availability, Unavailable, Scope.Scope> = Effect.suspend(() => {
  const url = process.env["TEST_DATABASE_URL"]
  if (url === undefined || url === "") return firstAvailable("PostgreSQL", [localServer(), dockerServer])
  return Effect.mapError(
    givenServer(url),
    ({ message }) => new Unavailable({ reason: `TEST_DATABASE_URL: ${message}` })
  )
})
