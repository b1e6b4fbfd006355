import { describe, expect, it } from "vitest"
import { Strays } from "../../../src/sim/checkers/domains/Strays.ts"
import { changingHost, hostOf, ownHost, targetsOf } from "../../../src/sim/deployment/FurtherDomains.ts"
import type { Exchange } from "../../../src/sim/History.ts"
import { s_us } from "../../../src/sim/world/Time.ts"
import { evidence, exchange } from "../actors/Evidence.ts"

const { home, unknown } = targetsOf(1)
const asked = (url: string, host: string, some: Partial<Exchange>, isBrowser = true) =>
  exchange(10, {
    kind: "stray",
    key: undefined,
    location: undefined,
    stray: { host, url, isBrowser },
    ...some
  })
const found = (one: Exchange, some: object = {}) => Strays.check(evidence({ exchanges: [one], ...some }))

describe("The checker of strays", () => {
  it("sends browsers from a home page where it should, and nobody else", () => {
    const led = { status: 302, location: home! }
    expect(found(asked("/", hostOf(1), led))).toEqual([])
    expect(found(asked("/?from=letter", hostOf(1), led))).toEqual([])
    expect(found(asked("/", hostOf(1), { status: 404 }, false))).toEqual([])
    expect(found(asked("/", hostOf(2), { status: 404 }))).toEqual([])
    const lost = { status: 302, location: unknown! }
    expect(found(asked("/a.b/c", hostOf(1), lost))).toEqual([])
    expect(found(asked("/a.b/c", hostOf(1), { status: 404 }))).toHaveLength(1)
    expect(found(asked("/a.b/c", hostOf(1), { status: 404 }, false))).toEqual([])
    expect(found(asked("/a.b/c", hostOf(1), lost, false))).toHaveLength(1)
    expect(found(asked("/a.b/c", hostOf(2), { status: 404 }))).toEqual([])
    expect(found(asked("/api/v1/links", hostOf(1), { status: 404 }))).toEqual([])
    expect(found(asked("/api/v1/links", hostOf(1), lost))).toHaveLength(1)
    expect(found(asked("/", hostOf(1), { status: 503 }))).toEqual([])
    expect(found(asked("/", hostOf(1), { status: 404 }))).toHaveLength(1)
    expect(found(asked("/", hostOf(1), { ...led, location: `${home}/else` }))).toHaveLength(1)
    expect(found(asked("/", hostOf(1), led, false))).toHaveLength(1)
    expect(found(asked("/", hostOf(2), led))).toHaveLength(1)
    expect(found(asked("/a.b/c", hostOf(1), led))).toHaveLength(1)
  })

  it("allows certificates for hosts that are served, as far as a node may know", () => {
    const certificate = (host: string, status: number) =>
      asked(`/health/certificate?domain=${host}`, host, { status })
    for (const host of [ownHost, hostOf(1)]) {
      expect(found(certificate(host, 200))).toEqual([])
      expect(found(certificate(host, 404))).toHaveLength(1)
    }
    expect(found(certificate("nowhere.test", 404))).toEqual([])
    expect(found(certificate("nowhere.test", 200))).toHaveLength(1)
    const changes = (at_s: number) => ({ domainChanges: [{ at_us: at_s * s_us, isServed: true }] })
    const changing = (status: number, at_s: number) => found(certificate(changingHost, status), changes(at_s))
    expect(changing(200, 5)).toEqual([])
    expect(changing(404, 5)).toHaveLength(1)
    expect(changing(200, 9)).toEqual([])
    expect(changing(404, 9)).toEqual([])
    expect(changing(404, 20)).toEqual([])
    expect(changing(200, 20)).toHaveLength(1)
    const paused = { tag: "paused", at_us: 6 * s_us, by: "node-0#1", for_us: 4 * s_us } as const
    expect(found(certificate(changingHost, 404), { ...changes(5), journal: [paused] })).toEqual([])
  })
})
