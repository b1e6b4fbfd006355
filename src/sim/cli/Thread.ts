import { Data, Effect } from "effect"
import { type ResourceLimits, Worker } from "node:worker_threads"

/** A thread has ended before its work was done. */
export class WorkerFailed extends Data.TaggedError("WorkerFailed")<{ readonly reason: string }> {
  override get message() {
    return `A simulation crashed: ${this.reason}`
  }
}

/** Runs a module on a thread of its own, with an order, until it ends: what it tells meanwhile must be of type `Told`. */
export const run = <Told>(
  module: URL,
  order: unknown,
  told: (told: Told) => void,
  resourceLimits: ResourceLimits = {}
): Effect.Effect<void, WorkerFailed> =>
  Effect.async<void, WorkerFailed>((resume) => {
    const worker = new Worker(module, { workerData: order, resourceLimits })
    worker.on("message", told)
    worker.on("error", (error: Error) => resume(new WorkerFailed({ reason: error.stack ?? error.message })))
    worker.on("exit", () => resume(Effect.void))
    return Effect.promise(() => worker.terminate())
  })
