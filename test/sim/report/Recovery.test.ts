import { describe, expect, it } from "vitest"
import type { Strike } from "../../../src/sim/deployment/Faults.ts"
import { recoveriesOf, worstOf } from "../../../src/sim/report/Recovery.ts"
import { s_us } from "../../../src/sim/world/Time.ts"
import { created, evidence, exchange } from "../actors/Evidence.ts"

const strike = (name: string, at_s: number, for_s: number): Strike => ({
  name,
  whom: "node 0",
  at_us: at_s * s_us,
  for_us: for_s * s_us
})

/** A create and a redirect that fail at 11 s, and succeed at 12 and 13.5 s; both work at the end. */
const exchanges = [
  created(11, { status: 503 }),
  exchange(11, { status: 0, answered_us: 16 * s_us }),
  created(12),
  exchange(13.5, {}),
  created(41),
  exchange(40.5, {})
]

const measured = (...strikes: ReadonlyArray<Strike>) =>
  recoveriesOf(evidence({ exchanges, strikes })).map(({ fault, recovery_ms }) => [fault, recovery_ms])

describe("recovery", () => {
  it("lasts from the end of a fault until a create and a redirect have succeeded", () => {
    expect(measured(strike("redisFailover", 8, 2))).toEqual([
      ["redisFailover", 3_501],
      ["heal", 1_001]
    ])
  })

  it("begins with a kill, since other nodes go on", () => {
    expect(measured(strike("kill", 10, 5))[0]).toEqual(["kill", 3_501])
  })

  it("is not measured where another fault came in between, or after what lets a deployment go on", () => {
    expect(measured(strike("kill", 10, 5), strike("pause", 12, 1))).toEqual([["heal", 1_001]])
    expect(measured(strike("clockJump", 10, 1))).toEqual([["heal", 1_001]])
  })

  it("ends with the end of all faults at the latest", () => {
    expect(measured(strike("databaseRestart", 39.5, 10))[0]).toEqual(["databaseRestart", 1_001])
  })

  it("is told by the longest one of each kind", () => {
    const of = (fault: string, recovery_ms: number) => ({ fault, recovery_ms, ended_us: 0 })
    expect(worstOf([of("kill", 2), of("heal", 1), of("kill", 3)])).toEqual([of("kill", 3), of("heal", 1)])
  })
})
