import { Number as Numbers } from "effect"
import type { ActorPlace } from "../../actors/ActorPlaces.ts"
import type { PoolMarks } from "../../actors/keys/PoolShardLive.ts"
import * as Iso8601 from "../../model/Iso8601.ts"
import type { KeyMinter } from "../../keys/KeyMinter.ts"
import { lengthMax } from "../../keys/KeySpace.ts"
import type { NodeReport } from "../../model/NodeReport.ts"
import { type Regression, sinceUnknown } from "../../storage/nodes/DatabaseMark.ts"
import type { KeyCounts } from "../../storage/keys/KeyLedger.ts"
import type { Heard } from "../../storage/nodes/NodeReports.ts"
import type { Seen } from "../../storage/nodes/RunnersSeen.ts"
import type { ClusterBody } from "../contract/ClusterApi.ts"
import type { KeyLevels, RangeLevel } from "./KeyLevels.ts"
import { type Rates, perSecond, quantile_ms, type Stretch } from "./Rates.ts"

/** A node reports each second. One without a report for longer counts as silent. */
const silentAfter_ms = 3_000

/** The stores' answers at one moment: `null` where a store did not answer. */
export interface Found {
  readonly at: number
  readonly heard: ReadonlyArray<Heard> | null
  readonly seen: Seen | null
  readonly levels: KeyLevels
  readonly regressions: ReadonlyArray<Regression> | null
}

/** What stays the same while this node runs. */
export interface Ground {
  readonly answeredBy: string
  readonly places: ReadonlyArray<ActorPlace>
  readonly marks: PoolMarks
  readonly minter: typeof KeyMinter.Service
}

type Node = NonNullable<ClusterBody["nodes"]>[number]

const stateOf = ({ age_ms, report }: Heard, seen: Seen | null): Node["state"] => {
  const isLost = report.role === "all" && seen?.unhealthy.has(report.address) === true
  if (age_ms > silentAfter_ms || isLost) return "silent"
  return report.isStopping ? "stopping" : "up"
}

/** The nodes and their states, without earlier starts of nodes that run again. */
const nodesOf = (heard: ReadonlyArray<Heard>, seen: Seen | null) => {
  const all = heard.map((one) => ({ ...one, state: stateOf(one, seen) }))
  const living = new Set(
    all.filter(({ state }) => state !== "silent").map(({ report: { address } }) => address)
  )
  return all
    .filter(({ report, state }) => state !== "silent" || !living.has(report.address))
    .toSorted((a, b) => a.report.address.localeCompare(b.report.address, "en", { numeric: true }))
}

const nodeBody = (
  { age_ms, report, state }: ReturnType<typeof nodesOf>[number],
  stretch: Stretch | undefined
): Node => {
  const { address, bufferedKeys, cachedLinks, id, role, uptime_ms, version = null } = report
  const pace = (valueOf: (report: NodeReport) => number) =>
    state === "silent" ? 0 : perSecond(stretch, valueOf)
  return {
    id,
    address,
    role,
    version,
    state,
    silentSeconds: age_ms / 1_000,
    uptimeSeconds: uptime_ms / 1_000,
    bufferedKeys,
    cachedLinks,
    requestsPerSecond: pace(({ totals }) => totals.requests),
    linksPerSecond: pace(({ linksCreated }) => linksCreated)
  }
}

const trafficOf = (stretches: ReadonlyArray<Stretch>): NonNullable<ClusterBody["traffic"]> => {
  const sum = (valueOf: (report: NodeReport) => number) =>
    stretches.length === 0
      ? null
      : stretches.reduce((sum, stretch) => sum + (perSecond(stretch, valueOf) ?? 0), 0)
  const latency = (kind: "creates" | "redirects") => ({
    p50Ms: quantile_ms(stretches, ({ totals }) => totals[kind], 0.5),
    p99Ms: quantile_ms(stretches, ({ totals }) => totals[kind], 0.99)
  })
  return {
    requestsPerSecond: sum(({ totals }) => totals.requests),
    errorsPerSecond: sum(({ totals }) => totals.errors),
    redirectsPerSecond: sum(({ totals }) => totals.redirects.count),
    linksPerSecond: sum(({ linksCreated }) => linksCreated),
    redirects: latency("redirects"),
    creates: latency("creates")
  }
}

/** Each range at the longest key length that it has opened. */
const rangesOf = (levels: ReadonlyArray<RangeLevel>, { minter }: Ground) =>
  Array.from({ length: minter.ranges }, (_, range) => {
    const untouched = {
      range,
      length: minter.space.length,
      minted: 0,
      remaining: minter.spanOf(minter.space.length, range)
    }
    return levels
      .filter((slot) => slot.range === range)
      .reduce((greatest, slot) => (slot.length >= greatest.length ? slot : greatest), untouched)
  })

/** When the shortest keys that are left will be used up, at the nodes' average rate since they started. */
const forecastOf = (
  levels: ReadonlyArray<RangeLevel>,
  reports: ReadonlyArray<NodeReport>,
  { minter }: Ground
): NonNullable<ClusterBody["forecast"]> => {
  const at = (length: number) => {
    const total = Numbers.sumAll(
      Array.from({ length: minter.ranges }, (_, range) => minter.spanOf(length, range))
    )
    const minted = Numbers.sumAll(levels.map((slot) => (slot.length === length ? slot.minted : 0)))
    return { length, total, remaining: total - minted }
  }
  let left = at(minter.space.length)
  while (left.remaining === 0 && left.length < lengthMax) left = at(left.length + 1)
  const linksPerSecond = Numbers.sumAll(
    reports.map(({ linksCreated, uptime_ms }) => (1_000 * linksCreated) / Math.max(1_000, uptime_ms))
  )
  return {
    ...left,
    linksPerSecond,
    exhaustedInSeconds: linksPerSecond === 0 ? null : left.remaining / linksPerSecond
  }
}

/** The ledger as it was when the keys were counted; `null` if a store did not answer. */
export const ledgerOf = (counts: KeyCounts, { at, heard, levels, seen }: Found): ClusterBody["ledger"] => {
  if (heard === null) return null
  let pooled = 0
  for (const { level } of levels.pools) {
    if (level === null) return null
    pooled += level
  }
  const buffered = nodesOf(heard, seen)
    .filter(({ state }) => state !== "silent")
    .reduce((sum, { report }) => sum + report.bufferedKeys, 0)
  const { bound, minted, quarantined, stocked } = counts
  const rest = Math.max(0, minted - bound - quarantined - stocked - pooled - buffered)
  return { countedAt: Iso8601.formatMoment(at), minted, bound, quarantined, stocked, pooled, buffered, rest }
}

/** The picture, from the stores' answers. */
export const bodyOf = (
  found: Found,
  paces: Rates,
  ground: Ground
): Omit<ClusterBody, "ledger" | "ledgerNote" | "databaseWarnings"> => {
  const { at, heard, levels, regressions, seen } = found
  const nodes = heard === null ? null : nodesOf(heard, seen)
  const living = nodes?.filter(({ state }) => state !== "silent").map(({ report }) => report)
  const known = new Set(nodes?.map(({ report }) => report.id))
  const ownerOf = ({ shard }: ActorPlace) => {
    const owner = seen?.ownerOf(shard)
    return owner !== undefined && known.has(owner) ? owner : null
  }
  return {
    at: Iso8601.formatMoment(at),
    answeredBy: ground.answeredBy,
    nodes: nodes?.map((node) => nodeBody(node, paces.stretchOf(node.report.id))) ?? null,
    actors:
      seen === null || nodes === null
        ? null
        : ground.places.map((place) => ({ actor: place.actor, number: place.number, node: ownerOf(place) })),
    pools: levels.pools.map((pool) => ({ ...pool, ...ground.marks })),
    ranges: levels.ranges === null ? null : rangesOf(levels.ranges, ground),
    traffic: living === undefined ? null : trafficOf(living.flatMap(({ id }) => paces.stretchOf(id) ?? [])),
    forecast:
      living === undefined || levels.ranges === null ? null : forecastOf(levels.ranges, living, ground),
    regressions:
      regressions?.map(({ at, dropped, since, skipped }) => ({
        at: Iso8601.formatMoment(at),
        since: since === sinceUnknown ? null : Iso8601.formatMoment(since),
        skipped,
        dropped
      })) ?? null
  }
}
