import { presets } from "../cli/Presets.ts"
import { run } from "../Run.ts"
import type { Mutant } from "./Mutant.ts"

/** What came of a hunt: which checker caught the mutant, what it said, and after how many seeds; or nothing after all of them. */
export interface Hunted {
  readonly name: string
  readonly seeds: number
  readonly checker: string | undefined
  readonly said: string | undefined
}

/** Runs a mutant through the seeds from `from` on until a checker finds something, through `seedsMax` at most. */
export const hunt = (mutant: Mutant, from: number, seedsMax: number): Hunted => {
  const { make, name, options = (sound) => sound, preset = "swarm" } = mutant
  for (let seeds = 1; seeds <= seedsMax; seeds++) {
    const seed = from + seeds - 1
    const { violations } = run(seed, options(presets[preset](seed)), { keepTrace: false, mutation: make() })
    const first = violations[0]
    if (first !== undefined) return { name, seeds, checker: first.checker, said: first.text }
  }
  return { name, seeds: seedsMax, checker: undefined, said: undefined }
}
