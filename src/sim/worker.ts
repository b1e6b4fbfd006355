// A thread of `npm run sim`: runs every `step`-th seed, and reports each.

import { parentPort, workerData } from "node:worker_threads"
import type { WorkerOrder } from "./deployment/Fleet.ts"
import { report, type SeedReport } from "./cli/SeedReport.ts"

const { first, mix, step, until } = workerData as WorkerOrder

const reported = (seed: number): SeedReport => {
  try {
    return report(mix, seed)
  } catch (error) {
    throw new Error(`seed ${seed}: ${error instanceof Error ? error.stack : String(error)}`, { cause: error })
  }
}

// A thread's port has no origin to name.
// eslint-disable-next-line unicorn/require-post-message-target-origin
for (let seed = first; seed < until; seed += step) parentPort?.postMessage(reported(seed))
