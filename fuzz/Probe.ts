// How long a redirect waits beside whatever else the program is doing.

import { Effect, type Scope } from "effect"
import { fork } from "node:child_process"
import { inRepository } from "../cluster/Repository.ts"

/** What to ask, and of which process. */
export interface ProbeOptions {
  readonly port: number
  readonly pid: number
  /** Of a link. */
  readonly path: string
  /** From an answer to the next question. */
  readonly pause_ms: number
}

/** What was seen since the lap before. */
export interface Lap {
  readonly count: number
  /** Questions that were not answered by a redirect. */
  readonly failures: number
  readonly median_ms: number
  /** The longest wait for an answer. */
  readonly wait_ms: number
  /**
   * The most CPU time that the program's main thread took within one wait: as long as that the event loop may have been held up. Unlike the wait it does not
   * grow because other programs use the processors. 0 where the system does not tell.
   */
  readonly busy_ms: number
}

/** Asks all the time, from a process of its own. */
export interface Probe {
  /** Ends a lap: with the question that is under way. */
  readonly lap: Effect.Effect<Lap>
}

const nothing: Lap = { count: 0, failures: 0, median_ms: 0, wait_ms: 0, busy_ms: 0 }

/** Starts a probe; it ends with the scope, or with this process. */
export const make = (options: ProbeOptions): Effect.Effect<Probe, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => fork(inRepository("dist/fuzz/prober.js"), [JSON.stringify(options)])),
      (child) => Effect.sync(() => child.kill("SIGKILL"))
    ),
    (child) => {
      let tell: (lap: Lap) => void = () => {}
      child.on("message", (lap) => tell(lap as Lap))
      child.on("exit", () => tell(nothing))
      return {
        lap: Effect.async((resume) => {
          tell = (lap) => resume(Effect.succeed(lap))
          if (!child.connected) return tell(nothing)
          child.send("lap")
        })
      }
    }
  )
