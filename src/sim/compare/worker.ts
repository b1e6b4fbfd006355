// One of the threads of `npm run sim -- compare`: runs all contestants through every `step`-th seed, and has the keys of every `step`-th order guessed.

import { parentPort, workerData } from "node:worker_threads"
import { contestants } from "./Contestants.ts"
import { type Figures, figuresOf } from "./Figures.ts"
import { guessed, orderOf } from "./Guesser.ts"

/** What a thread is to do. */
export interface CompareOrder {
  readonly names: ReadonlyArray<string>
  readonly from: number
  readonly seeds: number
  readonly first: number
  readonly step: number
}

/** What a thread tells: the figures of one seed, or the share of keys that was guessed of an order. */
export type Compared =
  { readonly name: string; readonly figures: Figures } | { readonly order: string; readonly guessed: number }

const { first, from, names, seeds, step } = workerData as CompareOrder
const tell = (compared: Compared) => {
  // A thread's port has no origin to name.
  // eslint-disable-next-line unicorn/require-post-message-target-origin
  parentPort?.postMessage(compared)
}

const asked = contestants.filter(({ name }) => names.includes(name))

// Contestants with one order share what is guessed of it.
const orders = Array.from(new Map(asked.map((contestant) => [orderOf(contestant), contestant])).values())
orders.forEach((contestant, index) => {
  if (index % step === first) tell({ order: orderOf(contestant), guessed: guessed(contestant, from) })
})

for (let seed = first; seed < seeds; seed += step)
  for (const contestant of asked) tell({ name: contestant.name, figures: figuresOf(contestant, from + seed) })
