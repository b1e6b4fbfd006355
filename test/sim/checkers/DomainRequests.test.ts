import { describe, expect, it } from "vitest"
import { changingHost, newAt } from "../../../src/sim/deployment/FurtherDomains.ts"
import { DomainRequests } from "../../../src/sim/checkers/domains/DomainRequests.ts"
import { Domains } from "../../../src/sim/checkers/domains/Domains.ts"
import type { Domain } from "../../../src/model/Domain.ts"
import type { DomainAct, Exchange } from "../../../src/sim/History.ts"
import { s_us } from "../../../src/sim/world/Time.ts"
import { addedAs } from "../../../src/storage/domains/DomainStore.ts"
import { created, evidence, exchange, row } from "../actors/Evidence.ts"

const by = "node-0#1"
const target = "https://ended.example.com/nothing-here/1"
const added: Domain = addedAs({ ...newAt(changingHost), token: "token" }, 1)
const verified: Domain = { ...added, verifiedAt: 5_000 }
const leading: Domain = { ...verified, targets: { ...verified.targets, unknown: target } }

const written = (at_s: number, domain: Domain) =>
  ({ tag: "domain written", at_us: at_s * s_us, by, domain }) as const
const removed = { tag: "domain removed", at_us: 20 * s_us, by, number: 1 } as const
const shown = (at_s: number, token: string) =>
  ({ tag: "proof shown", at_us: at_s * s_us, by: "administrator", token }) as const
const journal = [written(2, added), shown(4, "token"), written(5, verified), written(8, leading), removed]

/** A request about the domain, which takes a second, half of it until what it does is done. */
const asked = (at_s: number, about: DomainAct, status: number, body: unknown = "") =>
  exchange(at_s, {
    kind: "domain",
    key: undefined,
    location: undefined,
    about,
    sent_us: (at_s - 0.5) * s_us,
    answered_us: (at_s + 0.5) * s_us,
    status,
    body: body === "" ? "" : JSON.stringify(body)
  })
const bodyOf = ({ host, targets, token, verifiedAt }: Domain) => ({
  host,
  targets,
  verifiedAt: verifiedAt === null ? null : "1970-01-01T00:00:05.000Z",
  proof: { file: { content: token } }
})
const problem = (type: string) => ({ type: `https://linkmint.dev/problems/${type}` })

const right = [
  asked(1, { act: "verify" }, 404, problem("not-found")),
  asked(2, { act: "add" }, 201, bodyOf(added)),
  asked(3, { act: "add" }, 409, problem("domain-taken")),
  asked(3, { act: "verify" }, 409, problem("domain-not-proven")),
  asked(5, { act: "verify" }, 200, bodyOf(verified)),
  asked(7, { act: "verify" }, 200, bodyOf(verified)),
  asked(8, { act: "change", target }, 200, bodyOf(leading)),
  asked(9, { act: "refused" }, 422, problem("blocked-target")),
  asked(10, { act: "list" }, 200, { data: [bodyOf(leading)] }),
  asked(11, { act: "list" }, 503),
  asked(20, { act: "remove" }, 204),
  asked(22, { act: "remove" }, 404, problem("not-found")),
  asked(22, { act: "list" }, 200, { data: [] })
]

describe("The checker of requests about domains", () => {
  const wrong: ReadonlyArray<readonly [title: string, exchange: Exchange]> = [
    ["a domain that was not added", asked(7, { act: "add" }, 201, bodyOf(added))],
    ["a host that is taken and is not there", asked(22, { act: "add" }, 409, problem("domain-taken"))],
    ["a domain that is verified and is not", asked(3, { act: "verify" }, 200, bodyOf(verified))],
    ["a proof that is not seen", asked(6.6, { act: "verify" }, 409, problem("domain-not-proven"))],
    ["a change that was not made", asked(10, { act: "change", target }, 200, bodyOf(leading))],
    ["a target at the service itself", asked(9, { act: "refused" }, 200, bodyOf(leading))],
    ["a domain that was not removed", asked(10, { act: "remove" }, 204)],
    ["a domain that is not found", asked(10, { act: "remove" }, 404, problem("not-found"))],
    ["a list with what was", asked(10, { act: "list" }, 200, { data: [bodyOf(verified)] })],
    ["a list without a domain", asked(10, { act: "list" }, 200, { data: [] })]
  ]

  it.each(wrong)("tells %s", (_, one) => {
    expect(DomainRequests.check(evidence({ journal, exchanges: [one] }))).toHaveLength(1)
  })

  it("tells a domain that is verified without its proof", () => {
    const entries = [written(2, added), shown(4, "another"), written(5, verified)]
    expect(DomainRequests.check(evidence({ journal: entries }))).toHaveLength(1)
  })

  it("finds nothing in what was so at some moment of the request, or was not answered", () => {
    expect(DomainRequests.check(evidence({ journal, exchanges: right }))).toEqual([])
  })
})

describe("The checker of domains", () => {
  const bound = { tag: "bound", at_us: s_us, by, link: row } as const
  const domainChanges = [
    { at_us: 5 * s_us, isServed: true },
    { at_us: 20 * s_us, isServed: false }
  ]
  const probe = (location: string | undefined) =>
    exchange(15, { kind: "probe", visitor: "desk", status: location === undefined ? 404 : 302, location })
  const check = (location: string | undefined) =>
    Domains.check(
      evidence({ journal: [bound, ...journal], exchanges: [created(1), probe(location)], domainChanges })
    )

  it("tells people who are not sent where their domain says, or elsewhere", () => {
    expect(check(undefined)).toHaveLength(1)
    expect(check("https://ended.example.com/nothing-here/2")).toHaveLength(1)
  })

  it("finds nothing in people who are sent where their domain says", () => {
    expect(check(target)).toEqual([])
  })
})
