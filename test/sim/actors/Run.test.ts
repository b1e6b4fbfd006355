import { setImmediate } from "node:timers/promises"
import * as GlobalValue from "effect/GlobalValue"
import { describe, expect, it } from "vitest"
import { stockKinds } from "../../../src/storage/keys/KeyStock.ts"
import { presets } from "../../../src/sim/cli/Presets.ts"
import { run } from "../../../src/sim/Run.ts"
import type { RunResult } from "../../../src/sim/Run.ts"

const count = ({ evidence }: RunResult, kind: string, status: number) =>
  evidence.exchanges.filter((exchange) => exchange.kind === kind && exchange.status === status).length

/** The fibers that Effect keeps alive until they end. */
const programRoots = () =>
  GlobalValue.globalValue(Symbol.for("effect/FiberScope/Global"), () => ({ roots: new Set<unknown>() })).roots

describe("a simulated deployment", () => {
  it("creates and redirects while nothing fails, and answers nothing with an error", () => {
    const calm = run(1, presets.calm())
    expect(calm.violations).toEqual([])
    expect(count(calm, "create", 201)).toBeGreaterThan(100)
    expect(count(calm, "redirect", 302)).toBeGreaterThan(60)
    expect(calm.evidence.exchanges.filter(({ status }) => status === 0 || status >= 500)).toEqual([])
  })

  it("keeps every promise under a swarm of faults", async () => {
    const results: Array<RunResult> = []
    for (let seed = 1; seed <= 8; seed++) {
      results.push(run(seed, presets.swarm(seed)))
      // A world lets nothing else happen while it runs, so the test runner gets its turn between two.
      await setImmediate()
    }
    expect(results.flatMap(({ violations }) => violations)).toEqual([])
    expect(results.filter(({ evidence }) => evidence.faults.size >= 3).length).toBeGreaterThan(4)
  }, 300_000)

  it("leaves no fiber among those of the program, so that its world can be forgotten", () => {
    const before = programRoots().size
    run(1, { ...presets.calm(), faulty_s: 2, calm_s: 4 })
    expect(programRoots().size).toBe(before)
  })

  it.each(stockKinds.filter((kind) => kind !== "none"))(
    "keeps them with keys stocked in the way of %s",
    (keyStock) => {
      const { evidence, violations } = run(5, { ...presets.swarm(5), keyStock, keyStockTarget: 60 })
      expect(violations).toEqual([])
      expect(evidence.journal.filter(({ tag }) => tag === "stocked").length).toBeGreaterThan(2)
    },
    60_000
  )
})
