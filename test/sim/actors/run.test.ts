import { execFile } from "node:child_process"
import { setImmediate } from "node:timers/promises"
import { promisify } from "node:util"
import { describe, expect, it } from "vitest"
import { presets } from "../../../src/sim/Presets.ts"
import { run } from "../../../src/sim/Run.ts"
import type { RunResult } from "../../../src/sim/Run.ts"

const seeds = [1, 2, 3, 4, 5, 6, 7, 8]

/** A world lets nothing else happen while it runs, so the test runner gets its turn between two. */
const runAll = async (seeds: ReadonlyArray<number>): Promise<ReadonlyArray<RunResult>> => {
  const results: Array<RunResult> = []
  for (const seed of seeds) {
    results.push(run(seed, presets.swarm(seed)))
    await setImmediate()
  }
  return results
}

const count = ({ evidence }: RunResult, kind: string, status: number) =>
  evidence.exchanges.filter((exchange) => exchange.kind === kind && exchange.status === status).length

describe("a simulated deployment", () => {
  it("creates and redirects while nothing fails, and answers nothing with an error", () => {
    const calm = run(1, presets.calm())
    expect(calm.violations).toEqual([])
    expect(count(calm, "create", 201)).toBeGreaterThan(100)
    expect(count(calm, "redirect", 302)).toBeGreaterThan(100)
    expect(calm.evidence.exchanges.filter(({ status }) => status === 0 || status >= 500)).toEqual([])
  })

  it("keeps every promise under a swarm of faults, and does the same thing each time, whatever ran before", async () => {
    const results = await runAll(seeds)
    expect(results.flatMap(({ violations }) => violations)).toEqual([])
    expect(results.filter(({ evidence }) => evidence.faults.size >= 3).length).toBeGreaterThan(4)
    const digests = results.map(({ digest }) => digest)
    expect(new Set(digests).size).toBe(seeds.length)
    const again = await runAll(seeds.toReversed())
    expect(again.map(({ digest }) => digest)).toEqual(digests.toReversed())
  }, 180_000)

  it("does the same thing in another process", async () => {
    const few = seeds.slice(0, 3)
    const program = `
      import { presets } from "${new URL("../../../dist/src/sim/Presets.js", import.meta.url).href}"
      import { run } from "${new URL("../../../dist/src/sim/Run.js", import.meta.url).href}"
      for (const seed of ${JSON.stringify(few)}) console.log(run(seed, presets.swarm(seed)).digest)`
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program])
    const ours = await runAll(few)
    expect(stdout.trim().split("\n")).toEqual(ours.map(({ digest }) => digest))
  }, 180_000)
})
