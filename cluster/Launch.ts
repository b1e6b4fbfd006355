// Long-running programs with a folder, a process id that is known, and a log that outlives them.

import { Duration, Effect, Schedule, type Scope } from "effect"
import { chownSync, existsSync, mkdirSync, readFileSync } from "node:fs"
import { constants } from "node:os"
import { join } from "node:path"
import { type RunAs, tail } from "../test/support/services/Command.ts"
import { type Command, type KeepOptions, keep } from "../test/support/services/Keeper.ts"
import { Unavailable } from "../test/support/services/Service.ts"

/** What to run. */
export interface LaunchOptions {
  /** What people call it. */
  readonly name: string
  /** Its own folder, which is made where it is not there; `log` and `pid` in it are ours. */
  readonly folder: string
  /** Writes what the commands need, once the folder is there. */
  readonly prepare?: () => void
  /** Run one after the other; the last one is the server. */
  readonly commands: ReadonlyArray<Command>
  /** What makes it end in good order, and how long that may take. */
  readonly signal: KeepOptions["signal"]
  readonly signalLimit?: Duration.Duration
  /** Run after the last of them, whatever happened. */
  readonly cleanup?: Command
  readonly user?: RunAs
  readonly env?: NodeJS.ProcessEnv
  /** Comes when the server answers; tried again every 50 ms. */
  readonly answers: Effect.Effect<unknown, unknown>
  /** How long that may take. */
  readonly limit: Duration.DurationInput
}

/** A program that runs and answers. */
export interface Launched {
  readonly name: string
  readonly pid: number
  readonly log: string
  /** Comes when it has ended, with how it did: `was killed by SIGKILL`, `ended with status 1`. */
  readonly ended: Effect.Effect<string>
}

const logging = (folder: string, command: Command): Command => [
  "/bin/sh",
  "-c",
  'exec >>"$0/log" 2>&1; echo $$ >"$0/pid"; exec "$@"',
  folder,
  ...command
]

/** How a program ended, by the status that its parent shell saw. */
const endOf = (status: number | null): string => {
  if (status === null) return "ended"
  const signal = Object.entries(constants.signals).find(([, number]) => number === status - 128)?.[0]
  return signal === undefined ? `ended with status ${status}` : `was killed by ${signal}`
}

/** Makes a folder of a user's own. */
export const makeFolder = (folder: string, user: RunAs) => {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (user.uid !== undefined && user.gid !== undefined) chownSync(folder, user.uid, user.gid)
}

/**
 * Runs a program until the scope closes or this process ends, `kill -9` included, and waits until it answers. What it prints
 * goes to its log; where it does not come up, the error has the end of that.
 */
export const launch = Effect.fn("launch")(function* (
  options: LaunchOptions
): Effect.fn.Return<Launched, Unavailable, Scope.Scope> {
  const {
    answers,
    cleanup = ["true"],
    commands,
    env,
    folder,
    limit,
    name,
    signal,
    signalLimit,
    user = {}
  } = options
  const log = join(folder, "log")
  yield* Effect.sync(() => {
    makeFolder(folder, user)
    options.prepare?.()
  })
  const start = existsSync(log) ? readFileSync(log).length : 0
  const kept = yield* keep({
    commands: commands.map((command) => logging(folder, command)),
    signal,
    ...(signalLimit && { signalLimit }),
    cleanup,
    ...user,
    ...(env && { env })
  })
  const failure = (how: string) =>
    Effect.suspend(() => {
      const printed = existsSync(log) ? readFileSync(log).subarray(start).toString() : ""
      return new Unavailable({
        reason: `${name} ${how}`,
        detail: tail(`${printed}\n${kept.output()}`) || "(it printed nothing)"
      })
    })
  const ended = Effect.map(kept.ended, () => endOf(kept.status()))
  yield* answers.pipe(
    Effect.retry(Schedule.spaced("50 millis")),
    Effect.raceFirst(Effect.flatMap(ended, failure)),
    Effect.timeoutFail({ duration: limit, onTimeout: () => "late" as const }),
    Effect.catchAll((error) => (error instanceof Unavailable ? error : failure("did not answer in time")))
  )
  return { name, pid: Number(readFileSync(join(folder, "pid"), "utf8")), log, ended }
})
