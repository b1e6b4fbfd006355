// One of the threads of `npm run sim -- mutants`: hunts one mutant after the other, and tells of each.

import { parentPort, workerData } from "node:worker_threads"
import { mutants } from "./all.ts"
import type { HuntOrder } from "./command.ts"
import { hunt } from "./hunt.ts"

const { from, names, seeds } = workerData as HuntOrder
for (const mutant of mutants)
  // A thread's port has no origin to name.
  // eslint-disable-next-line unicorn/require-post-message-target-origin
  if (names.includes(mutant.name)) parentPort?.postMessage(hunt(mutant, from, seeds))
