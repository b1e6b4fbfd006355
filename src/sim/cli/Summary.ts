import { Schema } from "effect"
import { tableOf, unmet } from "../report/Meetings.ts"
import { Recovery } from "../report/Recovery.ts"
import type { SeedReport } from "./SeedReport.ts"
import { s_us } from "../world/Time.ts"

/** Seeds that broke a promise, of which the numbers are kept at most. */
const brokenMax = 20

const Counts = Schema.mutable(Schema.Record({ key: Schema.String, value: Schema.Number }))

/** All seeds together. Counts are by name, as in `SeedReport`. */
export const Summary = Schema.mutable(
  Schema.Struct({
    seeds: Schema.Number,
    /** The sum of all seeds' digests, in whatever order they ended: 16 hexadecimal digits. Where those of two runs of the same seeds differ, so do the runs. */
    digest: Schema.String,
    virtual_s: Schema.Number,
    tasks: Schema.Number,
    answers: Counts,
    faults: Counts,
    crashes: Schema.Number,
    lost: Counts,
    conflicts: Schema.Number,
    /** How often which fault met which operation; see `Meetings`. And all operations that there were. */
    met: Counts,
    operations: Schema.mutable(Schema.Array(Schema.String)),
    /** Answers of stores that were compared with those of production, in how many seeds, and in how many to the end; see `ComparisonFigures`. */
    compared: Schema.mutable(
      Schema.Struct({ answers: Schema.Number, seeds: Schema.Number, whole: Schema.Number })
    ),
    /** The longest recovery after each kind of fault, and in which seed it was. */
    recoveries: Schema.mutable(
      Schema.Record({
        key: Schema.String,
        value: Schema.Struct({ ...Recovery.fields, seed: Schema.Number })
      })
    ),
    /** Violations, by the names of their checkers. */
    violations: Counts,
    /** Seeds that broke a promise: how many, and the first 20 in the order of their ending. */
    brokenSeeds: Schema.Number,
    broken: Schema.mutable(Schema.Array(Schema.Number))
  })
)
/** See {@link Summary}. */
export type Summary = typeof Summary.Type

/** Before any seed. */
export const empty = (): Summary => ({
  seeds: 0,
  digest: "0".repeat(16),
  virtual_s: 0,
  tasks: 0,
  answers: {},
  faults: {},
  crashes: 0,
  lost: {},
  conflicts: 0,
  met: {},
  operations: [],
  compared: { answers: 0, seeds: 0, whole: 0 },
  recoveries: {},
  violations: {},
  brokenSeeds: 0,
  broken: []
})

const add = (sums: Record<string, number>, parts: Readonly<Record<string, number>>) => {
  for (const [name, count] of Object.entries(parts)) sums[name] = (sums[name] ?? 0) + count
}

/** One digest of two, whichever comes first. */
const bothOf = (one: string, other: string) =>
  BigInt.asUintN(64, BigInt(`0x${one}`) + BigInt(`0x${other.slice(0, 16)}`))
    .toString(16)
    .padStart(16, "0")

/** Counts a seed in. */
export const count = (summary: Summary, report: SeedReport) => {
  summary.seeds++
  summary.digest = bothOf(summary.digest, report.digest)
  summary.virtual_s += report.virtual_s
  summary.tasks += report.tasks
  add(summary.answers, report.answers)
  add(summary.faults, report.faults)
  summary.crashes += report.crashes
  add(summary.lost, report.lost)
  summary.conflicts += report.conflicts
  add(summary.met, report.met)
  for (const operation of report.operations)
    if (!summary.operations.includes(operation)) summary.operations.push(operation)
  if (report.compared !== undefined) {
    const { answers, isWhole } = report.compared
    summary.compared.answers += answers
    summary.compared.seeds++
    if (isWhole) summary.compared.whole++
  }
  for (const recovery of report.recoveries) {
    const worst = summary.recoveries[recovery.fault]
    if (worst !== undefined && worst.recovery_ms >= recovery.recovery_ms) continue
    summary.recoveries[recovery.fault] = { ...recovery, seed: report.seed }
  }
  for (const { checker } of report.violations) add(summary.violations, { [checker]: 1 })
  if (report.violations.length === 0) return
  summary.brokenSeeds++
  if (summary.broken.length < brokenMax) summary.broken.push(report.seed)
}

const whole = new Intl.NumberFormat("en")

const row = (title: string, text: string) => `${title.padEnd(16)} ${text}`

const countsOf = (counts: Readonly<Record<string, number>>, among: (name: string) => boolean = () => true) =>
  Object.keys(counts)
    .filter(among)
    .toSorted()
    .map((name) => `${name} ${whole.format(counts[name]!)}`)
    .join(", ") || "none"

const answersOf = ({ answers }: Summary, kind: string) => {
  const of = Object.entries(answers).filter(([name]) => name.startsWith(`${kind} `))
  const all = of.reduce((sum, [, times]) => sum + times, 0)
  const told = of
    .toSorted(([, one], [, other]) => other - one)
    .map(
      ([name, times]) => `${name.slice(kind.length + 1).replace(/^0$/, "no answer")} × ${whole.format(times)}`
    )
  return all === 0 ? "none" : `${whole.format(all)}: ${told.join(", ")}`
}

const recoveriesOf = ({ recoveries }: Summary) => {
  const told = Object.values(recoveries)
    .toSorted((one, other) => other.recovery_ms - one.recovery_ms)
    .map(
      ({ ended_us, fault, recovery_ms, seed }) =>
        `${fault} ${(recovery_ms / 1_000).toFixed(2)} s (seed ${seed}, at ${(ended_us / s_us).toFixed(1)} s)`
    )
  return told.length === 0 ? "none measured" : told.join(", ")
}

const comparedOf = ({ compared: { answers, seeds, whole: toEnd } }: Summary) =>
  seeds === 0
    ? "none"
    : `${whole.format(answers)} answers of stores with those over SQL, in ${whole.format(seeds)} seeds, of which ${whole.format(toEnd)} to the end`

/** Pairs that never met, told by name at most. */
const unmetMax = 12

const meetingsOf = ({ faults, met, operations }: Summary): ReadonlyArray<string> => {
  const names = Object.keys(faults)
  const never = unmet(names, operations, met)
  const all = names.length * operations.length
  const [head = [], ...rows] = tableOf(names, operations, met)
  const told = never.slice(0, unmetMax).join(", ") + (never.length > unmetMax ? ", …" : "")
  const lined = (cells: ReadonlyArray<string>) =>
    `  ${cells.map((cell, column) => (column === 0 ? cell.padEnd(16) : cell.padStart(10))).join(" ")}`
  return [
    row(
      "Faults met",
      `${whole.format(all - never.length)} of ${whole.format(all)} pairs with an operation under way`
    ),
    ...(rows.length === 0 ? [] : [head, ...rows].map(lined)),
    row("Never met", never.length === 0 ? "none" : told)
  ]
}

/** The summary as text. `elapsed_s` is real time. */
export const told = (summary: Summary, elapsed_s: number): string =>
  [
    row(
      "Seeds",
      `${whole.format(summary.seeds)} in ${elapsed_s.toFixed(1)} s, ${(summary.seeds / elapsed_s).toPrecision(3)} seeds/s, ${(summary.virtual_s / 3_600).toFixed(2)} virtual hours`
    ),
    row("Digest", summary.digest),
    row("Creates", answersOf(summary, "create")),
    row("Redirects", answersOf(summary, "redirect")),
    row("Deletes", answersOf(summary, "delete")),
    row(
      "Crashes",
      `${whole.format(summary.crashes)}; failovers ${whole.format(summary.faults["redisFailover"] ?? 0)}`
    ),
    row("Faults", countsOf(summary.faults)),
    row("Keys lost", countsOf(summary.lost)),
    row("Conflicts caught", whole.format(summary.conflicts)),
    row("Compared", comparedOf(summary)),
    row("Worst recovery", recoveriesOf(summary)),
    ...meetingsOf(summary),
    summary.brokenSeeds === 0
      ? "Every promise was kept."
      : `Seeds that broke a promise: ${whole.format(summary.brokenSeeds)} (${countsOf(summary.violations)}): ${summary.broken.join(", ")}${summary.brokenSeeds > summary.broken.length ? ", …" : ""}`
  ].join("\n")
