// The cluster's nodes: the program itself.

import { Duration, Effect, type Scope } from "effect"
import { randomBytes } from "node:crypto"
import { adminEmail } from "../src/accounts/Administrator.ts"
import { run } from "../test/support/services/Command.ts"
import type { Command } from "../test/support/services/Keeper.ts"
import type { Unavailable } from "../test/support/services/Service.ts"
import { type Launched, launch } from "./Launch.ts"
import { inRepository } from "./Repository.ts"

/** A node to start. */
export interface NodeOptions {
  readonly name: string
  readonly folder: string
  readonly role: "all" | "http"
  /** Where it serves HTTP, and where the other nodes reach it, at the loopback address. */
  readonly port: number
  readonly runnerPort: number
  /** What runs instead of this build. */
  readonly command?: Command
  /** The settings that all nodes share. */
  readonly shared: NodeJS.ProcessEnv
}

/** The program, as `npm run build` leaves it and `npm start` runs it. */
const program: Command = [process.execPath, "--max-semi-space-size=32", inRepository("dist/main.js")]

/** For how long a node may serve, answer and write on when it is to stop. */
const stopMax = Duration.seconds(12)

const get = (port: number, path: string) =>
  Effect.tryPromise(() => fetch(`http://127.0.0.1:${port}${path}`, { signal: AbortSignal.timeout(3_000) }))

/** Starts a node, and waits until it is ready. */
export const start = (options: NodeOptions): Effect.Effect<Launched, Unavailable, Scope.Scope> =>
  launch({
    name: options.name,
    folder: options.folder,
    commands: [options.command ?? program],
    env: {
      ...process.env,
      ...options.shared,
      HOST: "127.0.0.1",
      PORT: String(options.port),
      RUNNER_HOST: "127.0.0.1",
      RUNNER_PORT: String(options.runnerPort),
      NODE_ROLE: options.role
    },
    signal: "TERM",
    signalLimit: stopMax,
    answers: Effect.filterOrFail(get(options.port, "/health/ready"), (response) => response.ok),
    limit: "60 seconds"
  })

/** Draws a password for the administrator, who has none in a new database, and sets it. */
export const setAdminPassword = (shared: NodeJS.ProcessEnv): Effect.Effect<string, Unavailable> => {
  const password = randomBytes(15).toString("base64url")
  const command = ["set-password", "--keep-keys", "--email", adminEmail, "--password", password]
  return run(process.execPath, [inRepository("dist/admin.js"), ...command], {
    env: { ...process.env, ...shared },
    timeout: "30 seconds"
  }).pipe(Effect.as(password))
}
