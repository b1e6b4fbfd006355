// The real program as a child process, as an operator runs it.

import { Deferred, Effect, FiberId, Layer, Schedule, type Scope } from "effect"
import { spawn } from "node:child_process"
import { copyFileSync, mkdirSync, mkdtempSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { inject } from "vitest"
import * as Migrations from "../../src/storage/sql/Migrations.ts"
import * as SqliteClient from "../../src/storage/sql/SqliteClient.ts"
import { agent, send } from "../support/http/HttpClient.ts"
import { freePort } from "../support/FreePort.ts"
import { folderInMemory } from "../support/MemoryFolder.ts"
import { keep } from "../support/services/Keeper.ts"

/** The project's folder. */
export const root = fileURLToPath(new URL("../..", import.meta.url))

/** The options of Node with which `npm start` runs the program. */
export const nodeOptions: ReadonlyArray<string> = ["--max-semi-space-size=32"]

/** How a process ended: with an exit code, or by a signal. */
export interface Ending {
  readonly code: number | null
  readonly signal: string | null
}

/** A child process. */
export interface Program {
  readonly pid: number
  /** All that it printed so far, errors included. */
  readonly output: () => string
  /** Waits until what it printed matches. Dies when the process ends before. */
  readonly printed: (pattern: RegExp) => Effect.Effect<RegExpExecArray>
  readonly ended: Effect.Effect<Ending>
  /** Sends it a signal, at once. */
  readonly signal: (signal: "SIGTERM" | "SIGINT" | "SIGKILL" | "SIGSTOP" | "SIGCONT") => void
}

/** Environment variables of a program; it gets none of ours but those that any program needs. */
export type Variables = Readonly<Record<string, string | undefined>>

const killGroup = (pid: number) => {
  try {
    process.kill(-pid, "SIGKILL")
  } catch {
    // It has ended by itself.
  }
}

/**
 * Kills a process group when this process ends in whatever way, `kill -9` included: its end of the pipe closes then, and `read`
 * returns. To be killed itself when the group has ended, since the number can go to another one then.
 */
const watchdog = (pid: number) =>
  spawn("/bin/sh", ["-c", `read -r _; kill -KILL -${pid}`], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"]
  })

/** Runs a command in the project's folder, in a process group of its own that is killed when the scope closes. */
export const run = (
  command: string,
  args: ReadonlyArray<string>,
  variables: Variables
): Effect.Effect<Program, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => {
        const { HOME, PATH } = process.env
        const child = spawn(command, args, {
          cwd: root,
          detached: true,
          env: { HOME, PATH, ...variables },
          stdio: ["ignore", "pipe", "pipe"]
        })
        const guard = watchdog(child.pid!)
        const ended = Deferred.unsafeMake<Ending>(FiberId.none)
        const state = { output: "", hasEnded: false, look: () => {} }
        for (const stream of [child.stdout, child.stderr]) {
          stream.setEncoding("utf8").on("data", (text: string) => {
            state.output += text
            state.look()
          })
        }
        // Not `exit`: only now all output has come.
        child.on("close", (code, signal) => {
          state.hasEnded = true
          guard.kill("SIGKILL")
          Deferred.unsafeDone(ended, Effect.succeed({ code, signal }))
          state.look()
        })
        return { child, ended: Deferred.await(ended), state }
      }),
      ({ child, ended, state }) =>
        Effect.zipRight(
          Effect.sync(() => {
            if (!state.hasEnded) killGroup(child.pid!)
          }),
          ended
        )
    ),
    ({ child, ended, state }) => ({
      pid: child.pid!,
      output: () => state.output,
      printed: (pattern) =>
        Effect.async((resume) => {
          state.look = () => {
            const found = pattern.exec(state.output)
            if (found !== null) resume(Effect.succeed(found))
            else if (state.hasEnded) resume(Effect.dieMessage(`The program ended: ${state.output}`))
          }
          state.look()
        }),
      ended,
      signal: (signal) => void child.kill(signal)
    })
  )

/** Runs the built program, without waiting for anything. */
export const launch = (variables: Variables) =>
  run(process.execPath, [...nodeOptions, "dist/main.js"], variables)

/** Waits until the service at `port` says that it is ready, or the program ends. */
export const ready = (program: Program, port: number): Effect.Effect<void> =>
  Effect.gen(function* () {
    yield* program.printed(/^Linkmint listens at /m)
    const connections = yield* agent(1)
    yield* send(connections, port, { path: "/health/ready" }).pipe(
      Effect.repeat({ until: ({ status }) => status === 200, schedule: Schedule.spaced("20 millis") })
    )
  }).pipe(Effect.scoped, Effect.orDie)

/** Runs the built program and waits until it is ready. */
export const start = (
  variables: Variables & { readonly PORT: string }
): Effect.Effect<Program, never, Scope.Scope> =>
  Effect.tap(launch(variables), (program) => ready(program, Number(variables.PORT)))

/**
 * A path to a data folder that does not exist yet, in memory where there is room: what a process has written survives its kill there, too. Whatever comes to be
 * there goes with the scope, or with this process.
 */
export const dataFolder: Effect.Effect<string, never, Scope.Scope> = Effect.gen(function* () {
  const folder = mkdtempSync(join(folderInMemory(), "linkmint-e2e-"))
  yield* keep({ commands: [], signal: "TERM", cleanup: ["rm", "-rf", folder] })
  return join(folder, "data")
})

/** The file of an SQLite database with all tables and nothing in them, in vitest's own folder, which goes with the run. */
const migratedFile = Effect.runSync(
  Effect.cached(
    Effect.gen(function* () {
      const file = join(inject("exercised"), "..", `migrated-${process.pid}.db`)
      yield* Effect.scoped(Layer.build(Layer.provide(Migrations.layer, SqliteClient.layer(file))))
      return file
    }).pipe(Effect.orDie)
  )
)

/** The same with a database that has all tables, so that a first start need not make them. */
export const migratedFolder: typeof dataFolder = Effect.gen(function* () {
  const folder = yield* dataFolder
  mkdirSync(folder, { mode: 0o700 })
  copyFileSync(yield* migratedFile, join(folder, "linkmint.db"))
  return folder
})

const placeWith = (dataDir: typeof dataFolder) =>
  Effect.gen(function* () {
    const port = yield* freePort
    const folder = yield* dataDir
    return { port, folder, settings: { PORT: String(port), HOST: "127.0.0.1", DATA_DIR: folder } }
  })

/** A free port and a data folder that does not exist yet, and the settings that say so. */
export const place = placeWith(dataFolder)

/** The same with a {@link migratedFolder}. */
export const migratedPlace = placeWith(migratedFolder)

/** Runs the built program at a {@link migratedPlace}, and waits until it is ready. */
export const startAlone = Effect.fn("startAlone")(function* (variables: Variables = {}) {
  const { folder, port, settings } = yield* migratedPlace
  return { port, folder, program: yield* start({ ...variables, ...settings }) }
})
