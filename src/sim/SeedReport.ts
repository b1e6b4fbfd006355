import { type Losses, lossesOf } from "./checkers/Ledger.ts"
import type { Violation } from "./Evidence.ts"
import type { Level, SimOptions } from "./Options.ts"
import { type PresetName, presets } from "./Presets.ts"
import { run } from "./Run.ts"
import { s_us } from "./world/Time.ts"

/** What is told of a seed. */
export interface SeedReport {
  readonly seed: number
  readonly digest: string
  readonly virtual_s: number
  readonly tasks: number
  /** How often clients got which answer, such as `create 201`; status 0 is none. */
  readonly answers: Readonly<Record<string, number>>
  /** How many faults of each kind there were; `crash point` among them. */
  readonly faults: Readonly<Record<string, number>>
  readonly lost: Losses
  /** Inserts that found their key bound by another create. */
  readonly conflicts: number
  readonly violations: ReadonlyArray<Violation>
}

const tallied = (names: ReadonlyArray<string>): Record<string, number> => {
  const tally: Record<string, number> = {}
  for (const name of names) tally[name] = (tally[name] ?? 0) + 1
  return tally
}

/** What follows the seed, and who places the actors. */
export interface Mix {
  readonly preset: PresetName
  readonly level: Level
}

/** The options of a seed. */
export const optionsOf = ({ level, preset }: Mix, seed: number): SimOptions => ({
  ...presets[preset](seed),
  level
})

/** Runs a seed. */
export const report = (mix: Mix, seed: number): SeedReport => {
  const { digest, evidence, tasks, violations } = run(seed, optionsOf(mix, seed))
  const { exchanges, faults, journal } = evidence
  return {
    seed,
    digest,
    virtual_s: evidence.end_us / s_us,
    tasks,
    answers: tallied(exchanges.map(({ kind, status }) => `${kind} ${status}`)),
    faults: Object.fromEntries(faults),
    lost: lossesOf(evidence),
    conflicts: journal.filter(({ tag }) => tag === "conflicted").length,
    violations
  }
}
