import { describe, expect, it } from "vitest"
import { presets } from "../../../src/sim/presets/Presets.ts"
import { report } from "../../../src/sim/cli/SeedReport.ts"
import { Steering } from "../../../src/sim/cli/Steering.ts"
import * as Summary from "../../../src/sim/cli/Summary.ts"
import { Meetings, pairOf, tableOf, unmet } from "../../../src/sim/report/Meetings.ts"

describe("what is under way when faults strike", () => {
  it("is counted in the processes that they strike, from its beginning to its end or the process's", () => {
    const meetings = new Meetings()
    const end = meetings.begin("node-0#1", "KeyPool.push")
    meetings.begin("node-1#1", "KeyPool.lease")
    meetings.strike("pause", ["node-0#1"])
    end()
    end()
    meetings.strike("pause", ["node-0#1", "node-1#1"])
    meetings.forget("node-1#1")
    meetings.strike("kill", ["node-0#1", "node-1#1"])
    expect(Object.fromEntries(meetings.counts)).toEqual({
      "pause × KeyPool.push": 1,
      "pause × KeyPool.lease": 1
    })
  })

  it("is the one operation at a crash point", () => {
    const meetings = new Meetings()
    meetings.begin("node-0#1", "KeyPool.push")
    meetings.begin("node-0#1", "KeyPool.lease")
    meetings.strike("crash point", ["node-0#1"], "KeyPool.push")
    expect(Array.from(meetings.counts.keys())).toEqual(["crash point × KeyPool.push"])
  })

  it("is told by actor, and so is what never met", () => {
    const met = { [pairOf("kill", "KeyPool.push")]: 2 }
    const operations = ["KeyPool.push", "send Lease", "VisitStore.write"]
    expect(tableOf(["kill"], operations, met)).toEqual([
      ["fault", "PoolShard", "Visits"],
      ["kill", "1/2", "0/1"]
    ])
    expect(unmet(["kill"], operations, met)).toEqual(["kill × VisitStore.write", "kill × send Lease"])
  })
})

describe("steering", () => {
  const mix = { preset: "calm", level: "actors", changes: { faulty_s: 5, calm_s: 6 } } as const

  it("prefers seeds that aim at what has not met yet", () => {
    const aimed = (at: string) => ({
      ...presets.calm(),
      faults: {
        ...presets.calm().faults,
        crashPoint: { probability: 0.1, least_ms: 100, most_ms: 1_000, at: [at], stops: false }
      }
    })
    const steering = new Steering((seed) => aimed(seed === 3 ? "KeyStock.close" : "KeyPool.push"))
    const summary = Summary.empty()
    summary.faults = { "crash point": 1 }
    summary.operations = ["KeyStock.close", "KeyPool.push"]
    summary.met = { [pairOf("crash point", "KeyPool.push")]: 1 }
    expect(steering.choose([1, 2, 3, 4], 1, summary)).toEqual([3])
    summary.met[pairOf("crash point", "KeyStock.close")] = 1
    expect(steering.choose([1, 2, 3, 4], 2, summary)).toEqual([1, 2])
  })

  it("learns from reports which operations there are", () => {
    const summary = Summary.empty()
    const one = report(mix, 1)
    Summary.count(summary, one)
    expect(one.operations).toContain("LinkStore.insertMany")
    expect(summary.operations).toEqual(one.operations)
    expect(Summary.told(summary, 1)).toContain("Faults met")
  })
})
