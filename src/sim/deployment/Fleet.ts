import { Effect } from "effect"
import type { Mix, SeedReport } from "../cli/SeedReport.ts"
import * as Thread from "../cli/Thread.ts"

/** The seeds that a thread runs. */
export interface WorkerOrder {
  readonly mix: Mix
  readonly seeds: ReadonlyArray<number>
}

/** The seeds to run, and how many to run in parallel. */
export interface FleetOrder extends WorkerOrder {
  readonly jobs: number
}

/** The size of V8's young generation, in megabytes for each thread: a larger one is collected less often. */
const youngMax_MB = 384

const work = (order: WorkerOrder, told: (report: SeedReport) => void) =>
  Thread.run(new URL("../worker.js", import.meta.url), order, told, { maxYoungGenerationSizeMb: youngMax_MB })

/** Runs the seeds on `jobs` threads. Calls `told` with each report when the seed is done, in no particular order. */
export const run = (
  { jobs, mix, seeds }: FleetOrder,
  told: (report: SeedReport) => void
): Effect.Effect<void, Thread.WorkerFailed> =>
  Effect.forEach(
    Array.from({ length: Math.min(jobs, seeds.length) }, (_, index) => index),
    (index) => work({ mix, seeds: seeds.filter((_, number) => number % jobs === index) }, told),
    { concurrency: "unbounded", discard: true }
  )
