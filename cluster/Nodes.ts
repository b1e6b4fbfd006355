// The cluster's nodes: the program itself.

import { Effect, type Scope } from "effect"
import type { Command } from "../test/services/Keeper.ts"
import type { Unavailable } from "../test/services/Service.ts"
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
  /** The settings that all nodes share. */
  readonly shared: NodeJS.ProcessEnv
}

/** The program, as `npm run build` leaves it and `npm start` runs it. */
const program: Command = [process.execPath, "--max-semi-space-size=32", inRepository("dist/src/main.js")]

const get = (port: number, path: string) =>
  Effect.tryPromise(() => fetch(`http://127.0.0.1:${port}${path}`, { signal: AbortSignal.timeout(3_000) }))

/** Starts a node, and waits until it is ready. */
export const start = (options: NodeOptions): Effect.Effect<Launched, Unavailable, Scope.Scope> =>
  launch({
    name: options.name,
    folder: options.folder,
    commands: [program],
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
    answers: Effect.filterOrFail(get(options.port, "/health/ready"), (response) => response.ok),
    limit: "60 seconds"
  })
