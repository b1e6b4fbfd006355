import { describe, expect, it } from "vitest"
import { refusals } from "../../../src/sim/clients/Refusals.ts"
import { Refusals } from "../../../src/sim/checkers/links/Refusals.ts"
import type { Exchange } from "../../../src/sim/History.ts"
import { s_us } from "../../../src/sim/world/Time.ts"
import { created, evidence, exchange, row } from "../actors/Evidence.ts"

const [refusal] = refusals
const choices = { title: "wrong" }
const body = (type: string, path: string) =>
  JSON.stringify({ type: `https://linkmint.dev/problems/${type}`, errors: [{ path, message: "is wrong" }] })
/** A create that is to be refused, and was. */
const refused = (some: Partial<Exchange> = {}) =>
  created(2, { key: undefined, status: 400, refusal, choices, body: body("invalid-url", "url"), ...some })
const change = (validSince: string) =>
  exchange(3, { kind: "change", status: 400, location: undefined, choices: { title: "t", validSince } })
const bound = (some: object) =>
  ({ tag: "bound", at_us: s_us, by: "node-0#1", link: { ...row, ...some } }) as const

describe("The checker of refusals", () => {
  it.each([
    ["a create that should have been refused", [refused({ status: 201, body: "{}" })], {}],
    ["another problem than the documented one", [refused({ body: body("blocked-target", "url") })], {}],
    ["another status", [refused({ status: 422 })], {}],
    ["another field that is blamed", [refused({ body: body("invalid-url", "alias") })], {}],
    ["what is stored though it was refused", [refused()], { title: "wrong" }],
    ["a change that is refused without a reason", [change("1970-01-01T00:00:05Z")], {}]
  ])("tells %s", (_, exchanges, link) => {
    expect(Refusals.check(evidence({ exchanges, journal: [bound(link)] }))).toHaveLength(1)
  })

  it("finds nothing in what is refused as documented, or was not answered, nor in a link that would begin when it has ended", () => {
    const exchanges = [refused(), refused({ status: 503, body: "" }), change("1970-01-01T00:00:09Z")]
    expect(Refusals.check(evidence({ exchanges, journal: [bound({ expiresAt: 9_000 })] }))).toEqual([])
  })
})
