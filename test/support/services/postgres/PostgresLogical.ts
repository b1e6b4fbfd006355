// PostgreSQL servers whose databases can be copied by logical replication.

import { Effect, Exit, Schedule, Scope } from "effect"
import { randomBytes } from "node:crypto"
import { join } from "node:path"
import { afterAll, beforeAll } from "vitest"
import * as Migrations from "../../../../src/storage/sql/Migrations.ts"
import { freePort } from "../../FreePort.ts"
import { folderInMemory } from "../../MemoryFolder.ts"
import { postgresAt } from "../../Stores.ts"
import { exercised } from "../Exercised.ts"
import { keep } from "../Keeper.ts"
import { temporaryFolder, writeSecret } from "../OwnServer.ts"
import { findBinaries, machinePaths, serverUser } from "./PostgresBinaries.ts"
import * as PostgresPair from "./PostgresPair.ts"

/** A server with `wal_level = logical`. */
export interface LogicalServer {
  /** Makes a database with the tables of the newest version: gives its URL. */
  readonly database: Effect.Effect<string>
}

const administer = (url: string, statement: string) => PostgresPair.administer(url, statement, "5 seconds")

/** Enough for the moves of some tests at once. Processes that end without having come to the end of their work are started again soon. */
const settings = {
  wal_level: "logical",
  wal_retrieve_retry_interval: "100ms",
  max_connections: 300,
  max_worker_processes: 64,
  max_logical_replication_workers: 56,
  max_sync_workers_per_subscription: 4,
  max_wal_senders: 64,
  max_replication_slots: 64
}

/** Starts a server, which goes with the scope. */
export const logicalServer: Effect.Effect<LogicalServer, never, Scope.Scope> = Effect.gen(function* () {
  const user = yield* serverUser
  const { folder } = yield* findBinaries(machinePaths(), user)
  const password = randomBytes(16).toString("hex")
  const home = yield* temporaryFolder(user, folderInMemory())
  const passwordFile = join(home, "password")
  writeSecret(passwordFile, password, user)
  const data = join(home, "data")
  const port = yield* freePort
  const urlOf = (name: string) => `postgresql://postgres:${password}@127.0.0.1:${port}/${name}`
  yield* keep({
    ...user,
    env: { PATH: process.env["PATH"], LC_ALL: "C" },
    commands: [
      PostgresPair.initdb(folder, data, passwordFile),
      [
        join(folder, "postgres"),
        "-D",
        data,
        "--listen-addresses=127.0.0.1",
        `--port=${port}`,
        "--unix-socket-directories=",
        ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])
      ]
    ],
    signal: "QUIT",
    cleanup: ["rm", "-rf", home]
  })
  const [row] = yield* administer(urlOf("postgres"), "SHOW server_version").pipe(
    Effect.retry(Schedule.spaced("100 millis")),
    Effect.timeout("60 seconds")
  )
  exercised("PostgreSQL", `${String(row!["server_version"]).split(" ")[0]} (wal_level = logical)`)
  const run = (statement: string) => Effect.orDie(administer(urlOf("postgres"), statement))
  let made = 0
  const template = yield* Effect.cached(
    Effect.zipRight(
      run("CREATE DATABASE template_of_links"),
      Effect.scoped(
        Migrations.migrate.pipe(Effect.provide(postgresAt(urlOf("template_of_links"))), Effect.orDie)
      )
    )
  )
  const alone = yield* Effect.makeSemaphore(1)
  return {
    database: alone.withPermits(1)(
      Effect.suspend(() => {
        const name = `links_${made++}`
        return Effect.as(
          Effect.zipRight(template, run(`CREATE DATABASE ${name} TEMPLATE template_of_links`)),
          urlOf(name)
        )
      })
    )
  }
}).pipe(Effect.orDie)

/** Such a server for all tests of the suite around it. */
export const sharedLogicalServer = (): Effect.Effect<LogicalServer> => {
  const scope = Effect.runSync(Scope.make())
  let server: LogicalServer
  beforeAll(async () => {
    server = await Effect.runPromise(Scope.extend(logicalServer, scope))
  }, 120_000)
  afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))
  return Effect.sync(() => server)
}
