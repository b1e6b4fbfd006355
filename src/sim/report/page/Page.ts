import { Array as Arr } from "effect"
import { ms_us, s_us } from "../../world/Time.ts"
import type { RunResult } from "../../Run.ts"
import type { Mix, SeedReport } from "../../cli/SeedReport.ts"
import { momentOf } from "../Events.ts"
import { commandOf, hasChanges } from "../Replay.ts"
import { groupsOf } from "./lanes.ts"
import { Markup, markup } from "./Markup.ts"
import { nodeColours } from "./OwnerLanes.ts"
import { picture } from "./Picture.ts"
import { script } from "./script.ts"
import { tableOf } from "../Meetings.ts"
import { style } from "./style.ts"

/** Violations that are told of, and moments of violations that are marked in every lane, at most. */
const toldMax = 50
const markedMax = 50

const fact = (name: string, value: string | number | Markup, more = "", look = ""): Markup =>
  markup`<div class="${look}"><dt>${name}</dt><dd>${value}${more === "" ? "" : markup`<small>${more}</small>`}</dd></div>`

const countsOf = (counts: Readonly<Record<string, number>>) =>
  Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(", ")

const total = (counts: Readonly<Record<string, number>>) =>
  Object.values(counts).reduce((sum, count) => sum + count, 0)

const facts = (
  { evidence: { options } }: RunResult,
  report: SeedReport,
  { level, preset }: Mix,
  commit: string
) => {
  const worst = report.recoveries.toSorted((one, other) => other.recovery_ms - one.recovery_ms)[0]
  const { bufferCapacity, nodes, poolHigh, poolLow, pools, workload } = options
  return markup`<dl class="facts">
${fact("Preset, level", `${preset}, ${level}`)}
${fact("Deployment", `${nodes} nodes, ${pools} pool shards`, `buffers of ${bufferCapacity}, pools ${poolLow} to ${poolHigh}`)}
${fact("Time", `${options.faulty_s} s faulty, ${options.calm_s} s calm, ${options.still_s} s without clients`, `${workload.clients} clients`)}
${fact("Keys lost", total(report.lost), countsOf(report.lost))}
${fact("Conflicts caught", report.conflicts)}
${worst === undefined ? [] : fact("Worst recovery", `${(worst.recovery_ms / 1_000).toFixed(2)} s`, `${worst.fault}, at ${(worst.ended_us / s_us).toFixed(1)} s`)}
${fact("Requests", total(report.answers), countsOf(report.answers), "wide")}
${fact("Faults", total(report.faults), `${countsOf(report.faults)}; ${report.crashes} crashes`, "wide")}
${fact("Commit and digest", markup`<code>${commit}</code>`, report.digest, "wide")}
</dl>`
}

type ToldViolation = SeedReport["violations"][number]

const violation = ({ at_us, checker, text, timeline }: ToldViolation): Markup => markup`
<li><b>${checker}</b> at ${momentOf(at_us)} <button data-at="${at_us / ms_us}">show</button><br>${text}
${timeline.length === 0 ? [] : markup`<details><summary>what happened around it</summary><pre>${timeline.join("\n")}</pre></details>`}</li>`

/** The first of each checker in full, the others when they are asked for. */
const violations = (report: SeedReport): Markup => {
  const { length } = report.violations
  if (length === 0) return markup``
  const told = report.violations.slice(0, toldMax)
  const [others, firsts] = Arr.partition(told, ({ timeline }) => timeline.length > 0)
  const more = length - told.length
  return markup`<h2>${length === 1 ? "A promise was broken" : `${length} violations`}</h2>
<ul class="violation-list">${firsts.map(violation)}</ul>
${others.length === 0 ? [] : markup`<details><summary>${length - firsts.length} more</summary><ul class="violation-list">${others.map(violation)}</ul>${more > 0 ? `and ${more} more` : ""}</details>`}`
}

/** Which fault met how many of the operations of whom. */
const meetings = ({ faults, met, operations }: SeedReport): Markup => {
  const [head = [], ...rows] = tableOf(Object.keys(faults), operations, met)
  return rows.length === 0
    ? markup``
    : markup`<h2>What was under way when faults struck</h2>
<table><tr>${head.map((cell) => markup`<th>${cell}</th>`)}</tr>${rows.map((cells) => markup`<tr>${cells.map((cell) => markup`<td>${cell}</td>`)}</tr>`)}</table>
<details><summary>which</summary><p>${Object.keys(met).toSorted().join(", ")}</p></details>`
}

const swatch = (name: string, colour: string) =>
  markup`<span><i style="background:var(--${colour})"></i>${name}</span>`

const legend = (nodes: number) => markup`<div class="legend">
${swatch("up", "up")}${swatch("draining", "draining")}${swatch("paused", "paused")}${swatch("fault", "fault")}
${swatch("creates", "creates")}${swatch("redirects and deletes", "redirects")}${swatch("failed, killed, violations", "bad")}${swatch("all faults end", "good")}
${Array.from({ length: Math.min(nodes, nodeColours) }, (_, number) => swatch(`node-${number}`, `n${number}`))}
</div>`

const tools = markup`<div class="tools">
<button data-act="in">+</button><button data-act="out">−</button><button data-act="left">◀</button><button data-act="right">▶</button>
<button data-act="all">whole run</button><span>Drag to zoom in, Ctrl and the wheel to zoom, double click to see all.</span></div>`

/** A page that shows one run: it stands alone and loads nothing. `result` is to have its trace. */
export const pageOf = (result: RunResult, report: SeedReport, mix: Mix, commit: string): string => {
  const { end_us, healed_us, options } = result.evidence
  const count = result.violations.length
  const violations_us = Array.from(new Set(result.violations.map(({ at_us }) => at_us))).slice(0, markedMax)
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>Simulation, seed ${report.seed}</title>
<style>${new Markup(style)}</style>
</head>
<body>
<header><h1>Simulation, seed ${report.seed}</h1>
<span class="verdict ${count === 0 ? "kept" : "broken"}">${count === 0 ? "every promise kept" : `${count} violations`}</span></header>
${facts(result, report, mix, commit)}
<pre>${commandOf(report.seed, mix)}</pre>
${violations(report)}
<h2>The run</h2>
${tools}
${legend(options.nodes)}
${picture(groupsOf(result), { end_us, healed_us, violations_us })}
${meetings(report)}
<h2>Options</h2>
${hasChanges(mix.changes) ? markup`<p>Different from the preset:</p><pre>${JSON.stringify(mix.changes, null, 2)}</pre>` : []}
<details><summary>all of them</summary><pre>${JSON.stringify(options, null, 2)}</pre></details>
<script>${new Markup(script)}</script>
</body>
</html>
`.text
}
