import { describe, expect, it } from "vitest"
import type { Evidence, Violation } from "../../../src/sim/Evidence.ts"
import { timelineOf } from "../../../src/sim/report/Timeline.ts"
import type { RunResult } from "../../../src/sim/Run.ts"
import { s_us } from "../../../src/sim/world/Time.ts"
import type { TraceEvent } from "../../../src/sim/world/Trace.ts"
import { created, evidence, exchange } from "../actors/Evidence.ts"

const result = (some: Partial<Evidence>, events: ReadonlyArray<TraceEvent> = []): RunResult => ({
  seed: 1,
  digest: "",
  violations: [],
  evidence: evidence(some),
  tasks: 0,
  events
})

const violation: Violation = { checker: "freshness", at_us: 30 * s_us, text: "abc lived on", keys: ["abc"] }

const killed = (at_s: number) => ({ tag: "killed", at_us: at_s * s_us, by: "node-0#1" }) as const

describe("a time line", () => {
  it("has the key's whole story, what befell its nodes around the violation, and the violation at its place", () => {
    const lines = timelineOf(
      result({
        exchanges: [created(2), exchange(29, {}), exchange(31, { key: "other", client: "client-9" })],
        journal: [killed(1), killed(28)]
      }),
      violation
    )
    expect(lines.map((line) => line.trim().replaceAll(/ +/g, " "))).toEqual([
      "2.000000 s > client-0 create https://example.com/1 (#0)",
      "2.001000 s > client-0 201 abc from node-0#1 after 1 ms (#0, create)",
      "28.000000 s node-0#1 killed",
      "29.000000 s > client-0 redirect abc (#0)",
      "29.001000 s > client-0 302 https://example.com/1 from node-0#1 after 1 ms (#0, redirect)",
      "30.000000 s ! freshness abc lived on",
      "31.000000 s client-9 redirect other (#0)",
      "31.001000 s client-9 302 https://example.com/1 from node-0#1 after 1 ms (#0, redirect)"
    ])
  })

  it("is bounded, in lines and in their length, and leaves out what matters least", () => {
    const exchanges = Array.from({ length: 500 }, (_, index) =>
      exchange(25 + index / 100, { key: index % 2 === 0 ? "abc" : "other", location: "x".repeat(500) })
    )
    const call = { at_us: 30 * s_us, who: "node-0#1", kind: "KeyPool.level", detail: "" }
    const fault = { at_us: 29 * s_us, who: "faults", kind: "kill", detail: "node 0" }
    const lines = timelineOf(result({ exchanges, journal: [] }, [call, fault]), violation)
    expect(lines).toHaveLength(49)
    expect(Math.max(...lines.map(({ length }) => length))).toBe(200)
    expect(lines.join("\n")).toContain("kill node 0")
    expect(lines.join("\n")).not.toContain("KeyPool.level")
  })

  it("of a violation without a key tells what befell everybody", () => {
    const lines = timelineOf(result({ journal: [killed(1)], exchanges: [exchange(30, {})] }), {
      ...violation,
      keys: []
    })
    expect(lines.map((line) => line.includes("killed"))).toEqual([true, false])
  })
})
