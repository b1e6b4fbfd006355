import { describe, expect, it } from "vitest"
import type { Evidence } from "../../../src/sim/Evidence.ts"
import { presets } from "../../../src/sim/presets/Presets.ts"
import { nodeLanes } from "../../../src/sim/report/page/NodeLanes.ts"
import { poolLanes } from "../../../src/sim/report/page/PoolLanes.ts"
import { requestLanes } from "../../../src/sim/report/page/RequestLanes.ts"
import { actorStays, claimStays, lockStays } from "../../../src/sim/report/page/Stays.ts"
import { run, type RunResult } from "../../../src/sim/Run.ts"
import { lockBase } from "../../../src/storage/keys/ShardOwnership.ts"
import { created, evidence, exchange } from "../actors/Evidence.ts"

const [one, other] = ["node-0#1", "node-1#1"]

const result = (some: Partial<Evidence>, events: RunResult["events"] = []): RunResult => ({
  seed: 1,
  digest: "",
  violations: [],
  evidence: evidence({ end_us: 100, healed_us: 90, ...some }),
  tasks: 0,
  events
})

describe("what is drawn of a run", () => {
  it("tells where actors lived, until they were stopped, their process died, or the run ended", () => {
    const actor = "UrlMapping/1"
    const journal = [
      { tag: "activated", at_us: 1, by: one, actor },
      { tag: "activated", at_us: 2, by: other, actor },
      { tag: "deactivated", at_us: 3, by: one, actor },
      { tag: "killed", at_us: 4, by: other },
      { tag: "activated", at_us: 5, by: one, actor }
    ] as const
    expect(actorStays(result({ journal }))).toEqual([
      { what: actor, process: one, from_us: 1, to_us: 3 },
      { what: actor, process: other, from_us: 2, to_us: 4 },
      { what: actor, process: one, from_us: 5, to_us: 100 }
    ])
  })

  it("tells whose claim of a pool shard was the newest, and who had which lock", () => {
    const claimed = (at_us: number, by: string, epoch: number) =>
      ({ tag: "claimed", at_us, by, shard: 0, epoch }) as const
    expect(
      claimStays(result({ journal: [claimed(1, one, 1), claimed(2, one, 2), claimed(3, other, 3)] }))
    ).toEqual([
      { what: "PoolShard/0", process: one, from_us: 1, to_us: 3 },
      { what: "PoolShard/0", process: other, from_us: 3, to_us: 100 }
    ])
    const told = (at_us: number, kind: string, ...shards: ReadonlyArray<number>) => ({
      at_us,
      kind,
      who: `linkmint-runner-${one}`,
      detail: shards.map((shard) => lockBase + shard).join(" ")
    })
    expect(lockStays(result({}, [told(1, "locked", 1, 2), told(2, "unlocked", 1)]))).toEqual([
      { what: "shard 1", process: one, from_us: 1, to_us: 2 },
      { what: "shard 2", process: one, from_us: 1, to_us: 100 }
    ])
  })

  it("tells when nodes were paused and down, and cuts short what the end of all faults ends", () => {
    const { lanes } = nodeLanes(
      result({
        journal: [
          { tag: "started", at_us: 0, by: one },
          { tag: "killed", at_us: 10, by: one },
          { tag: "started", at_us: 30, by: "node-0#2" },
          { tag: "paused", at_us: 80, by: "node-0#2", for_us: 50 }
        ]
      }).evidence
    )
    expect(lanes.map(({ label }) => label)).toEqual(["node-0", "node-1", "node-2"])
    const spans = lanes[0]!.spans.map(({ from_us, look, to_us }) => [look, from_us, to_us])
    expect(spans).toEqual([
      ["up", 0, 10],
      ["up", 30, 100],
      ["paused", 80, 90],
      ["down", 10, 30]
    ])
  })

  it("follows the pools to the very level that they have at the end", () => {
    const calm = presets.calm()
    const { evidence } = run(1, { ...calm, faulty_s: 3, calm_s: 6 })
    const last = poolLanes(evidence).lanes.map(({ steps }) => steps[0]!.points.at(-1)!.value)
    expect(last).toHaveLength(calm.pools)
    expect(last.reduce((sum, level) => sum + level, 0)).toBe(evidence.pooled.size)
    expect(evidence.pooled.size).toBeGreaterThan(0)
  }, 60_000)

  it("counts each request once, and tells the failed ones one by one", () => {
    const exchanges = [
      created(1),
      exchange(1.1, {}),
      exchange(2, { status: 503 }),
      exchange(3, { status: 404 })
    ]
    const { lanes } = requestLanes(evidence({ exchanges }))
    const [failed, redirects, creates] = lanes[0]!.steps.map(({ points }) =>
      points.reduce((sum, { value }) => sum + value, 0)
    )
    expect([failed, redirects, creates]).toEqual([4, 3, 1])
    expect(lanes[2]!.marks).toHaveLength(1)
    expect(lanes[2]!.marks[0]?.tip).toContain("503 from node-0#1")
  })
})
