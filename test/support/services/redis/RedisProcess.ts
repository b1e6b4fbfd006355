// Redis servers that a test has for itself: it may pause them, kill them and start them again.

import { Effect, ExecutionStrategy, Schedule, Scope } from "effect"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Kept, keep } from "../Keeper.ts"
import { temporaryFolder } from "../OwnServer.ts"
import { serverVersion } from "./RedisServer.ts"
import { Unavailable } from "../Service.ts"

/** A Redis server or a Sentinel, by itself on a port of the loopback interface. */
export interface RedisProcess {
  readonly port: number
  /** Its process id now; another one after it was started again. */
  readonly pid: () => number
  /** `kill -9`; comes when it has ended. */
  readonly kill: Effect.Effect<void>
  /** Starts it again after a kill: the same port, the same folder, the same configuration. Comes when it answers. */
  readonly start: Effect.Effect<void, Unavailable>
  /** Stops it in its tracks (`SIGSTOP`); what is sent to it meanwhile waits in the kernel. */
  readonly pause: Effect.Effect<void>
  /** Lets it go on (`SIGCONT`). */
  readonly resume: Effect.Effect<void>
}

/** What is to be run. */
export interface RedisProcessOptions {
  /** The path of `redis-server`. */
  readonly program: string
  /** A free port, from `freePorts`. */
  readonly port: number
  /** Lines of its configuration, beside those for port, address and folder. */
  readonly config: ReadonlyArray<string>
  /** What comes after the configuration file on the command line. */
  readonly args?: ReadonlyArray<string>
  /** Where it can be asked whether it is up, if not without a password. */
  readonly url?: string
}

const startMax = "10 seconds"

// The shell's own id is the server's: it becomes the server.
const launcher = ["sh", "-c", 'echo $$ > "$0"; exec "$@"'] as const

/** Starts a server that goes, with its folder, when the scope closes or this process ends. */
export const makeRedisProcess = Effect.fn("makeRedisProcess")(function* ({
  args = [],
  config,
  port,
  program,
  url = `redis://127.0.0.1:${port}`
}: RedisProcessOptions): Effect.fn.Return<RedisProcess, Unavailable, Scope.Scope> {
  // Started again later, it still stops in its turn.
  const scope = yield* Scope.fork(yield* Effect.scope, ExecutionStrategy.sequential)
  const folder = yield* temporaryFolder({})
  // The servers come and go, and so do their keepers; the folder stays until the end.
  yield* keep({ commands: [], signal: "TERM", cleanup: ["rm", "-rf", folder] })
  const file = join(folder, "redis.conf")
  const pidFile = join(folder, "pid")
  const lines = [`port ${port}`, "bind 127.0.0.1", `dir ${folder}`, ...config]
  writeFileSync(file, lines.join("\n"), { mode: 0o600 })

  let kept: Kept | undefined
  const start = Effect.gen(function* () {
    const started = yield* keep({
      commands: [[...launcher, pidFile, program, file, ...args]],
      signal: "KILL",
      cleanup: ["true"]
    }).pipe(Scope.extend(scope))
    kept = started
    const failure = Effect.suspend(
      () => new Unavailable({ reason: `${program} did not start`, detail: started.output() })
    )
    yield* serverVersion(url).pipe(
      Effect.retry(Schedule.spaced("20 millis")),
      Effect.raceFirst(Effect.zipRight(started.ended, failure)),
      Effect.timeoutFail({ duration: startMax, onTimeout: () => new Unavailable({ reason: "no answer" }) })
    )
  })
  const pid = () => Number(readFileSync(pidFile, "utf8"))
  const signal = (name: NodeJS.Signals) => Effect.sync(() => process.kill(pid(), name))

  yield* start
  return {
    port,
    pid,
    start,
    kill: Effect.zipRight(
      signal("SIGKILL"),
      Effect.suspend(() => kept!.ended)
    ),
    pause: signal("SIGSTOP"),
    resume: signal("SIGCONT")
  }
})
