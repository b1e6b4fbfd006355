import { describe, expect, it } from "vitest"
import { qualifiedKey } from "../../../src/keys/QualifiedKey.ts"
import { Visits } from "../../../src/sim/checkers/visits/Visits.ts"
import { linkRequestOf } from "../../../src/sim/clients/LinkRequests.ts"
import { orphanedBy, type OrphanKind, orphansOf } from "../../../src/sim/deployment/Orphans.ts"
import { s_us } from "../../../src/sim/world/Time.ts"
import { evidence } from "../actors/Evidence.ts"

const by = "node-0#1"

const notLed = (at_s: number, kinds: ReadonlyArray<OrphanKind> = ["missing"], isSure = true) =>
  ({ tag: "not led", at_us: at_s * s_us, by, domains: [1], kinds, isSure }) as const

/** What the store takes 2 s after the beginning. */
const counted = (...orphans: ReadonlyArray<readonly [name: string, visits: number]>) =>
  ({ tag: "counted", at_us: 2 * s_us, by, visits: [], orphans }) as const

const both = (kind: OrphanKind, visits = 1, domain = 1) =>
  counted([orphansOf(domain, kind), visits], [orphansOf(domain, "all"), visits])

const judged = (...journal: Parameters<typeof evidence>[0]["journal"] & object) =>
  Visits.check(evidence({ journal }))

describe("visitors of domains whom no link has led", () => {
  it("are counted once each, as one of their kind and among all, and need not be where that is not sure", () => {
    expect(judged(notLed(1), both("missing"))).toEqual([])
    expect(judged(notLed(1, ["missing", "ended"], false), both("ended"))).toEqual([])
    expect(judged(notLed(1, ["missing", "ended"], false))).toEqual([])
  })

  it.each([
    ["that nobody counted", [notLed(1)]],
    ["of whom one is counted twice", [notLed(1), both("missing", 2)]],
    ["who are counted as another kind", [notLed(1), both("ended")]],
    ["who are counted in another domain", [notLed(1), both("missing", 1, 0)]],
    ["who are not counted among all", [notLed(1), counted([orphansOf(1, "missing"), 1])]],
    ["who are counted among all alone", [notLed(1), counted([orphansOf(1, "all"), 1])]],
    ["who were counted, and of whom there were none", [both("missing")]]
  ])("are found %s", (_, journal) => {
    expect(judged(...journal)).not.toEqual([])
  })

  it("may be lost with the last second of a node that is killed", () => {
    const killed = { tag: "killed", at_us: 1.5 * s_us, by } as const
    expect(judged(notLed(1), killed)).toEqual([])
    expect(judged(notLed(0.2), { ...killed, at_us: 9 * s_us })).not.toEqual([])
  })

  it("are told by the status, and by where they are sent instead", () => {
    const answer = (status: number, location?: string) => orphanedBy({ status, location })
    expect(answer(404)).toEqual({ kinds: ["missing"], isSure: true })
    expect(answer(410)).toEqual({ kinds: ["ended"], isSure: false })
    expect(answer(302, "https://ended.example.com/nothing-here/1")).toEqual({
      kinds: ["missing"],
      isSure: true
    })
    expect(answer(302, "https://ended.example.com/1")).toEqual({ kinds: ["ended"], isSure: true })
    expect(answer(429).kinds).toEqual([])
    expect(orphanedBy(undefined)).toEqual({ kinds: ["missing", "ended"], isSure: false })
  })

  it("ask for links in the domain of these", () => {
    const key = qualifiedKey({ domain: 1, key: "abc" })
    const asked = linkRequestOf({ client: "a", kind: "redirect", key, direct: false })
    expect(asked.orphan).toEqual({ domains: [1], isSure: true })
  })
})
