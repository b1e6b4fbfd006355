// A PostgreSQL server for the tests: the one that TEST_DATABASE_URL names, or one started for this run alone.

import * as Reactivity from "@effect/experimental/Reactivity"
import { PgClient } from "@effect/sql-pg"
import { Clock, Effect, Redacted, type Scope } from "effect"
import { randomBytes } from "node:crypto"
import { join } from "node:path"
import type { RunAs } from "../Command.ts"
import { dockerServer } from "../DockerServer.ts"
import { type Command, keep } from "../Keeper.ts"
import { folderInMemory } from "../../MemoryFolder.ts"
import { startOnFreePort, temporaryFolder, writeSecret } from "../OwnServer.ts"
import {
  type Binaries,
  findBinaries,
  installBinaries,
  machinePaths,
  oldestMajor,
  serverUser
} from "./PostgresBinaries.ts"
import { findOrInstall } from "../Programs.ts"
import { type Availability, type Source, Unavailable, serverForTests } from "../Service.ts"

const maxConnections = 200

/** Runs statements as the superuser, on a connection of their own. What fails here is the test setup, hence a defect. */
export const administer = <A>(
  url: string,
  statements: (sql: PgClient.PgClient) => Effect.Effect<A, unknown>
): Effect.Effect<A> =>
  PgClient.make({ url: Redacted.make(url), maxConnections: 1 }).pipe(
    Effect.flatMap(statements),
    Effect.scoped,
    Effect.provide(Reactivity.layer),
    // The server runs on real time, whatever clock the test has.
    Effect.withClock(Clock.make()),
    Effect.orDie
  )

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

const urlWith = (password: string) => (port: number) =>
  `postgresql://postgres:${password}@127.0.0.1:${port}/postgres`

/**
 * A server of our own, from the programs found: in a temporary folder, in memory where there is room, on a free port of the loopback
 * interface, with durable settings as in production. Both go when the scope closes or this process ends.
 */
const privateServer = (binaries: Binaries, user: RunAs): Source => {
  const password = randomBytes(16).toString("hex")

  const start = Effect.fn("privateServer.start")(function* (port: number) {
    const folder = yield* temporaryFolder(user, folderInMemory())
    const data = join(folder, "data")
    const passwordFile = join(folder, "password")
    writeSecret(passwordFile, password, user)

    const initdb: Command = [
      join(binaries.folder, "initdb"),
      `--pgdata=${data}`,
      "--username=postgres",
      // Cheaper than SCRAM, which costs both sides some thousand hashes for each connection. The password is random, and goes with the server.
      "--auth=md5",
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
      `--max-connections=${maxConnections}`,
      // Its log takes no more of the memory than this.
      "-c",
      "max_wal_size=512MB"
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

/** A private server from the programs of this machine, which are installed where there are none. */
const localServer: Source = Effect.gen(function* () {
  // Who runs the server may change with the installation: the package brings the user `postgres`.
  const find = Effect.bindTo(serverUser, "user").pipe(
    Effect.bind("binaries", ({ user }) => findBinaries(machinePaths(), user))
  )
  const { binaries, user } = yield* findOrInstall(find, installBinaries)
  return yield* privateServer(binaries, user)
})

const container = dockerServer({
  name: "postgres",
  image: "postgres:15",
  port: 5432,
  passwordVariable: "POSTGRES_PASSWORD",
  command: ["-c", `max_connections=${maxConnections}`],
  url: urlWith,
  version: serverVersion
})

/** The PostgreSQL for a test run: see `serverForTests`. */
export const startPostgres: Effect.Effect<Availability, Unavailable, Scope.Scope> = serverForTests(
  { name: "PostgreSQL", variable: "TEST_DATABASE_URL", oldestMajor, version: serverVersion },
  [localServer, container]
)
