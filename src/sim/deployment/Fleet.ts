import { Effect } from "effect"
import type { Mix, SeedReport } from "../cli/SeedReport.ts"
import * as Thread from "../cli/Thread.ts"

/** The seeds that a thread runs: `first`, `first + step`, and so on below `until`. */
export interface WorkerOrder {
  readonly mix: Mix
  readonly first: number
  readonly step: number
  readonly until: number
}

/** The seeds to run: the first one, their number, and how many to run in parallel. */
export interface FleetOrder {
  readonly mix: Mix
  readonly from: number
  readonly seeds: number
  readonly jobs: number
}

/** The size of V8's young generation, in megabytes for each thread: a larger one is collected less often. */
const youngMax_MB = 384

const work = (order: WorkerOrder, told: (report: SeedReport) => void) =>
  Thread.run(new URL("../worker.js", import.meta.url), order, told, { maxYoungGenerationSizeMb: youngMax_MB })

/** Runs the seeds on `jobs` threads. Calls `told` with each report when the seed is done, in no particular order. */
export const run = (
  { from, jobs, mix, seeds }: FleetOrder,
  told: (report: SeedReport) => void
): Effect.Effect<void, Thread.WorkerFailed> =>
  Effect.forEach(
    Array.from({ length: Math.min(jobs, seeds) }, (_, index) => index),
    (index) => work({ mix, first: from + index, step: jobs, until: from + seeds }, told),
    { concurrency: "unbounded", discard: true }
  )
