// What is told at the end of a run.

import { textTable } from "../src/terminal/TextTable.ts"
import type { LostBound, Resolved } from "./Checks.ts"
import { total } from "./Checks.ts"
import { type FaultKind, faultKinds } from "./FaultKind.ts"
import type { Ledger } from "./Ledger.ts"
import { type Operation, operations, type Phase, type Tally, type Violation } from "./Observed.ts"
import type { Froze, Harm, Recovery, Redirects, Takeover } from "./World.ts"

/** Everything that a run found, as the line of JSON has it. */
export interface Report {
  readonly seed: number
  readonly seconds: number
  readonly acknowledged: number
  readonly unacknowledged: number
  /** Links that were acknowledged and that PostgreSQL has forgotten, where it may. */
  readonly forgotten: number
  readonly skipped: number
  readonly phases: Readonly<Record<string, Readonly<Record<Operation, Tally>>>>
  readonly failures: Readonly<Record<string, number>>
  readonly recoveries: ReadonlyArray<Recovery>
  readonly takeovers: ReadonlyArray<Takeover>
  readonly freezes: ReadonlyArray<Froze>
  /** Over failovers to a standby that has every commit; null: there were none. */
  readonly redirectsThroughFailovers: Redirects | null
  readonly redirectsThroughKills: Tally
  /** Nodes that were killed meanwhile. */
  readonly kills: number
  readonly resolved: Readonly<Record<string, Resolved>>
  readonly harm: Harm
  readonly ledger: Ledger
  readonly lostMax: LostBound
  readonly conflicts: number
  /** Lines of the nodes' logs that tell of a broken actor or request, or of keys that could not be returned: the first few. */
  readonly troubles: ReadonlyArray<string>
  readonly violations: ReadonlyArray<Violation>
  readonly violationsUntold: number
}

const percent = ({ answered, sent }: Tally) =>
  sent === 0 ? "–" : `${((100 * answered) / sent).toFixed(3)} %`

const added = (tallies: ReadonlyArray<Tally>): Tally =>
  tallies.reduce(
    (sum, { answered, sent }) => ({ sent: sum.sent + sent, answered: sum.answered + answered }),
    { sent: 0, answered: 0 }
  )

const seconds = (times_ms: ReadonlyArray<number | null>): readonly [p50: string, max: string] => {
  if (times_ms.length === 0) return ["–", "–"]
  const sorted = times_ms.map((time) => time ?? Number.POSITIVE_INFINITY).toSorted((a, b) => a - b)
  const told = (time: number) => (Number.isFinite(time) ? `${(time / 1_000).toFixed(1)} s` : "never")
  return [told(sorted[Math.floor((sorted.length - 1) / 2)]!), told(sorted.at(-1)!)]
}

/** How many of how many were not answered right. */
const failedOf = ({ answered, sent }: Tally) => (sent === 0 ? "" : `${sent - answered}/${sent}`)

const table = ({ phases, recoveries }: Report): string => {
  const row = (
    name: string,
    tallies: ReadonlyArray<Report["phases"][string]>,
    of: ReadonlyArray<Recovery>
  ) => {
    const promoted = of.flatMap(({ promoted_ms }) => (promoted_ms === null ? [] : [promoted_ms]))
    const times: ReadonlyArray<ReadonlyArray<number | null>> = [
      promoted,
      of.map((one) => one.recover_ms),
      of.map((one) => one.settle_ms)
    ]
    const longest = Math.max(0, ...of.flatMap(({ outages }) => outages.map(({ ms }) => ms)))
    return [
      name,
      of.length === 0 ? "" : String(of.length),
      ...operations.map((operation) => failedOf(added(tallies.map((tally) => tally[operation])))),
      ...times.map((some) => (some.length === 0 ? "" : seconds(some).join(", "))),
      of.length === 0 ? "" : seconds([longest])[1]
    ]
  }
  const tallyOf = (phase: Phase) => (phases[phase] === undefined ? [] : [phases[phase]])
  const happened = faultKinds.filter((kind) => recoveries.some((one) => one.kind === kind))
  return textTable([
    [
      "failed of sent:",
      "faults",
      "hot redirects",
      "cold redirects",
      "creates",
      "changes",
      "promoted p50, max",
      "recovered p50, max",
      "settled p50, max",
      "longest outage"
    ],
    ...happened.map((kind: FaultKind) =>
      row(
        kind,
        tallyOf(kind),
        recoveries.filter((one) => one.kind === kind)
      )
    ),
    row("calm", tallyOf("calm"), []),
    row("all", Object.values(phases), recoveries)
  ])
}

/** The report for people. */
export const told = (report: Report): string => {
  const { conflicts, harm, ledger, lostMax, redirectsThroughKills, takeovers, violations } = report
  const failures = Object.entries(report.failures).map(([what, times]) => `  ${what} ×${times}`)
  const parts = Object.entries(lostMax).map(([what, keys]) => `${what} ${keys}`)
  return [
    "",
    table(report),
    "",
    `Seed ${report.seed}, ${report.seconds} s; ${report.acknowledged} creates acknowledged, ${report.unacknowledged} not; ${report.forgotten} forgotten by PostgreSQL, where it may; ${report.skipped} turns skipped for want of a free client`,
    `Redirects through ${report.kills} × kill -9: ${redirectsThroughKills.answered} of ${redirectsThroughKills.sent} answered right (${percent(redirectsThroughKills)})`,
    ...(report.redirectsThroughFailovers === null ? [] : [report.redirectsThroughFailovers]).map(
      ({ cold, hot, kind }) =>
        `Redirects through ${kind}: hot ${hot.answered} of ${hot.sent} answered right (${percent(hot)}), cold ${cold.answered} of ${cold.sent} (${percent(cold)})`
    ),
    ...report.freezes.map(
      ({ back_ms, backends, counted_ms, held_ms, kind, target, visits }) =>
        `${kind} of ${target}: at most ${backends} connections, transaction kept open for ${held_ms} ms, ${visits} visits of the others counted within ${counted_ms ?? "more than"} ms, ready ${back_ms ?? "more than 60,000"} ms after it went on`
    ),
    `Resolved past the load balancer: ${Object.entries(report.resolved)
      .map(([node, { askedAgain, right }]) => `${node} ${right} (${askedAgain} asked again)`)
      .join(", ")} of ${report.acknowledged}`,
    `Takeovers: ${takeovers.map(({ poolShard, refused, takeover_ms }) => `pool shard ${poolShard} in ${takeover_ms} ms, ${refused} refused`).join("; ") || "none"}`,
    `Ledger: minted ${ledger.minted} = stocked ${ledger.stocked} + pooled ${ledger.pooled} + recorded ${ledger.recorded} + bound ${ledger.bound} + lost ${ledger.lost}; ${ledger.returned} bound keys stand in a pool`,
    `Lost at most: ${total(lostMax)} (${parts.join(", ")}); harm: ${JSON.stringify(harm)}`,
    `Conflicts caught by the primary key: ${conflicts} (by the nodes' logs)`,
    ...(failures.length === 0 ? [] : ["Requests that failed:", ...failures]),
    ...(report.troubles.length === 0
      ? []
      : ["The nodes complained:", ...report.troubles.map((line) => `  ${line.slice(0, 300)}`)]),
    "",
    ...(violations.length === 0
      ? ["All promises held."]
      : [
          "BROKEN:",
          ...violations.map(({ evidence, promise }) => `  ${promise}: ${evidence}`),
          ...(report.violationsUntold === 0 ? [] : [`  and ${report.violationsUntold} more`])
        ]),
    ""
  ].join("\n")
}
