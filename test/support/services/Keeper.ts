// Servers that cannot outlive the test run, however it ends.

import { Deferred, Duration, Effect, FiberId, type Scope } from "effect"
import { spawn, spawnSync } from "node:child_process"
import { type RunAs, tail } from "./Command.ts"

/** A program and its arguments. */
export type Command = readonly [program: string, ...args: ReadonlyArray<string>]

/** What a keeper runs and how it ends it. */
export interface KeepOptions extends RunAs {
  /**
   * Run one after the other, each after the one before it succeeded; the last one is the server. With none, the
   * keeper only waits to clean up.
   */
  readonly commands: ReadonlyArray<Command>
  /** Run once after the last of them, whatever happened. */
  readonly cleanup: Command
  /** Makes the running command end, clients or not. */
  readonly signal: "TERM" | "INT" | "QUIT" | "KILL"
  /** How long that may take, until it is killed: 6 s by default. */
  readonly signalLimit?: Duration.Duration
  /** The commands' environment: ours by default. */
  readonly env?: NodeJS.ProcessEnv
}

/** Commands that are being kept. */
export interface Kept {
  /** Comes when the commands and the cleanup have ended. */
  readonly ended: Effect.Effect<void>
  /** The status of the last command that ran, once all have ended: 128 + n where signal n ended it; null before. */
  readonly status: () => number | null
  /** The tail of what they printed so far. */
  readonly output: () => string
}

const signalLimitDefault = Duration.seconds(6)
// The keeper itself loses patience a little earlier, as it is alone when we were killed.
const keeperLead = Duration.seconds(2)
const pollInterval = Duration.millis(50)
const outputLimit = 16_000

const quote = (command: Command): string =>
  command.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ")

/**
 * The shell script that does the keeping. The shell is the server's parent, so it alone knows its process id for sure
 * (an id is not given away again before the parent has waited for it). Its standard input is a pipe from us that
 * nobody writes to: it ends when we close it and also when we are killed, and then `read` returns.
 */
export const keeperScript = ({
  cleanup,
  commands,
  signal,
  signalLimit = signalLimitDefault
}: KeepOptions): string => {
  const signalLimit_polls = Math.ceil(Duration.toMillis(signalLimit) / Duration.toMillis(pollInterval))
  return [
    `exec 3<&0 </dev/null`,
    `child=; reader=; stopped=`,
    // Quietly: when we are gone nobody reads what it prints, and writing would kill it.
    `end() {`,
    `  trap '' TERM INT HUP`,
    `  [ -z "$child" ] || {`,
    `    kill -${signal} "$child"; i=0`,
    // While it waits for `sleep` a shell also takes note of other children that end.
    `    while [ $i -lt ${signalLimit_polls} ] && kill -0 "$child"; do`,
    `      sleep ${Duration.toSeconds(pollInterval)}; i=$((i + 1))`,
    `    done`,
    `    [ $i -lt ${signalLimit_polls} ] || kill -KILL "$child"`,
    `    wait "$child"`,
    `  }`,
    `  [ -z "$reader" ] || kill -KILL "$reader"`,
    `  ${quote(cleanup)}`,
    `} >/dev/null 2>&1`,
    `trap end EXIT`,
    // Told to stop before the id of the command is known: wait until it is.
    `trap 'stopped=1; [ -z "$child" ] || exit 143' TERM INT HUP`,
    `{ read -r _ <&3; kill -TERM $$; } &`,
    `reader=$!`,
    `keep() {`,
    `  "$@" 3<&- & child=$!`,
    `  [ -z "$stopped" ] || exit 143`,
    `  wait "$child"; status=$?; child=`,
    `  return "$status"`,
    `}`,
    ...(commands.length === 0
      ? [`wait "$reader"`]
      : commands.map((command) => `keep ${quote(command)} || exit`))
  ].join("\n")
}

/**
 * Runs commands until the scope closes, or this process ends in whatever way, `kill -9` included. They are in
 * a session of their own, so that Ctrl-C in the terminal does not reach them. Stopping takes at most 2 s
 * longer than `signalLimit`: after that all of them are killed.
 */
export const keep = (options: KeepOptions): Effect.Effect<Kept, never, Scope.Scope> => {
  const { env, gid, signalLimit = signalLimitDefault, uid } = options
  const stopLimit = Duration.sum(signalLimit, keeperLead)
  const as = { ...(uid !== undefined && { uid }), ...(gid !== undefined && { gid }) }

  const start = Effect.sync(() => {
    const ended = Deferred.unsafeMake<void>(FiberId.none)
    const child = spawn("/bin/sh", ["-c", keeperScript(options)], {
      cwd: "/",
      detached: true,
      ...as,
      ...(env && { env })
    })
    let status: number | null = null
    let output = ""
    const print = (text: string) => {
      output = (output + text).slice(-outputLimit)
    }
    child.stdout.setEncoding("utf8").on("data", print)
    child.stderr.setEncoding("utf8").on("data", print)
    child.on("error", (error) => print(String(error)))
    child.on("close", (code) => {
      status = code
      Deferred.unsafeDone(ended, Effect.void)
    })
    return { child, ended: Deferred.await(ended), status: () => status, output: () => tail(output) }
  })

  return Effect.acquireRelease(start, ({ child, ended }) =>
    Effect.sync(() => child.stdin.destroy()).pipe(
      Effect.zipRight(Effect.interruptible(ended)),
      Effect.timeoutTo({ duration: stopLimit, onSuccess: () => true, onTimeout: () => false }),
      Effect.map((stopped) => {
        if (stopped || child.pid === undefined) return
        try {
          process.kill(-child.pid, "SIGKILL")
        } catch {
          // It has ended this very moment.
        }
        const [program, ...args] = options.cleanup
        spawnSync(program, args, { timeout: Duration.toMillis(stopLimit) })
      })
    )
  )
}
