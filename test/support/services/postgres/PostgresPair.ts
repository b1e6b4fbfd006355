// A PostgreSQL primary and its standby, of which one can be killed and the other promoted.

import { PgClient } from "@effect/sql-pg"
import * as Reactivity from "@effect/experimental/Reactivity"
import { Clock, type Duration, Effect, Exit, Redacted, Schedule, Scope } from "effect"
import { randomBytes } from "node:crypto"
import { join } from "node:path"
import { inject } from "vitest"
import { freePort } from "../../FreePort.ts"
import { folderInMemory } from "../../MemoryFolder.ts"
import { exercised } from "../Exercised.ts"
import { type Command, keep } from "../Keeper.ts"
import { temporaryFolder, writeSecret } from "../OwnServer.ts"
import { findBinaries, machinePaths, serverUser } from "./PostgresBinaries.ts"

/** One of the two servers. */
export interface Member {
  readonly port: number
  readonly url: string
  /** Runs one statement as the superuser. */
  readonly run: (statement: string) => Effect.Effect<ReadonlyArray<Record<string, unknown>>>
  /** Ends it at once, without a word to anybody: what was committed is on its disk. */
  readonly kill: Effect.Effect<void>
  /** Starts it again, on the data that it had. */
  readonly restart: Effect.Effect<void>
}

/** The pair. At first `primary` is the primary, and `standby` follows it. */
export interface PostgresPair {
  readonly primary: Member
  readonly standby: Member
  /** Makes the standby a primary, on a timeline of its own. */
  readonly promote: Effect.Effect<void>
}

/** Runs one statement on a connection of its own, which is to be there within 2 s unless it is said otherwise. */
export const administer = (
  url: string,
  statement: string,
  connectTimeout: Duration.DurationInput = "2 seconds"
) =>
  PgClient.make({ url: Redacted.make(url), maxConnections: 1, connectTimeout }).pipe(
    Effect.flatMap((sql) => sql.unsafe<Record<string, unknown>>(statement)),
    Effect.scoped,
    Effect.provide(Reactivity.layer),
    Effect.withClock(Clock.make())
  )

/** What starts a server that goes with the scope. `prepare` is the command that makes its data, with PostgreSQL's folder of programs. */
const members = Effect.gen(function* () {
  const user = yield* serverUser
  const { folder } = yield* findBinaries(machinePaths(), user)
  const scope = yield* Effect.scope
  const password = randomBytes(16).toString("hex")
  const env = { PATH: process.env["PATH"], LC_ALL: "C" }

  const member = (prepare: (folder: string, data: string, passwordFile: string) => Command) =>
    Effect.gen(function* () {
      const home = yield* temporaryFolder(user, folderInMemory())
      const data = join(home, "data")
      const passwordFile = join(home, "password")
      writeSecret(passwordFile, password, user)
      const port = yield* freePort
      const url = `postgresql://postgres:${password}@127.0.0.1:${port}/postgres`
      const postgres: Command = [
        join(folder, "postgres"),
        "-D",
        data,
        "--listen-addresses=127.0.0.1",
        `--port=${port}`,
        "--unix-socket-directories="
      ]
      let running: Scope.CloseableScope | undefined
      const run = (statement: string) => Effect.orDie(administer(url, statement, "20 seconds"))
      const start = (commands: ReadonlyArray<Command>) =>
        Effect.gen(function* () {
          running = yield* Scope.fork(scope, scope.strategy)
          yield* keep({ ...user, env, commands, signal: "QUIT", cleanup: ["true"] }).pipe(
            Scope.extend(running),
            Effect.orDie
          )
          yield* administer(url, "SELECT 1").pipe(
            Effect.retry(Schedule.spaced("100 millis")),
            Effect.timeout("60 seconds"),
            Effect.orDie
          )
        })
      yield* start([prepare(folder, data, passwordFile), postgres])
      return {
        port,
        url,
        run,
        kill: Effect.suspend(() => Scope.close(running!, Exit.void)),
        restart: start([postgres])
      } satisfies Member
    })
  return member
})

const note = (primary: Member, what: string) =>
  Effect.map(primary.run("SHOW server_version"), ([row]) =>
    exercised("PostgreSQL", `${String(row!["server_version"]).split(" ")[0]} (${what})`)
  )

/** The command that makes the data of a server, with PostgreSQL's folder of programs and the file of its password. */
export const initdb = (folder: string, data: string, passwordFile: string): Command => [
  join(folder, "initdb"),
  `--pgdata=${data}`,
  "--username=postgres",
  "--auth=scram-sha-256",
  `--pwfile=${passwordFile}`,
  "--encoding=UTF8",
  "--no-locale",
  "--no-sync"
]

/** Starts a server that can be killed, without a standby; it goes when the scope closes. */
export const killablePostgres: Effect.Effect<Member, never, Scope.Scope> = Effect.gen(function* () {
  const primary = yield* (yield* members)(initdb)
  yield* note(primary, "a server that is killed")
  return primary
}).pipe(Effect.orDie)

/** Starts both, asynchronous; they go when the scope closes. */
export const postgresPair: Effect.Effect<PostgresPair, never, Scope.Scope> = Effect.gen(function* () {
  const member = yield* members
  const primary = yield* member(initdb)
  const standby = yield* member((folder, data) => [
    join(folder, "pg_basebackup"),
    "-D",
    data,
    "-d",
    primary.url,
    "-R",
    "-X",
    "stream",
    "-c",
    "fast",
    "--no-sync"
  ])
  yield* note(primary, "a primary and its standby")
  return {
    primary,
    standby,
    promote: Effect.asVoid(standby.run("SELECT pg_promote()"))
  }
}).pipe(Effect.orDie)

const server = inject("postgres")

/** Whether this run has PostgreSQL's own programs at hand: a server that was named by its URL, or runs in a container, comes without them. */
export const hasPrograms = server._tag === "Running" && server.origin.startsWith("private server")
