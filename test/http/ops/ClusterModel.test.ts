import { describe, expect, it } from "vitest"
import { bodyOf, type Found, type Ground, ledgerOf } from "../../../src/http/ops/ClusterModel.ts"
import { Rates } from "../../../src/http/ops/Rates.ts"
import * as KeyMinter from "../../../src/keys/KeyMinter.ts"
import * as KeySpace from "../../../src/keys/KeySpace.ts"
import type { NodeReport } from "../../../src/model/NodeReport.ts"
import { reportOf, totalsOf } from "../../support/Reports.ts"
import { sinceUnknown } from "../../../src/storage/nodes/DatabaseMark.ts"

const minter = KeyMinter.make(KeySpace.make("base62", 7), new Uint8Array(16))

const ground: Ground = {
  answeredBy: "a",
  places: [
    { actor: "KeyRange", number: 0, shard: 1 },
    { actor: "PoolShard", number: 0, shard: 1 },
    { actor: "UrlMapping", number: 5, shard: 2 },
    { actor: "UrlMapping", number: 6, shard: 3 }
  ],
  marks: { low: 100, high: 500 },
  minter
}

const found = (changes: Partial<Found> = {}): Found => ({
  at: Date.parse("2026-11-21T10:00:00.000Z"),
  heard: [
    { report: reportOf("a"), age_ms: 400 },
    { report: reportOf("b"), age_ms: 900 }
  ],
  seen: { ownerOf: (shard) => ["a", "b"][shard - 1], unhealthy: new Set() },
  levels: { ranges: [], pools: [{ shard: 0, level: 250 }] },
  regressions: [],
  ...changes
})

const picture = (changes?: Partial<Found>, paces = new Rates()) => bodyOf(found(changes), paces, ground)

const statesOf = (changes: Partial<Found>) => picture(changes).nodes?.map(({ id, state }) => `${id} ${state}`)

/** The paces of nodes that told each of these, one after the other. */
const pacesOf = (...told: ReadonlyArray<ReadonlyArray<NodeReport>>) => {
  const paces = new Rates()
  told.forEach((reports) => paces.add(reports))
  return paces
}

describe("the cluster's picture", () => {
  it("has each actor at the node that holds its shard, and at none where nobody known does", () => {
    const { actors } = picture()
    expect(actors?.map(({ actor, node, number }) => `${actor} ${number} ${node}`)).toEqual([
      "KeyRange 0 a",
      "PoolShard 0 a",
      "UrlMapping 5 b",
      "UrlMapping 6 null"
    ])
    const stranger = picture({ seen: { ownerOf: () => "never-heard", unhealthy: new Set() } })
    expect(stranger.actors?.map(({ node }) => node)).toEqual([null, null, null, null])
  })

  it("calls a node silent that was not heard for three seconds, or does not answer the others", () => {
    const heard = (age_ms: number, told: Partial<NodeReport> = {}) => [
      { report: reportOf("a", told), age_ms }
    ]
    const unhealthy = { ownerOf: () => undefined, unhealthy: new Set(["a:34431"]) }
    expect(statesOf({ heard: heard(3_000) })).toEqual(["a up"])
    expect(statesOf({ heard: heard(3_001) })).toEqual(["a silent"])
    expect(statesOf({ heard: heard(0, { isStopping: true }) })).toEqual(["a stopping"])
    expect(statesOf({ heard: heard(0), seen: unhealthy })).toEqual(["a silent"])
    // It runs no actors, so that the others never ask it.
    expect(statesOf({ heard: heard(0, { role: "http" }), seen: unhealthy })).toEqual(["a up"])
    expect(statesOf({ heard: heard(0), seen: null })).toEqual(["a up"])
  })

  it("leaves out the former start of a node that runs again", () => {
    const heard = [
      { report: reportOf("former", { address: "one:1" }), age_ms: 9_000 },
      { report: reportOf("new", { address: "one:1" }), age_ms: 0 },
      { report: reportOf("other", { address: "two:1" }), age_ms: 9_000 }
    ]
    expect(statesOf({ heard })).toEqual(["new up", "other silent"])
  })

  it("has no value for what the stores do not tell", () => {
    const levels = { ranges: null, pools: [{ shard: 0, level: null }] }
    expect(picture({ heard: null, levels })).toMatchObject({
      nodes: null,
      actors: null,
      ranges: null,
      traffic: null,
      forecast: null,
      pools: [{ shard: 0, level: null, low: 100, high: 500 }]
    })
    expect(picture({ seen: null }).actors).toBeNull()
  })
})

describe("the pace of nodes", () => {
  it("is told by two reports, of all nodes together and of those that are heard", () => {
    const before = [reportOf("a"), reportOf("b"), reportOf("gone")]
    const after = ["a", "b", "gone"].map((id) =>
      reportOf(id, {
        uptime_ms: 6_000,
        linksCreated: 100,
        totals: totalsOf({
          redirects: Array.from({ length: 45 }, () => 1),
          creates: [3, 3, 3, 3, 3],
          errors: 5
        })
      })
    )
    const heard = after.map((report) => ({ report, age_ms: report.id === "gone" ? 4_000 : 0 }))
    const { nodes, traffic } = picture({ heard }, pacesOf(before, after))
    expect(nodes).toMatchObject([
      { id: "a", requestsPerSecond: 10, linksPerSecond: 20 },
      { id: "b", requestsPerSecond: 10 },
      { id: "gone", requestsPerSecond: 0, linksPerSecond: 0 }
    ])
    expect(traffic).toMatchObject({
      requestsPerSecond: 20,
      redirectsPerSecond: 18,
      linksPerSecond: 40,
      errorsPerSecond: 2
    })
    expect(picture({ heard }, pacesOf(after)).traffic?.requestsPerSecond).toBeNull()
  })

  it("is that of the last ten seconds, whether or not a report is seen twice", () => {
    const second = (at: number) => [
      reportOf("a", { uptime_ms: 1_000 * at, linksCreated: at < 25 ? 0 : 7 * (at - 25) })
    ]
    const told = Array.from({ length: 31 }, (_, at) => [second(at), second(at)]).flat()
    expect(picture({}, pacesOf(...told)).nodes?.[0]?.linksPerSecond).toBe(3.5)
  })

  it("has quantiles over the buckets of all nodes", () => {
    const took = (count: number, ms: number) => Array.from({ length: count }, () => ms)
    const before = [reportOf("a"), reportOf("b")]
    const after = [
      reportOf("a", { uptime_ms: 2_000, totals: totalsOf({ redirects: took(98, 0.9) }) }),
      reportOf("b", {
        uptime_ms: 2_000,
        totals: totalsOf({ redirects: took(2, 200), creates: took(1, 60_000) })
      })
    ]
    const { traffic } = picture({}, pacesOf(before, after))
    // 98 of 100 within (0.5, 1] ms, two within (100, 250] ms.
    expect(traffic?.redirects.p50Ms).toBeCloseTo(0.5 + (0.5 * 50) / 98)
    expect(traffic?.redirects.p99Ms).toBeCloseTo(100 + 150 / 2)
    expect(traffic?.creates).toEqual({ p50Ms: 5_000, p99Ms: 5_000 })
    expect(picture({}, pacesOf(before, before)).traffic?.redirects).toEqual({ p50Ms: null, p99Ms: null })
  })
})

describe("keys in the picture", () => {
  const slot = (range: number, length: number, minted: number) => ({
    range,
    length,
    minted,
    remaining: minter.spanOf(length, range) - minted
  })
  const levels = (...ranges: ReadonlyArray<ReturnType<typeof slot>>) => ({
    ranges,
    pools: [{ shard: 0, level: 250 }]
  })

  it("are those of each range at its greatest length", () => {
    const { ranges } = picture({
      levels: levels(slot(1, 8, 5), slot(1, 7, minter.spanOf(7, 1)), slot(2, 7, 9))
    })
    expect(ranges).toHaveLength(16)
    expect(ranges?.slice(0, 3)).toEqual([slot(0, 7, 0), slot(1, 8, 5), slot(2, 7, 9)])
  })

  it("are those of the deployment's order, however many ranges that has", () => {
    const sequential = KeyMinter.makeSequential(KeySpace.make("base62", 7))
    const { forecast, ranges } = bodyOf(found(), new Rates(), { ...ground, minter: sequential })
    expect(ranges?.map(({ range }) => range)).toEqual(Array.from({ length: 62 }, (_, range) => range))
    expect(forecast?.total).toBe(62 ** 7)
  })

  it("last as long as the nodes' pace since their start says", () => {
    const heard = [
      { report: reportOf("a", { uptime_ms: 10_000, linksCreated: 300 }), age_ms: 0 },
      { report: reportOf("b", { uptime_ms: 100_000, linksCreated: 1_000 }), age_ms: 0 },
      { report: reportOf("gone", { linksCreated: 1_000 }), age_ms: 9_000 }
    ]
    const total = 62 ** 7
    expect(picture({ heard, levels: levels(slot(0, 7, 1_000)) }).forecast).toEqual({
      length: 7,
      total,
      remaining: total - 1_000,
      linksPerSecond: 40,
      exhaustedInSeconds: (total - 1_000) / 40
    })
    expect(picture({ levels: levels() }).forecast?.exhaustedInSeconds).toBeNull()
  })

  it("are the next length's when one is used up", () => {
    const all = Array.from({ length: 16 }, (_, range) => slot(range, 7, minter.spanOf(7, range)))
    expect(picture({ levels: levels(...all) }).forecast).toMatchObject({ length: 8, remaining: 62 ** 8 })
  })

  it("balance in the ledger, where everybody tells", () => {
    const counts = { minted: 1_000, bound: 400, quarantined: 30, stocked: 20 }
    const heard = [
      { report: reportOf("a", { bufferedKeys: 60 }), age_ms: 0 },
      { report: reportOf("dead", { bufferedKeys: 64 }), age_ms: 4_000 }
    ]
    expect(ledgerOf(counts, found({ heard }))).toEqual({
      countedAt: "2026-11-21T10:00:00.000Z",
      ...counts,
      pooled: 250,
      buffered: 60,
      rest: 240
    })
    // What moves on while it is counted may be counted twice, and is not less than nothing.
    expect(ledgerOf({ ...counts, minted: 10 }, found({ heard }))?.rest).toBe(0)
    expect(ledgerOf(counts, found({ heard: null }))).toBeNull()
    expect(ledgerOf(counts, found({ levels: { ranges: [], pools: [{ shard: 0, level: null }] } }))).toBeNull()
  })

  it("tells when the database had forgotten, and nothing where it does not say", () => {
    const at = Date.parse("2026-11-21T09:00:00.000Z")
    const regression = { at, since: at - 60_000, mark: 7, witnessed: 9, skipped: 300, dropped: 40 }
    const regressions = [regression, { ...regression, since: sinceUnknown }]
    expect(picture({ regressions }).regressions).toEqual([
      { at: "2026-11-21T09:00:00.000Z", since: "2026-11-21T08:59:00.000Z", skipped: 300, dropped: 40 },
      { at: "2026-11-21T09:00:00.000Z", since: null, skipped: 300, dropped: 40 }
    ])
    expect(picture({ regressions: null }).regressions).toBeNull()
  })
})
