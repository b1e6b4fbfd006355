import { run } from "../Run.ts"
import { type Mutant, optionsOf } from "./Mutant.ts"

/** What came of a hunt: in how many seeds the mutant's own checker found it, in which one, and what it said; or nothing after all of them. */
export interface Hunted {
  readonly name: string
  readonly checker: string
  readonly seeds: number
  readonly seed: number | undefined
  readonly said: string | undefined
  /** Other checkers that found something in these seeds. */
  readonly others: ReadonlyArray<string>
}

/** Runs a mutant through the seeds from `from` on until its checker finds it, through `seedsMax` at most. */
export const hunt = (mutant: Mutant, from: number, seedsMax: number): Hunted => {
  const { checker, make, name } = mutant
  const others = new Set<string>()
  for (let seeds = 1; seeds <= seedsMax; seeds++) {
    const seed = from + seeds - 1
    const { violations } = run(seed, optionsOf(mutant, seed), { keepTrace: false, mutation: make() })
    const found = violations.find((violation) => violation.checker === checker)
    for (const other of violations) if (other.checker !== checker) others.add(other.checker)
    if (found !== undefined) return { name, checker, seeds, seed, said: found.text, others: [...others] }
  }
  return { name, checker, seeds: seedsMax, seed: undefined, said: undefined, others: [...others] }
}
