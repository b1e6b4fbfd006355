import { expect, it } from "@effect/vitest"
import { Duration, Effect, Exit, Schedule, Scope } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe } from "vitest"
import { type Command, keep, keeperScript } from "./Keeper.ts"
import { firstAvailable, Unavailable } from "./Service.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "linkmint-keeper-'quoted'-"))),
  (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true }))
)

const cleanupOf = (made: string): Command => ["rm", "-rf", made]

// Tells its process id and stays for longer than any test.
const server: Command = ["sh", "-c", "echo $$; exec sleep 300"]

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    // One that has ended has an entry until its parent has asked for its status.
    const entry = `/proc/${pid}/stat`
    return !existsSync(entry) || !/\) Z /.test(readFileSync(entry, "latin1"))
  } catch {
    return false
  }
}

describe("keep", () => {
  it.scopedLive("ends the command and then cleans up when the scope closes", () =>
    Effect.gen(function* () {
      const made = yield* folder
      const scope = yield* Scope.make()
      const kept = yield* keep({ commands: [server], signal: "KILL", cleanup: cleanupOf(made) }).pipe(
        Scope.extend(scope)
      )
      const pid = yield* Effect.sync(() => Number(kept.output())).pipe(
        Effect.filterOrFail((id) => id > 0),
        Effect.retry(Schedule.spaced("10 millis"))
      )
      expect(isAlive(pid)).toBe(true)
      expect(existsSync(made)).toBe(true)
      yield* Scope.close(scope, Exit.void)
      expect(isAlive(pid)).toBe(false)
      expect(existsSync(made)).toBe(false)
    })
  )

  it.scopedLive("does so too when its starter is killed with -9", () =>
    Effect.gen(function* () {
      const made = yield* folder
      const script = keeperScript({ commands: [server], signal: "KILL", cleanup: cleanupOf(made) })
      const starter = `
        require("child_process").spawn("/bin/sh", ["-c", process.argv[1]], {
          detached: true,
          stdio: ["pipe", "inherit", "pipe"]
        })`
      const child = spawn(process.execPath, ["-e", starter, script], { stdio: ["ignore", "pipe", "ignore"] })
      const [printed] = yield* Effect.promise(() => once(child.stdout, "data"))
      expect(isAlive(Number(printed))).toBe(true)
      child.kill("SIGKILL")
      // The server and its keeper hold this pipe, too: it closes when both are gone.
      yield* Effect.promise(() => once(child.stdout, "close"))
      expect(isAlive(Number(printed))).toBe(false)
      expect(existsSync(made)).toBe(false)
    })
  )

  it.scopedLive("kills a command that ignores its signal after a time", () =>
    Effect.gen(function* () {
      const made = yield* folder
      const scope = yield* Scope.make()
      const deaf: Command = ["sh", "-c", "trap '' TERM; echo $$; while :; do sleep 1; done"]
      const kept = yield* keep({
        commands: [deaf],
        signal: "TERM",
        signalLimit: Duration.seconds(2),
        cleanup: cleanupOf(made)
      }).pipe(Scope.extend(scope))
      yield* Effect.sync(kept.output).pipe(
        Effect.filterOrFail((printed) => printed !== ""),
        Effect.retry(Schedule.spaced("10 millis"))
      )
      const [took] = yield* Effect.timed(Scope.close(scope, Exit.void))
      expect(Duration.toSeconds(took)).toBeGreaterThan(1.9)
      expect(isAlive(Number(kept.output()))).toBe(false)
      expect(existsSync(made)).toBe(false)
    })
  )

  it.scopedLive("stops at the first command that fails, with its last words in the output", () =>
    Effect.gen(function* () {
      const made = yield* folder
      const commands: ReadonlyArray<Command> = [
        ["sh", "-c", "echo no room; exit 3"],
        ["echo", "not reached"]
      ]
      const kept = yield* keep({ commands, signal: "KILL", cleanup: cleanupOf(made) })
      yield* kept.ended
      expect(kept.output()).toBe("no room")
      expect(kept.status()).toBe(3)
      expect(existsSync(made)).toBe(false)
    })
  )
})

describe("firstAvailable", () => {
  const running = { _tag: "Running", url: "x://y", version: "1", origin: "here" } as const

  it.scoped("takes the first way that works, and has released what failed before it", () =>
    Effect.gen(function* () {
      const log: Array<string> = []
      const held = Effect.acquireRelease(
        Effect.sync(() => log.push("acquired")),
        () => Effect.sync(() => log.push("released"))
      )
      const failing = Effect.zipRight(held, new Unavailable({ reason: "not here" }))
      const working = Effect.sync(() => {
        log.push("worked")
        return running
      })
      expect(yield* firstAvailable("X", [failing, working])).toEqual(running)
      expect(log).toEqual(["acquired", "released", "worked"])
    })
  )

  it.scoped("gives every reason, in one line, when none works", () =>
    Effect.gen(function* () {
      const failing = ["no\nprograms", "no engine"].map((reason) => new Unavailable({ reason }))
      expect(yield* firstAvailable("X", failing)).toEqual({
        _tag: "Missing",
        reason: "no programs; no engine"
      })
    })
  )
})
