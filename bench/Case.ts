// What a case of the benchmark is, and what comes of it.

import type { Effect, Scope } from "effect"
import type { Unavailable } from "../test/support/services/Service.ts"
import type { Ground } from "./Ground.ts"

/** What was measured of one subject. */
export interface Row {
  readonly subject: string
  /** What is counted: `redirects/s`, `ms`. */
  readonly unit: string
  /** One figure a round, in the order of the rounds. */
  readonly rounds: ReadonlyArray<number>
  readonly median: number
  readonly p50_ms: number | null
  readonly p99_ms: number | null
  readonly p999_ms: number | null
  /** Median of what the rounds were of the reference's round beside them. */
  readonly ratio: number | null
  /** How long the event loop of the subject's processes was held at most while it was measured. */
  readonly held_ms: number | null
  /** CPU time of the subject's own processes for one of what is counted, in microseconds. */
  readonly cpu_us: number | null
  /** The same of PostgreSQL. */
  readonly databaseCpu_us: number | null
  /** The same of the load generator, which shares the machine's cores. */
  readonly loadCpu_us: number | null
  /** Resident memory of the subject's processes when all was done. */
  readonly rss_MB: number | null
  /** Answers that were not as they should be, and requests without one. */
  readonly errors: number
}

/** Something that must be reached, and what was. */
export interface Goal {
  readonly mustReach: string
  readonly reached: string
  readonly met: boolean
}

/** What a case found. */
export interface Found {
  readonly rows: ReadonlyArray<Row>
  readonly goals: ReadonlyArray<Goal>
  /** What one should know to read the figures. */
  readonly notes: ReadonlyArray<string>
}

/** One thing that is measured beside its reference. */
export interface Case {
  /** For `--case`. */
  readonly name: string
  readonly title: string
  readonly run: (ground: Ground) => Effect.Effect<Found, Unavailable, Scope.Scope>
}

/** A case after its run: what it found, or why it found nothing. */
export interface Result {
  readonly name: string
  readonly title: string
  readonly seconds: number
  readonly found: Found | null
  readonly failure: string | null
}

/** Whether a case ran, and all that it must reach was reached. */
export const isMet = ({ found }: Result): boolean => found !== null && found.goals.every(({ met }) => met)

/** A goal for a figure that must be at least `least`. `errors` spoil it. */
export const atLeast = (what: string, least: number, figure: number, errors = 0): Goal => ({
  mustReach: `${what} ≥ ${least}`,
  reached: `${figure.toFixed(2)}${errors > 0 ? `, with ${errors} errors` : ""}`,
  met: figure >= least && errors === 0
})

/** The goals that the program's ratio to the reference be at least `least`, where the rows are the reference's, and the program's on PostgreSQL and on SQLite. */
export const ratiosAtLeast = (
  least: number | Readonly<Record<"PostgreSQL" | "SQLite", number>>,
  [, postgres, sqlite]: ReadonlyArray<Row>
): ReadonlyArray<Goal> => {
  const of = typeof least === "number" ? { PostgreSQL: least, SQLite: least } : least
  return [
    atLeast("ratio on PostgreSQL", of.PostgreSQL, postgres!.ratio!, postgres!.errors),
    atLeast("ratio on SQLite", of.SQLite, sqlite!.ratio!, sqlite!.errors)
  ]
}

/** A goal for a figure that must be at most `most`. */
export const atMost = (what: string, most: number, unit: string, figure: number, errors = 0): Goal => ({
  mustReach: `${what} ≤ ${most}${unit}`,
  reached: `${figure.toFixed(2)}${unit}${errors > 0 ? `, with ${errors} errors` : ""}`,
  met: figure <= most && errors === 0
})
