import type { Losses } from "./checkers/Ledger.ts"
import type { Mix, SeedReport } from "./SeedReport.ts"

/** Violations told of in full at most. */
const toldMax = 20

/** All seeds together. */
export interface Summary {
  seeds: number
  virtual_s: number
  readonly answers: Record<string, number>
  readonly faults: Record<string, number>
  readonly lost: { -readonly [K in keyof Losses]: number }
  conflicts: number
  violations: number
  /** Seeds that broke a promise, the first ones in the order of their ending. */
  readonly broken: Array<number>
}

/** Before any seed. */
export const empty = (): Summary => ({
  seeds: 0,
  virtual_s: 0,
  answers: {},
  faults: {},
  lost: { refills: 0, pools: 0, leases: 0, held: 0 },
  conflicts: 0,
  violations: 0,
  broken: []
})

const add = (sums: Record<string, number>, parts: Readonly<Record<string, number>>) => {
  for (const [name, count] of Object.entries(parts)) sums[name] = (sums[name] ?? 0) + count
}

/** Counts a seed in. */
export const count = (summary: Summary, report: SeedReport) => {
  summary.seeds++
  summary.virtual_s += report.virtual_s
  add(summary.answers, report.answers)
  add(summary.faults, report.faults)
  add(summary.lost as Record<string, number>, { ...report.lost })
  summary.conflicts += report.conflicts
  summary.violations += report.violations.length
  if (report.violations.length > 0 && summary.broken.length < toldMax) summary.broken.push(report.seed)
}

/** What is said of a seed that broke a promise, with the command that runs it again. */
export const toldOf = ({ seed, violations }: SeedReport, { level, preset }: Mix): string =>
  [
    `Seed ${seed} broke a promise (again with: npm run sim -- --seed ${seed} --preset ${preset} --level ${level} --trace)`,
    ...violations
      .slice(0, 5)
      .map(({ at_us, checker, text }) => `  ${(at_us / 1e6).toFixed(3)} s  ${checker}: ${text}`),
    ...(violations.length > 5 ? [`  and ${violations.length - 5} more`] : [])
  ].join("\n")

const rows = (title: string, counts: Readonly<Record<string, number>>) => {
  const names = Object.keys(counts).toSorted()
  return `${title}: ${names.length === 0 ? "none" : names.map((name) => `${name} ${counts[name]}`).join(", ")}`
}

/** The summary as text. */
export const told = (summary: Summary, elapsed_s: number): string =>
  [
    `${summary.seeds} seeds, ${(summary.virtual_s / 3600).toFixed(1)} virtual hours, ${(summary.seeds / elapsed_s).toFixed(1)} seeds/s`,
    rows("Answers", summary.answers),
    rows("Faults", summary.faults),
    rows("Keys lost", { ...summary.lost }),
    `Conflicts that the primary key caught: ${summary.conflicts}`,
    summary.violations === 0
      ? "Every promise was kept."
      : `${summary.violations} violations, in the seeds ${summary.broken.join(", ")}`
  ].join("\n")
