// The cluster's PostgreSQL.

import { Effect, type Scope } from "effect"
import { existsSync } from "node:fs"
import { join } from "node:path"
import type { Command } from "../test/support/services/Keeper.ts"
import { writeSecret } from "../test/support/services/OwnServer.ts"
import type { Binaries } from "../test/support/services/postgres/PostgresBinaries.ts"
import { serverVersion } from "../test/support/services/postgres/PostgresServer.ts"
import type { RunAs } from "../test/support/services/Command.ts"
import type { Unavailable } from "../test/support/services/Service.ts"
import * as Folder from "./Folder.ts"
import { type Launched, launch } from "./Launch.ts"

/** Where and how to run it. */
export interface PostgresOptions {
  readonly binaries: Binaries
  readonly user: RunAs
  readonly folder: string
  /** Whether the data is to outlive the cluster. */
  readonly keepData: boolean
  readonly port: number
  readonly password: string
  /** Nodes that will connect. */
  readonly nodes: number
  /** Where there are several servers: what people call this one. */
  readonly name?: string
  /** Settings of `postgresql.conf`, by name. */
  readonly settings?: Readonly<Record<string, string>>
}

/** A node's connections at most, with room for its successor while it stops. */
const connectionsPerNode = 60

/** The connections that a server for so many nodes takes. */
export const connectionsFor = (nodes: number): number => 20 + nodes * connectionsPerNode

/** The URL of the database. */
export const urlOf = ({ password, port }: Pick<PostgresOptions, "password" | "port">): string =>
  `postgresql://postgres:${password}@127.0.0.1:${port}/postgres`

/** Makes the data folder where there is none. It gets its name when it is whole, so that a start that was killed does no harm. */
const makeData = (binaries: Binaries, data: string, passwordFile: string): ReadonlyArray<Command> => [
  [
    join(binaries.folder, "initdb"),
    `--pgdata=${data}.new`,
    "--username=postgres",
    "--auth=scram-sha-256",
    `--pwfile=${passwordFile}`,
    "--encoding=UTF8",
    "--no-locale"
  ],
  ["mv", `${data}.new`, data]
]

/** Starts it, with durable settings, at the loopback address. */
export const start = Effect.fn("Postgres.start")(function* (
  options: PostgresOptions
): Effect.fn.Return<Launched, Unavailable, Scope.Scope> {
  const {
    binaries,
    folder,
    keepData,
    name = "postgres",
    nodes,
    password,
    port,
    settings = {},
    user
  } = options
  const data = join(folder, "data")
  const passwordFile = join(folder, "password")
  const isNew = !existsSync(data)
  if (isNew) Folder.clear(`${data}.new`)
  const server: Command = [
    join(binaries.folder, "postgres"),
    "-D",
    data,
    "--listen-addresses=127.0.0.1",
    `--port=${port}`,
    "--unix-socket-directories=",
    `--max-connections=${connectionsFor(nodes)}`,
    ...Object.entries(settings).flatMap(([setting, value]) => ["-c", `${setting}=${value}`])
  ]
  return yield* launch({
    name,
    folder,
    user,
    prepare: () => {
      if (isNew) writeSecret(passwordFile, password, user)
    },
    // Not ours: PGDATA, PGOPTIONS and their like would lead it astray.
    env: { PATH: process.env["PATH"], LC_ALL: "C" },
    commands: [...(isNew ? makeData(binaries, data, passwordFile) : []), server],
    // Both cut clients off. The fast shutdown writes everything first; without, it would be written at the next start.
    signal: keepData ? "INT" : "QUIT",
    answers: serverVersion(urlOf(options)),
    limit: "60 seconds"
  })
})
