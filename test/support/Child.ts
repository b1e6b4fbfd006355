// Real processes of our own code, to be killed.

import { Deferred, Effect, FiberId, type Scope } from "effect"
import { spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"

/** A child process that runs one of the scripts in `children/`. */
export interface Child {
  readonly pid: number
  /** Waits for a printed line that begins with `text`, also one that was printed already, and gives it. */
  readonly line: (text: string) => Effect.Effect<string, Error>
  /** All lines printed so far. */
  readonly printed: ReadonlyArray<string>
  /** `kill -9`; comes back when the process is gone. */
  readonly kill: Effect.Effect<void>
  /** Comes when the process has ended by itself. */
  readonly ended: Effect.Effect<number | null>
}

/** Runs a script, by its name, with arguments until it ends or the scope closes. */
export const spawnChild = (
  script: string,
  args: ReadonlyArray<string>
): Effect.Effect<Child, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync((): Child => {
      const path = fileURLToPath(new URL(`children/bundled/${script}.js`, import.meta.url))
      const process_ = spawn(process.execPath, [path, ...args], {
        stdio: ["ignore", "pipe", "pipe"]
      })
      const printed: Array<string> = []
      let waiting: Array<{ text: string; found: Deferred.Deferred<string, Error> }> = []
      const print = (line: string) => {
        printed.push(line)
        waiting = waiting.filter(({ found, text }) => {
          if (line.startsWith(text)) Deferred.unsafeDone(found, Effect.succeed(line))
          return !line.startsWith(text)
        })
      }
      createInterface(process_.stdout).on("line", print)
      createInterface(process_.stderr).on("line", (line) => printed.push(line))
      const ended = Deferred.unsafeMake<number | null>(FiberId.none)
      process_.on("close", (code) => {
        Deferred.unsafeDone(ended, Effect.succeed(code))
        for (const { found, text } of waiting) {
          const error = new Error(`the child ended without printing "${text}":\n${printed.join("\n")}`)
          Deferred.unsafeDone(found, Effect.fail(error))
        }
      })
      return {
        pid: process_.pid!,
        printed,
        line: (text) =>
          Effect.suspend(() => {
            const line = printed.find((each) => each.startsWith(text))
            if (line !== undefined) return Effect.succeed(line)
            const found = Deferred.unsafeMake<string, Error>(FiberId.none)
            waiting.push({ text, found })
            return Deferred.await(found)
          }),
        kill: Effect.suspend(() => {
          process_.kill("SIGKILL")
          return Effect.asVoid(Deferred.await(ended))
        }),
        ended: Deferred.await(ended)
      }
    }),
    ({ kill }) => kill
  )
