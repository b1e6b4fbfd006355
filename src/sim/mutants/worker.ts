// One of the threads of `npm run sim -- mutants`: hunts one mutant after the other that no thread has begun, and tells of each.

import { Clock } from "effect"
import { parentPort, workerData } from "node:worker_threads"
import { mutants } from "./all.ts"
import type { HuntOrder, Told } from "./command.ts"
import { hunt } from "./hunt.ts"

const { begun, from, names, seeds } = workerData as HuntOrder
const counter = new Int32Array(begun)
const clock = Clock.make()
for (;;) {
  const name = names[Atomics.add(counter, 0, 1)]
  if (name === undefined) break
  const mutant = mutants.find((one) => one.name === name)!
  const start_ms = clock.unsafeCurrentTimeMillis()
  const hunted = hunt(mutant, from, seeds)
  const seconds = (clock.unsafeCurrentTimeMillis() - start_ms) / 1_000
  // A thread's port has no origin to name.
  // eslint-disable-next-line unicorn/require-post-message-target-origin
  parentPort?.postMessage({ ...hunted, seconds } satisfies Told)
}
