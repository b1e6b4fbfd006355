import { describe, expect, it } from "vitest"
import { LimitsTold } from "../../../src/sim/checkers/users/LimitsTold.ts"
import { Waits } from "../../../src/sim/checkers/nodes/Waits.ts"
import type { Exchange } from "../../../src/sim/History.ts"
import { presets } from "../../../src/sim/presets/Presets.ts"
import { s_us } from "../../../src/sim/world/Time.ts"
import { created, evidence, exchange, userKey } from "../actors/Evidence.ts"

const key = { ...userKey, createsPerMinute: 600 }
const options = { ...presets.calm(), createsPerMinute: 300 }
const found = (some: Exchange) => LimitsTold.check(evidence({ options, userKeys: [key], exchanges: [some] }))
const usedUp = { retryAfter: "30", limit: "300", remaining: "0", reset: "60" }
const unavailable = { retryAfter: "1", limit: undefined, remaining: undefined, reset: undefined }

describe("The checker of told limits", () => {
  const refused = (some: Partial<typeof usedUp>, more: Partial<Exchange> = {}) =>
    found(created(3, { status: 429, told: { ...usedUp, ...some }, ...more }))

  it("wants a refusal to say when to ask again, in seconds", () => {
    expect(refused({})).toEqual([])
    for (const retryAfter of ["0", "30000", "1.5", "soon", ""])
      expect(refused({ retryAfter })).toHaveLength(1)
    expect(found(created(3, { status: 429 }))).toEqual([])
    const day = { retryAfter: "80000" }
    expect(refused(day, { kind: "redirect" })).toEqual([])
    expect(refused(day)).toHaveLength(1)
    expect(refused({ remaining: "1" })).toHaveLength(1)
  })

  it("wants a node that cannot answer to say it as well, and not the load balancer", () => {
    const failed = (told: Exchange["told"]) => found(exchange(3, { status: 503, location: undefined, told }))
    expect(failed(unavailable)).toEqual([])
    expect(failed({ ...unavailable, retryAfter: undefined })).toHaveLength(1)
    expect(failed(undefined)).toEqual([])
  })

  it("wants a create to tell one of its sender's quotas", () => {
    const made = (some: Partial<typeof usedUp>) =>
      found(created(3, { apiKey: key.secret, told: { ...usedUp, remaining: "299", ...some } }))
    expect(made({})).toEqual([])
    expect(made({ limit: "600", remaining: "600" })).toEqual([])
    expect(made({ limit: "60" })).toHaveLength(1)
    expect(made({ remaining: "301" })).toHaveLength(1)
    expect(made({ reset: "60000" })).toHaveLength(1)
    expect(found(created(3, { apiKey: key.secret }))).toEqual([])
  })
})

describe("The checker of waits", () => {
  const by = "node-0#1"
  const waited = (for_s: number, some: Partial<Exchange> = {}, journal: object = {}) =>
    Waits.check(
      evidence({
        exchanges: [exchange(10, { answered_us: (10 + for_s) * s_us, sentTo: by, ...some })],
        ...journal
      })
    )

  it("wants an answer within five seconds, of a node that goes on", () => {
    expect(waited(5)).toEqual([])
    expect(waited(5.5)).toHaveLength(1)
    expect(waited(10, { status: 0 })).toHaveLength(1)
    expect(waited(10, { sentTo: undefined })).toEqual([])
    const paused = { tag: "paused", at_us: 12 * s_us, by, for_us: s_us } as const
    expect(waited(5.5, {}, { journal: [paused] })).toEqual([])
    expect(waited(6.5, {}, { journal: [paused] })).toHaveLength(1)
    expect(waited(6.5, {}, { journal: [{ ...paused, at_us: s_us }] })).toHaveLength(1)
    const killed = { tag: "killed", at_us: 14 * s_us, by } as const
    expect(waited(10, { status: 0 }, { journal: [killed] })).toEqual([])
  })
})
