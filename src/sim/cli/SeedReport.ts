import { Either, Schema } from "effect"
import * as Changes from "../clients/Changes.ts"
import { type Losses, lossesOf } from "../checkers/keys/Ledger.ts"
import { Level, type SimOptions } from "./Options.ts"
import { type PresetName, presets } from "../presets/Presets.ts"
import { withDatabases } from "../presets/Databases.ts"
import { Recovery, recoveriesOf, worstOf } from "../report/Recovery.ts"
import { timelineOf } from "../report/Timeline.ts"
import { run, type RunResult } from "../Run.ts"
import { s_us } from "../world/Time.ts"

const Counts = Schema.Record({ key: Schema.String, value: Schema.Number })

/** A promise that was not kept, as a report has it; see `Violation`. */
const ToldViolation = Schema.Struct({
  checker: Schema.String,
  at_us: Schema.Number,
  text: Schema.String,
  keys: Schema.Array(Schema.String),
  /** What happened around it, a line an event; of the first violation that a checker found, and of three checkers at most. */
  timeline: Schema.Array(Schema.String)
})

/** What is told of a seed. */
export const SeedReport = Schema.Struct({
  seed: Schema.Number,
  digest: Schema.String,
  virtual_s: Schema.Number,
  tasks: Schema.Number,
  /** How often clients got which answer, such as `create 201`; status 0 is none. */
  answers: Counts,
  /** How many faults of each kind there were; `crash point` among them. */
  faults: Counts,
  /** Processes that were killed. */
  crashes: Schema.Number,
  /** Keys lost, by what became of them; see `Losses`. */
  lost: Counts,
  /** Inserts that found their key bound by another create; aliases do not count. */
  conflicts: Schema.Number,
  /** How often which fault met which operation; see `Meetings`. And all operations that there were. */
  met: Counts,
  operations: Schema.Array(Schema.String),
  /** How the database's stores were compared with those of production, if they were; see `ComparisonFigures`. */
  compared: Schema.optional(Schema.Struct({ answers: Schema.Number, isWhole: Schema.Boolean })),
  /** The longest recovery after each kind of fault. */
  recoveries: Schema.Array(Recovery),
  violations: Schema.Array(ToldViolation)
})
/** See {@link SeedReport}. */
export type SeedReport = typeof SeedReport.Type

/** Checkers of whose first violation a time line is told at most. */
const timelinesMax = 3

const tallied = (names: ReadonlyArray<string>): Record<string, number> => {
  const tally: Record<string, number> = {}
  for (const name of names) tally[name] = (tally[name] ?? 0) + 1
  return tally
}

/** What follows the seed, who places the actors, and what is different from that. */
export interface Mix {
  readonly preset: PresetName
  readonly level: Level
  /** How many databases have links, whatever the preset draws. */
  readonly databases?: number | undefined
  readonly changes: Changes.Changes
}

/** What a mix makes of a seed before its changes. */
export const unchanged = ({ databases, level, preset }: Omit<Mix, "changes">, seed: number): SimOptions => {
  const drawn = { ...presets[preset](seed), level }
  return databases === undefined ? drawn : withDatabases(drawn, databases, seed)
}

/** The options of a seed; what is wrong with the changes comes as text. */
export const checkedOptionsOf = (mix: Mix, seed: number): Either.Either<SimOptions, string> =>
  Changes.applied(unchanged(mix, seed), mix.changes)

/** The options of a seed. Throws where the changes do not fit. */
export const optionsOf = (mix: Mix, seed: number): SimOptions =>
  Either.getOrThrowWith(checkedOptionsOf(mix, seed), (text) => new Error(text))

/** Told of a run; `traced` is the same one with its trace. */
export const reportOf = (result: RunResult, traced: () => RunResult): SeedReport => {
  const { digest, evidence, seed, tasks, violations } = result
  const { exchanges, faults, journal } = evidence
  const full = violations.length > 0 ? traced() : result
  const lost: Losses = lossesOf(evidence)
  const firsts = Array.from(new Map(violations.toReversed().map((one) => [one.checker, one])).values())
  const withTimeline = new Set(firsts.toReversed().slice(0, timelinesMax))
  return {
    seed,
    digest,
    virtual_s: evidence.end_us / s_us,
    tasks,
    answers: tallied(exchanges.map(({ kind, status }) => `${kind} ${status}`)),
    faults: Object.fromEntries(faults),
    crashes: journal.filter(({ tag }) => tag === "killed").length,
    lost: { ...lost },
    conflicts: journal.filter((entry) => entry.tag === "conflicted" && !entry.link.custom).length,
    met: Object.fromEntries(evidence.met),
    operations: Array.from(evidence.operations),
    compared: evidence.compared,
    recoveries: worstOf(recoveriesOf(evidence)),
    violations: violations.map((violation) => ({
      ...violation,
      timeline: withTimeline.has(violation) ? timelineOf(full, violation) : []
    }))
  }
}

/** Runs a seed, and once more with its trace when a promise was broken. */
export const report = (mix: Mix, seed: number): SeedReport => {
  const options = optionsOf(mix, seed)
  return reportOf(run(seed, options), () => run(seed, options, { keepTrace: true }))
}
