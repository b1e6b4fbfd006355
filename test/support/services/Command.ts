// Commands that end by themselves, run with a time limit.

import { Duration, Effect } from "effect"
import { execFile } from "node:child_process"
import { Unavailable } from "./Service.ts"

/** An operating-system user to run a program as; `uid` and `gid` are absent to run it as ourselves. */
export interface RunAs {
  readonly uid?: number
  readonly gid?: number
}

/** How a command runs: as whom, where (`/` by default), with which environment (ours by default), and for how long at most. */
export interface RunOptions extends RunAs {
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
  readonly timeout?: Duration.DurationInput
}

const tailLength = 4_000

/** The last 4,000 characters of a program's output: enough for its last words. */
export const tail = (output: string): string => output.slice(-tailLength).trim()

/**
 * Runs a program to its end and gives what it printed. Fails if it cannot be started, ends with a status
 * other than 0, or takes longer than `timeout` (10 s by default): it is then told to terminate.
 */
export const run = (
  command: string,
  args: ReadonlyArray<string>,
  { timeout = "10 seconds", ...options }: RunOptions = {}
): Effect.Effect<string, Unavailable> =>
  Effect.async((resume) => {
    const timeout_ms = Duration.toMillis(timeout)
    const child = execFile(
      command,
      [...args],
      { cwd: "/", ...options, timeout: timeout_ms, maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) => {
        if (error === null) return resume(Effect.succeed(stdout))
        const how = error.killed === true ? `took more than ${timeout_ms} ms` : `failed (${error.code})`
        const detail = tail(`${stdout}\n${stderr}`)
        resume(new Unavailable({ reason: `\`${[command, ...args].join(" ")}\` ${how}`, detail }))
      }
    )
    return Effect.sync(() => child.kill())
  })
