// What a run found, for people.

import { textTable } from "../src/terminal/TextTable.ts"
import { isMet, type Found, type Goal, type Result, type Row } from "./Case.ts"
import type { Machine } from "./Machine.ts"

/** A whole run: the file of results is this, as JSON. */
export interface Report {
  /** When it began: ISO 8601. */
  readonly at: string
  readonly machine: Machine
  readonly seconds: number
  readonly results: ReadonlyArray<Result>
}

const figure = (value: number): string => {
  if (value >= 100) return Math.round(value).toLocaleString("en")
  return value.toFixed(value >= 10 ? 1 : 2)
}

const orDash = (value: number | null, text: (value: number) => string = figure): string =>
  value === null ? "–" : text(value)

const columns = [
  "what",
  "median",
  "spread",
  "p50 ms",
  "p99 ms",
  "p99.9 ms",
  "held ms",
  "ratio",
  "CPU µs",
  "PostgreSQL µs",
  "load µs",
  "RSS MB",
  "errors"
]

const cells = (row: Row): ReadonlyArray<string> => [
  row.subject,
  `${figure(row.median)} ${row.unit}`,
  row.rounds.length < 2 ? "–" : `${figure(Math.min(...row.rounds))} – ${figure(Math.max(...row.rounds))}`,
  orDash(row.p50_ms),
  orDash(row.p99_ms),
  orDash(row.p999_ms),
  orDash(row.held_ms),
  orDash(row.ratio, (ratio) => ratio.toFixed(2)),
  orDash(row.cpu_us),
  orDash(row.databaseCpu_us),
  orDash(row.loadCpu_us),
  orDash(row.rss_MB),
  row.errors === 0 ? "–" : String(row.errors)
]

const verdict = ({ met, mustReach, reached }: Goal): string =>
  `${met ? "met" : "NOT MET"}: ${mustReach}; reached ${reached}`

const linesOf = (found: Found): ReadonlyArray<string> => [
  textTable([columns, ...found.rows.map(cells)]).replaceAll(/^/gm, "  "),
  ...found.notes.map((note) => `  ${note}`),
  ...found.goals.map((goal) => `  ${verdict(goal)}`)
]

/** One case, for the terminal. */
export const told = ({ failure, found, name, seconds, title }: Result): string =>
  [
    `${name}: ${title} (${seconds.toFixed(0)} s)`,
    ...(found === null ? [`  FAILED: ${failure}`] : linesOf(found))
  ].join("\n")

/** The last line. */
export const summary = (results: ReadonlyArray<Result>): string => {
  const names = (some: ReadonlyArray<Result>) => some.map(({ name }) => name).join(", ")
  const failed = results.filter(({ found }) => found === null)
  const missed = results.filter((result) => result.found !== null && !isMet(result))
  return [
    `${results.length - failed.length - missed.length} of ${results.length} cases met what they must reach`,
    ...(missed.length > 0 ? [`not met: ${names(missed)}`] : []),
    ...(failed.length > 0 ? [`failed: ${names(failed)}`] : [])
  ].join("; ")
}

const markdownRow = (row: ReadonlyArray<string>) => `| ${row.join(" | ")} |`

const markdownOf = ({ failure, found, name, title }: Result): ReadonlyArray<string> => [
  "",
  `### ${title} (\`${name}\`)`,
  "",
  ...(found === null
    ? [`**Failed**: ${failure?.split("\n")[0]}`]
    : [
        markdownRow(columns),
        markdownRow(columns.map((_, column) => (column === 0 ? "---" : "--:"))),
        ...found.rows.map((row) => markdownRow(cells(row))),
        "",
        ...found.notes,
        ...(found.goals.length > 0 && found.notes.length > 0 ? [""] : []),
        ...found.goals.map(
          ({ met, mustReach, reached }) =>
            `- **${met ? "met" : "not met"}**: ${mustReach}; reached ${reached}`
        )
      ])
]

/** The part of BENCHMARKS.md that is made by a run. */
export const markdown = ({ at, machine, results, seconds }: Report): string =>
  [
    `Measured on ${at.slice(0, 10)} at commit ${machine.commit}, in ${Math.round(seconds / 60)} minutes: ${machine.cores} cores of ${machine.cpu}, ` +
      `${machine.memory_GB} GB, Linux ${machine.kernel}, Node ${machine.node}, PostgreSQL ${machine.postgres}; load from ${machine.load}, one thread, ` +
      `on the same machine. Processes that wanted a core when it began: ${machine.busy}.`,
    "",
    `**${summary(results)}.**`,
    ...results.flatMap(markdownOf)
  ].join("\n")

const begin = "<!-- results -->"
const end = "<!-- /results -->"

/** A document with its part between the marks replaced; behind its end where it has no marks yet. */
export const inserted = (document: string, part: string): string => {
  const marked = `${begin}\n\n${part}\n\n${end}`
  const [from, to] = [document.indexOf(begin), document.indexOf(end)]
  return from < 0 || to < from
    ? `${document.trimEnd()}\n\n${marked}\n`
    : `${document.slice(0, from)}${marked}${document.slice(to + end.length)}`
}
