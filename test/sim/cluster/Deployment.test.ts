import { execFile } from "node:child_process"
import { setImmediate } from "node:timers/promises"
import { promisify } from "node:util"
import { describe, expect, it } from "vitest"
import { presets } from "../../../src/sim/presets/Presets.ts"
import { run } from "../../../src/sim/Run.ts"

const seeds = [1, 2, 3]

/** A world lets nothing else happen while it runs, so the test runner gets its turn behind each. */
const runOf = async (seed: number) => {
  const result = run(seed, { ...presets.steady(seed), level: "cluster" })
  await setImmediate()
  return result
}

describe("a simulated deployment on the production stack of the cluster", () => {
  it("keeps every promise, and does the same thing in another process, whatever ran before", async () => {
    const digests: Array<string> = []
    for (const seed of seeds) {
      const { digest, evidence, violations } = await runOf(seed)
      expect(violations).toEqual([])
      expect(evidence.exchanges.filter(({ status }) => status === 201).length).toBeGreaterThan(30)
      digests.push(digest)
    }
    // Other seeds run before each than here.
    const again = seeds.slice(1).toReversed()
    const program = `
      import { presets } from "${new URL("../../../dist/src/sim/presets/Presets.js", import.meta.url).href}"
      import { run } from "${new URL("../../../dist/src/sim/Run.js", import.meta.url).href}"
      for (const seed of ${JSON.stringify(again)})
        console.log(run(seed, { ...presets.steady(seed), level: "cluster" }).digest)`
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program])
    expect(stdout.trim().split("\n")).toEqual(again.map((seed) => digests[seed - 1]))
  }, 300_000)
})
