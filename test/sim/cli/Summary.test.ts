import { describe, expect, it } from "vitest"
import { report, type SeedReport } from "../../../src/sim/cli/SeedReport.ts"
import * as Summary from "../../../src/sim/cli/Summary.ts"

const mix = { preset: "calm", level: "actors", changes: { compared: true, faulty_s: 2, calm_s: 1 } } as const

const summaryOf = (...reports: ReadonlyArray<SeedReport>) => {
  const summary = Summary.empty()
  for (const one of reports) Summary.count(summary, one)
  return summary
}

describe("the summary of several seeds", () => {
  const [one, other] = [report(mix, 1), report(mix, 2)] as const

  it("has one digest of them, in whatever order they ended, and another one where a run differs", () => {
    const { digest } = summaryOf(one, other)
    expect(digest).toMatch(/^[0-9a-f]{16}$/)
    expect(summaryOf(other, one).digest).toBe(digest)
    expect(summaryOf(one).digest).not.toBe(digest)
    expect(summaryOf(one, { ...other, digest: report(mix, 3).digest }).digest).not.toBe(digest)
    expect(Summary.told(summaryOf(one, other), 1)).toContain(`Digest           ${digest}`)
  })

  it("says how many answers of stores were compared, and in how many seeds those of links were to the end", () => {
    const answers = one.compared!.answers
    expect(answers).toBeGreaterThan(0)
    const cut = { ...other, compared: { answers: 5, isWhole: false } }
    const { compared: _, ...none } = other
    const summary = summaryOf(one, cut, none)
    expect(summary.compared).toEqual({ answers: answers + 5, seeds: 2, whole: 1 })
    expect(Summary.told(summary, 1)).toContain("in 2 seeds, of which 1 to the end")
    expect(Summary.told(summaryOf(none), 1)).toMatch(/^Compared +none$/m)
  })
})
