// How long the event loops of programs under measurement were held at most.

import { Effect, Schedule } from "effect"
import { mkdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { inRepository } from "../cluster/Repository.ts"
import type { Ground } from "./Ground.ts"

type Place = Pick<Ground, "folder">

const folderIn = ({ folder }: Place) => join(folder, "loops")

/** Environment variables with which a program of Node can be asked by {@link longestHold}. */
export const watched = (place: Place): Readonly<Record<string, string>> => {
  mkdirSync(folderIn(place), { recursive: true })
  const script = pathToFileURL(inRepository("dist/bench/probes/loopDelay.js")).href
  return { NODE_OPTIONS: `--import=${script}`, LOOP_DELAY_FOLDER: folderIn(place) }
}

interface Answer {
  readonly answers: number
  readonly longest_ms: number
}

const answerOf = (place: Place, pid: number): Answer | undefined => {
  try {
    return JSON.parse(readFileSync(join(folderIn(place), String(pid)), "utf8")) as Answer
  } catch {
    return undefined
  }
}

const ask = (place: Place, pid: number) =>
  Effect.suspend(() => {
    const before = answerOf(place, pid)
    // Without its file it would be ended by the signal.
    if (before === undefined) return Effect.succeed(null)
    process.kill(pid, "SIGUSR2")
    return Effect.sync(() => answerOf(place, pid)).pipe(
      Effect.filterOrFail((now) => now !== undefined && now.answers > before.answers),
      Effect.retry(Schedule.spaced("5 millis")),
      Effect.timeout("5 seconds"),
      Effect.map((now) => now!.longest_ms),
      Effect.orElseSucceed(() => null)
    )
  })

/**
 * How long the event loop of any of these processes was held at most since they were asked last, in milliseconds, to within 2; null where none can tell. It counts the time in which another program
 * had the core as well.
 */
export const longestHold = (place: Place, pids: ReadonlyArray<number>): Effect.Effect<number | null> =>
  Effect.map(
    Effect.forEach(pids, (pid) => ask(place, pid), { concurrency: "unbounded" }),
    (all) => {
      const known = all.filter((held) => held !== null)
      return known.length === 0 ? null : Math.max(...known)
    }
  )
