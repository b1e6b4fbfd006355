// One of the threads of `npm run sim`: runs every `step`-th seed, and tells of each.

import { parentPort, workerData } from "node:worker_threads"
import type { WorkerOrder } from "./Fleet.ts"
import { report } from "./SeedReport.ts"

const { first, mix, step, until } = workerData as WorkerOrder
// A thread's port has no origin to name.
// eslint-disable-next-line unicorn/require-post-message-target-origin
for (let seed = first; seed < until; seed += step) parentPort?.postMessage(report(mix, seed))
