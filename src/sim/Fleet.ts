import { Data, Effect } from "effect"
import { Worker } from "node:worker_threads"
import type { Mix, SeedReport } from "./SeedReport.ts"

/** What a thread is to do: the seeds `first`, `first + step`, and so on below `until`. */
export interface WorkerOrder {
  readonly mix: Mix
  readonly first: number
  readonly step: number
  readonly until: number
}

/** Which seeds to run: the first one, how many, and how many side by side. */
export interface FleetOrder {
  readonly mix: Mix
  readonly from: number
  readonly seeds: number
  readonly jobs: number
}

/** A thread has ended before its work was done. */
export class WorkerFailed extends Data.TaggedError("WorkerFailed")<{ readonly reason: string }> {
  override get message() {
    return `A simulation crashed: ${this.reason}`
  }
}

/** Room for what a run allocates and soon forgets, in megabytes a thread: a larger one is collected less often. */
const youngMax_MB = 384

const work = (order: WorkerOrder, told: (report: SeedReport) => void): Effect.Effect<void, WorkerFailed> =>
  Effect.async<void, WorkerFailed>((resume) => {
    const worker = new Worker(new URL("worker.js", import.meta.url), {
      workerData: order,
      resourceLimits: { maxYoungGenerationSizeMb: youngMax_MB }
    })
    worker.on("message", told)
    worker.on("error", (error) => resume(new WorkerFailed({ reason: error.stack ?? error.message })))
    worker.on("exit", () => resume(Effect.void))
    return Effect.promise(() => worker.terminate())
  })

/** Runs the seeds, `jobs` at a time on threads of their own; tells of each when it is done, in no particular order. */
export const run = (
  { from, jobs, mix, seeds }: FleetOrder,
  told: (report: SeedReport) => void
): Effect.Effect<void, WorkerFailed> =>
  Effect.forEach(
    Array.from({ length: Math.min(jobs, seeds) }, (_, index) => index),
    (index) => work({ mix, first: from + index, step: jobs, until: from + seeds }, told),
    { concurrency: "unbounded", discard: true }
  )
