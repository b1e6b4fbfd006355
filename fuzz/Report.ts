// What is told at the end of a run.

import { textTable } from "../src/terminal/TextTable.ts"
import type { Finding, Seen } from "./Campaign.ts"

/** What was seen of one start of the service. */
export interface Life extends Seen {
  readonly hasLimits: boolean
}

/** A whole run, as the line of JSON has it. */
export interface Report {
  readonly seed: number
  readonly seconds: number
  readonly lives: ReadonlyArray<Life>
}

/** Everything that is wrong. */
export const findingsOf = ({ lives }: Report): ReadonlyArray<Finding & Pick<Life, "hasLimits">> =>
  lives.flatMap(({ findings, hasLimits }) => findings.map((finding) => ({ ...finding, hasLimits })))

const sum = (figures: ReadonlyArray<number>): number => figures.reduce((total, figure) => total + figure, 0)

/** How often each class of status came, over all operations. */
export const classesOf = ({ lives }: Pick<Report, "lives">): Readonly<Record<string, number>> => {
  const classes: Record<string, number> = {}
  for (const { statuses } of lives) {
    for (const of of Object.values(statuses)) {
      for (const [status, times] of Object.entries(of)) {
        const name = status === "0" ? "cut off" : `${status[0]!}xx`
        classes[name] = (classes[name] ?? 0) + times
      }
    }
  }
  return classes
}

/** Operations by rows, statuses by columns. */
const table = ({ lives }: Report): string => {
  const rows = new Map<string, Map<string, number>>()
  for (const { statuses } of lives) {
    for (const [operation, of] of Object.entries(statuses)) {
      const row = rows.get(operation) ?? new Map<string, number>()
      rows.set(operation, row)
      for (const [status, times] of Object.entries(of)) row.set(status, (row.get(status) ?? 0) + times)
    }
  }
  const listed = [...new Set([...rows.values()].flatMap((row) => [...row.keys()]))].toSorted()
  return textTable([
    ["", ...listed.map((status) => (status === "0" ? "cut off" : status))],
    ...[...rows].map(([operation, row]) => [
      operation,
      ...listed.map((status) => String(row.get(status) ?? ""))
    ])
  ])
}

const toldOf = (finding: Finding & Pick<Life, "hasLimits">): string => {
  const { check, evidence, operation, path, seed, what } = finding
  return [
    `  ${check}: ${operation}: ${what}`,
    `    ${finding.case}`,
    ...(evidence === "" ? [] : [`    ${evidence.replaceAll("\n", "\n    ")}`]),
    `    again: npm run fuzz -- --seed ${seed} --requests 500 --limits ${finding.hasLimits ? "with" : "without"}${path === "" ? "" : ` (fast-check's path: ${path})`}`
  ].join("\n")
}

/** The report for people. */
export const told = (report: Report): string => {
  const { lives, seconds, seed } = report
  const findings = findingsOf(report)
  const worst = lives.toSorted((a, b) => b.busy_ms - a.busy_ms)[0]
  const most = (of: (life: Life) => number) => Math.max(0, ...lives.map(of))
  return [
    "",
    table(report),
    "",
    `Seed ${seed}, ${Math.round(seconds)} s; ${sum(lives.map(({ cases }) => cases))} requests (${sum(lives.map(({ requests }) => requests))} with each of those that were sent at once), ${sum(lives.filter(({ hasLimits }) => hasLimits).map(({ cases }) => cases))} of them under default limits`,
    `Answers: ${Object.entries(classesOf(report))
      .toSorted()
      .map(([name, times]) => `${name} ${times}`)
      .join(", ")}; the largest refusal has ${most(({ refused_bytes }) => refused_bytes)} bytes`,
    `A redirect beside waited ${most(({ wait_ms }) => wait_ms).toFixed(0)} ms at worst, in which the event loop was busy for ${most(({ busy_ms }) => busy_ms).toFixed(0)} ms${worst === undefined ? "" : ` (${worst.busiest})`}; delay of the event loop by its own account: ${most(({ lag_ms }) => lag_ms).toFixed(0)} ms`,
    `Resident memory of each start, after its first batch → at its end (peak): ${lives
      .map(
        ({ rss_MB: { after, before, peak } }) =>
          `${before.toFixed(0)} → ${after.toFixed(0)} MB (${peak.toFixed(0)})`
      )
      .join(", ")}`,
    "",
    ...(findings.length === 0 ? ["Nothing is wrong."] : ["WRONG:", ...findings.map(toldOf)]),
    ""
  ].join("\n")
}
