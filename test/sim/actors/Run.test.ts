import { setImmediate } from "node:timers/promises"
import * as GlobalValue from "effect/GlobalValue"
import { describe, expect, it } from "vitest"
import { type StockKind, stockKinds } from "../../../src/storage/keys/KeyStock.ts"
import { presets } from "../../../src/sim/presets/Presets.ts"
import { run } from "../../../src/sim/Run.ts"
import type { RunResult } from "../../../src/sim/Run.ts"

const count = ({ evidence }: RunResult, kind: string, status: number) =>
  evidence.exchanges.filter((exchange) => exchange.kind === kind && exchange.status === status).length

/** The fibers that Effect keeps alive until they end. */
const programRoots = () =>
  GlobalValue.globalValue(Symbol.for("effect/FiberScope/Global"), () => ({ roots: new Set<unknown>() })).roots

/** Seeds of the swarm in which keys are stocked in a way of our choice, instead of in one that is drawn: each way there is. Shorter runs of more of them: see `Determinism`. */
const stockedBy: ReadonlyMap<number, StockKind> = new Map([
  [4, "two-table"],
  [5, "file"],
  [6, "table"],
  [19, "status"]
])

describe("a simulated deployment", () => {
  it("creates and redirects while nothing fails, and answers nothing with an error", () => {
    const calm = run(1, presets.calm())
    expect(calm.violations).toEqual([])
    expect(count(calm, "create", 201)).toBeGreaterThan(100)
    expect(count(calm, "redirect", 302)).toBeGreaterThan(60)
    expect(calm.evidence.exchanges.filter(({ status }) => status === 0 || status >= 500)).toEqual([])
  })

  it("has users who sign in, use their sessions and sign out, and one who is disabled now and then", () => {
    const calm = presets.calm()
    const workload = { ...calm.workload, withAccount: 0.2, signedIn: 0.5 }
    const signedIn = run(3, { ...calm, faulty_s: 62, workload })
    expect(signedIn.violations).toEqual([])
    const { exchanges, journal } = signedIn.evidence
    for (const [kind, status] of [
      ["sign in", 204],
      ["sign in", 401],
      ["account", 200],
      ["account", 401],
      ["sign out", 204]
    ] as const)
      expect(count(signedIn, kind, status), `${kind} ${status}`).toBeGreaterThan(3)
    expect(exchanges.filter(({ session, status }) => session !== undefined && status === 201)).not.toEqual([])
    const tags = new Set(journal.map(({ tag }) => tag))
    expect([...tags]).toEqual(
      expect.arrayContaining(["user disabled", "user enabled", "password changed", "session ended"])
    )
  })

  it("keeps every promise under a swarm of faults, with keys stocked in each way", async () => {
    const results: Array<RunResult> = []
    for (const [seed, keyStock] of stockedBy) {
      results.push(run(seed, { ...presets.swarm(seed), keyStock, keyStockTarget: 60 }))
      // A world lets nothing else happen while it runs, so the test runner gets its turn between two.
      await setImmediate()
    }
    expect(results.flatMap(({ violations }) => violations)).toEqual([])
    expect(results.filter(({ evidence }) => evidence.faults.size >= 3).length).toBeGreaterThan(1)
    for (const { evidence, seed } of results)
      expect(evidence.journal.filter(({ tag }) => tag === "stocked").length, `seed ${seed}`).toBeGreaterThan(
        2
      )
    expect(["none", ...stockedBy.values()].toSorted()).toEqual(stockKinds.toSorted())
  }, 300_000)

  it("leaves no fiber among those of the program, so that its world can be forgotten", () => {
    const before = programRoots().size
    run(1, { ...presets.calm(), faulty_s: 2, calm_s: 4 })
    expect(programRoots().size).toBe(before)
  })
})
