import { Option } from "effect"
import { describe, expect, it } from "vitest"
import * as ClientAddress from "../../../../src/http/exchange/ClientAddress.ts"
import { compile, decide } from "../../../../src/http/redirects/rules/Decision.ts"
import * as VisitorFacts from "../../../../src/http/redirects/rules/VisitorFacts.ts"
import { osNames } from "../../../../src/model/RuleBounds.ts"
import { hour_ms } from "../../../../src/model/Visit.ts"
import { OS_MAP } from "bowser"
import { firefox } from "../../../support/samples/SomeVisits.ts"
import { testHash } from "../../../support/TestHash.ts"

const factsOf = VisitorFacts.makeWith({
  addresses: ClientAddress.make([]),
  countries: { header: "cf-ipcountry", of: ({ country }) => country },
  hash: testHash
})

const midnight = Date.parse("2027-03-03T00:00:00Z")

const requestOf = (headers: Readonly<Record<string, string>>, address?: string, url = "/k") => ({
  headers,
  remoteAddress: Option.fromNullable(address),
  url
})

const factsFor = (...request: Parameters<typeof requestOf>) => factsOf(requestOf(...request), "k", midnight)

describe("the facts of a request", () => {
  it("are what its headers, its connection and its query say", () => {
    const facts = factsFor(
      { "user-agent": firefox, "accept-language": "en;q=0.8, de-AT", "cf-ipcountry": "AT" },
      "::ffff:192.0.2.1",
      "/k?a=1&b"
    )
    expect([facts.device(), facts.os(), facts.language(), facts.country()]).toEqual([
      "desktop",
      "Linux",
      "de-at",
      "AT"
    ])
    expect(facts.address()!.toString()).toBe("192.0.2.1")
    expect([...facts.query()]).toEqual([
      ["a", "1"],
      ["b", ""]
    ])
  })

  it("are not known where nothing says them, or something too long to be looked at", () => {
    const facts = factsFor({})
    expect([facts.language(), facts.country(), facts.address()]).toEqual([undefined, undefined, undefined])
    expect(factsFor({ "accept-language": "de,".repeat(200) }).language()).toBeUndefined()
    expect(factsFor({ "accept-language": ";;;" }).language()).toBeUndefined()
    expect(factsFor({ "accept-language": "de;q=0" }).language()).toBeUndefined()
    expect(factsFor({ "user-agent": firefox.padEnd(1_025) }).device()).toBe("bot")
  })

  it("name systems as rules can name them", () => {
    expect(Object.values(OS_MAP)).toEqual(expect.arrayContaining([...osNames]))
  })
})

describe("what is drawn for a visitor", () => {
  const drawn = (address: string | undefined, key = "k", at = midnight) =>
    factsOf(requestOf({}, address), key, at).draw()

  it("is the same all day long, for a client's network, and another for another link or on another day", () => {
    const draws = [0, 1, hour_ms, 24 * hour_ms - 1].map((after) => drawn("192.0.2.1", "k", midnight + after))
    expect(new Set(draws).size).toBe(1)
    const others = [
      drawn("192.0.2.2"),
      drawn("192.0.2.1", "l"),
      drawn("192.0.2.1", "k", midnight - 1),
      drawn("192.0.2.1", "k", midnight + 24 * hour_ms),
      drawn(undefined)
    ]
    expect(new Set([...others, draws[0]]).size).toBe(6)
    expect(drawn("2001:db8::1")).toBe(drawn("2001:db8::ffff:1"))
    expect(drawn("2001:db8::1")).not.toBe(drawn("2001:db8:0:1::1"))
  })

  it("divides clients among variants by weight: each share of 20,000 within five standard deviations", () => {
    const weights = [1, 2, 3, 14]
    const total = 20
    const clients = 20_000
    const variants = weights.map((weight, index) => ({ url: `https://example.com/${index}`, weight }))
    const compiled = compile({ variants }, "https://example.com/")
    const counts = weights.map(() => 0)
    for (let n = 0; n < clients; n++) {
      const address = `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`
      const { url } = decide(compiled, factsOf(requestOf({}, address), "k", midnight))
      counts[Number(url.at(-1))]!++
    }
    for (const [index, weight] of weights.entries()) {
      const share = weight / total
      const deviation = Math.sqrt(clients * share * (1 - share))
      expect(Math.abs(counts[index]! - clients * share)).toBeLessThan(5 * deviation)
    }
  })
})
