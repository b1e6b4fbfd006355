// A thread of `npm run sim`: runs its seeds, and reports each.

import { parentPort, workerData } from "node:worker_threads"
import type { WorkerOrder } from "./deployment/Fleet.ts"
import { report, type SeedReport } from "./cli/SeedReport.ts"

const { mix, seeds } = workerData as WorkerOrder

const reported = (seed: number): SeedReport => {
  try {
    return report(mix, seed)
  } catch (error) {
    throw new Error(`seed ${seed}: ${error instanceof Error ? error.stack : String(error)}`, { cause: error })
  }
}

// A thread's port has no origin to name.
// eslint-disable-next-line unicorn/require-post-message-target-origin
for (const seed of seeds) parentPort?.postMessage(reported(seed))
