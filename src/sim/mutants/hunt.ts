import type { SimOptions } from "../cli/Options.ts"
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

/** A deployment that lives gives so many answers at least. What keeps it from that is no small breakage, and does not count as found. */
const answersMin = 4

/** Runs a mutant through the seeds from `from` on until its checker finds it, through `seedsMax` at most. Runs have the lengths of its options, or these. */
export const hunt = (
  mutant: Mutant,
  from: number,
  seedsMax: number,
  lengths: Partial<Pick<SimOptions, "faulty_s" | "calm_s">> = {}
): Hunted => {
  const { checker, make, name } = mutant
  const others = new Set<string>()
  for (let seeds = 1; seeds <= seedsMax; seeds++) {
    const seed = from + seeds - 1
    const options = { ...optionsOf(mutant, seed), ...lengths }
    const { evidence, violations } = run(seed, options, { keepTrace: false, mutation: make() })
    for (const other of violations) if (other.checker !== checker) others.add(other.checker)
    if (evidence.exchanges.filter(({ status }) => status !== 0).length < answersMin) continue
    const found = violations.find((violation) => violation.checker === checker)
    if (found !== undefined) return { name, checker, seeds, seed, said: found.text, others: [...others] }
  }
  return { name, checker, seeds: seedsMax, seed: undefined, said: undefined, others: [...others] }
}
