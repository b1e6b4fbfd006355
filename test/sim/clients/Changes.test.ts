import { Either } from "effect"
import { describe, expect, it } from "vitest"
import * as Changes from "../../../src/sim/clients/Changes.ts"
import { presets } from "../../../src/sim/presets/Presets.ts"

const calm = presets.calm()
const problemOf = (changes: Changes.Changes) => Either.getOrThrow(Either.flip(Changes.applied(calm, changes)))

describe("changes of options", () => {
  it("lead from any options to any others, and name only what differs", () => {
    for (const seed of [1, 2, 3]) {
      const options = presets.swarm(seed)
      const changes = Changes.between(calm, options)
      expect(Either.getOrThrow(Changes.applied(calm, changes))).toEqual(options)
    }
    expect(Changes.between(calm, calm)).toEqual({})
    const fewer = { ...calm, nodes: 2, workload: { ...calm.workload, clients: 1 } }
    expect(Changes.between(calm, fewer)).toEqual({ nodes: 2, workload: { clients: 1 } })
  })

  it.each([
    [{ nodes: 0 }, "nodes: "],
    [{ nodes: "three" }, "nodes: Expected"],
    [{ faults: { kill: { perMinute: -1 } } }, "faults.kill.perMinute: "],
    [{ faults: { kill: { least_ms: 2, most_ms: 1 } } }, "faults.kill: least_ms must not exceed most_ms"],
    [{ faults: { kil: {} } }, "faults.kil: is unexpected"],
    [{ workload: 3 }, "workload: Expected"]
  ])("%j are refused with the name of the field", (changes, sentence) => {
    expect(problemOf(changes)).toContain(sentence)
  })

  it("tell of each field that is wrong", () => {
    expect(problemOf({ nodes: 0, pools: 0 }).split("\n")).toHaveLength(2)
  })

  it.each(["", "{", "[]", "3", "null"])("are not read from %j", (text) => {
    expect(Either.isLeft(Changes.parse(text))).toBe(true)
  })
})
