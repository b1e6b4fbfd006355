// A PgBouncer in front of a database.

import { Effect, Schedule, type Scope } from "effect"
import { delimiter, join } from "node:path"
import { connect } from "node:net"
import { freePort } from "../../FreePort.ts"
import { keep } from "../Keeper.ts"
import { temporaryFolder, writeSecret } from "../OwnServer.ts"
import { serverUser } from "./PostgresBinaries.ts"
import { inFolders } from "../Programs.ts"

/** PgBouncer's program on this machine, if it is there. */
export const pgBouncer: string | undefined = inFolders("pgbouncer", [
  ...(process.env["PATH"] ?? "").split(delimiter),
  "/usr/sbin"
])[0]?.program

/** Whether somebody listens at a port. */
const listens = (port: number) =>
  Effect.async<boolean>((resume) => {
    const socket = connect(port, "127.0.0.1")
    socket.once("connect", () => resume(Effect.succeed(true)))
    socket.once("error", () => resume(Effect.succeed(false)))
    return Effect.sync(() => socket.destroy())
  })

/** Starts it, with its own defaults, and gives the URL of the database by way of it. */
export const pooled = (program: string, url: string, mode: "session" | "transaction") =>
  Effect.gen(function* () {
    const user = yield* serverUser
    const folder = yield* temporaryFolder(user)
    const port = yield* freePort
    const { hostname, password, pathname, port: server, username } = new URL(url)
    const database = pathname.slice(1)
    writeSecret(join(folder, "users"), `"${username}" "${decodeURIComponent(password)}"\n`, user)
    const settings = [
      "[databases]",
      `${database} = host=${hostname} port=${server} dbname=${database}`,
      "[pgbouncer]",
      "listen_addr = 127.0.0.1",
      `listen_port = ${port}`,
      "unix_socket_dir =",
      "auth_type = scram-sha-256",
      `auth_file = ${join(folder, "users")}`,
      `pool_mode = ${mode}`
    ]
    const file = join(folder, "pgbouncer.ini")
    writeSecret(file, `${settings.join("\n")}\n`, user)
    yield* keep({ ...user, commands: [[program, file]], signal: "TERM", cleanup: ["true"] })
    yield* Effect.repeat(listens(port), { schedule: Schedule.spaced("50 millis"), until: (is) => is })
    const way = new URL(url)
    way.hostname = "127.0.0.1"
    way.port = String(port)
    return way.href
  }).pipe(Effect.orDie) satisfies Effect.Effect<string, never, Scope.Scope>
