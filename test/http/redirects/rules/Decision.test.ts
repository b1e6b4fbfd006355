import { FastCheck as fc, Struct } from "effect"
import { IANAZone } from "luxon"
import { describe, expect, it, vi } from "vitest"
import { compile, decide, type Facts } from "../../../../src/http/redirects/rules/Decision.ts"
import { deviceNames, osNames } from "../../../../src/model/RuleBounds.ts"
import type { Conditions, Routing, Rule, Variant } from "../../../../src/model/Rules.ts"
import { parseAddress } from "../../../../src/model/Network.ts"

const now = Date.parse("2027-03-03T12:00:00Z")
const minute_ms = 60_000
const otherwise = "https://example.com/otherwise"

/** What is known of a visitor. */
interface Known {
  readonly now?: number
  readonly device?: string
  readonly os?: string
  readonly language?: string
  readonly country?: string
  readonly query?: string
  readonly address?: string
  readonly draw?: number
}

/** The facts of a visitor, and which of them were asked for. */
const factsOf = (known: Known, asked: Array<string> = []): Facts => {
  const found =
    <A>(name: string, value: A) =>
    () => {
      asked.push(name)
      return value
    }
  return {
    now: known.now ?? now,
    device: found("device", known.device),
    os: found("os", known.os),
    language: found("language", known.language),
    country: found("country", known.country),
    query: found("query", new URLSearchParams(known.query ?? "")),
    address: found("address", known.address === undefined ? undefined : parseAddress(known.address)),
    draw: found("draw", known.draw ?? 0)
  }
}

const ruleOf = (when: Conditions, name?: string): Rule => ({
  url: "https://example.com/rule",
  when,
  ...(name !== undefined && { name })
})

const nameFor = (routing: Routing, known: Known) => decide(compile(routing, otherwise), factsOf(known)).name

const holds = (when: Conditions, known: Known) => nameFor({ rules: [ruleOf(when)] }, known) === "rule 1"

describe("a condition", () => {
  const cases: ReadonlyArray<readonly [name: string, when: Conditions, yes: Known, no: Known]> = [
    ["of devices", { devices: ["mobile", "tablet"] }, { device: "tablet" }, { device: "desktop" }],
    ["of systems", { os: ["iOS"] }, { os: "iOS" }, { os: "Android" }],
    ["of languages", { languages: ["DE"] }, { language: "de" }, { language: "den" }],
    ["of a language of a country", { languages: ["de-AT"] }, { language: "de-at" }, { language: "de" }],
    ["of a language of any country", { languages: ["de"] }, { language: "de-at" }, { language: "en" }],
    ["of countries", { countries: ["DE", "AT"] }, { country: "AT" }, { country: "CH" }],
    ["of a parameter", { query: [{ name: "ref" }] }, { query: "ref" }, { query: "Ref=1" }],
    [
      "of a parameter's value",
      { query: [{ name: "ref", value: "a b" }] },
      { query: "ref=x&ref=a+b" },
      { query: "ref=a" }
    ],
    [
      "of two parameters",
      { query: [{ name: "a", value: "1" }, { name: "b" }] },
      { query: "b=&a=1" },
      { query: "a=1" }
    ],
    ["of a network", { networks: ["192.0.2.0/24"] }, { address: "192.0.2.9" }, { address: "192.0.3.9" }],
    ["of an address", { networks: ["2001:db8::1"] }, { address: "2001:db8::1" }, { address: "2001:db8::2" }],
    ["of the other family", { networks: ["::/0"] }, { address: "2001:db8::2" }, { address: "192.0.2.9" }],
    ["that begins", { from: "2027-03-03T12:00:00.000Z" }, { now }, { now: now - 1 }],
    ["that ends", { until: "2027-03-03T12:00:00.000Z" }, { now: now - 1 }, { now }],
    // Links of before moments were bounded have these.
    ["of an early year", { from: "-000001-12-31T19:00:00.000Z" }, { now }, { now: Date.UTC(-2, 0) }],
    ["of a late year", { until: "+010000-01-01T04:59:59.000Z" }, { now }, { now: Date.UTC(10_001, 0) }]
  ]
  for (const [name, when, yes, no] of cases) {
    it(`${name} holds where it says so, and nowhere else`, () => {
      expect([holds(when, yes), holds(when, no)]).toEqual([true, false])
    })
  }

  it("holds of no visitor of whom nothing is known", () => {
    for (const [name, when] of cases) {
      const isOfTime = "from" in when || "until" in when
      if (!isOfTime) expect([name, holds(when, {})]).toEqual([name, false])
    }
  })

  // Clocks go from UTC+1 to UTC+2 in Berlin on 28 March 2027, a Sunday, at 01:00 UTC.
  const at = (text: string) => ({ now: Date.parse(text) })
  it.each([
    ["from 09:00", { from: "09:00", until: "17:00" }, "2027-03-03T08:00:00Z", true],
    ["up to before 17:00", { from: "09:00", until: "17:00" }, "2027-03-03T15:59:59.999Z", true],
    ["not at 17:00", { from: "09:00", until: "17:00" }, "2027-03-03T16:00:00Z", false],
    ["by summer time", { from: "09:00", until: "17:00" }, "2027-03-28T07:00:00Z", true],
    ["not by winter time in summer", { from: "09:00", until: "17:00" }, "2027-03-28T15:00:00Z", false],
    ["from a time on", { from: "12:00" }, "2027-03-03T22:59:00Z", true],
    ["not before it", { from: "12:00" }, "2027-03-03T23:00:00Z", false],
    ["up to a time", { until: "12:00" }, "2027-03-02T23:00:00Z", true],
    ["on a day", { days: [3] }, "2027-03-03T22:59:00Z", true],
    ["not on the next one, which is later in UTC", { days: [3] }, "2027-03-03T23:00:00Z", false],
    ["at night", { days: [3], from: "22:00", until: "06:00" }, "2027-03-03T21:00:00Z", true],
    [
      "after midnight, still the former day's",
      { days: [3], from: "22:00", until: "06:00" },
      "2027-03-04T04:59:00Z",
      true
    ],
    ["not before that night", { days: [3], from: "22:00", until: "06:00" }, "2027-03-03T04:00:00Z", false],
    ["after the night of Sunday", { days: [7], from: "22:00", until: "06:00" }, "2027-03-01T00:00:00Z", true],
    ["not after it", { days: [7], from: "22:00", until: "06:00" }, "2027-03-01T05:00:00Z", false]
  ] as const)("of hours in Berlin holds %s", (_, hours, moment, expected) => {
    expect(holds({ hours: { timeZone: "Europe/Berlin", ...hours } }, at(moment))).toBe(expected)
  })

  it("look at one time zone, however its name is spelt: what is known of each is kept for good", () => {
    const create = vi.spyOn(IANAZone, "create")
    const spellings = Array.from({ length: 64 }, (_, number) =>
      [..."sydney"].map((letter, place) => ((number >> place) & 1 ? letter.toUpperCase() : letter)).join("")
    )
    for (const [index, spelling] of spellings.entries()) {
      const hours = { timeZone: `Australia/${spelling}`, from: "21:00" }
      expect(holds({ hours }, { now: now - index * minute_ms })).toBe(true)
    }
    expect(new Set(create.mock.calls.map(([name]) => name))).toEqual(new Set(["Australia/Sydney"]))
    create.mockRestore()
  })
})

/** Few values, so that conditions often hold. */
const value = {
  device: fc.constantFrom(...deviceNames.slice(0, 2)),
  os: fc.constantFrom(...osNames.slice(0, 2)),
  language: fc.constantFrom("de", "en"),
  country: fc.constantFrom("DE", "FR"),
  parameter: fc.constantFrom("a", "b")
}
const some = <A>(one: fc.Arbitrary<A>) => fc.uniqueArray(one, { minLength: 1, maxLength: 2 })

const all: fc.Arbitrary<Required<Omit<Conditions, "hours">>> = fc.record({
  devices: some(value.device),
  os: some(value.os),
  languages: some(value.language),
  countries: some(value.country),
  query: some(value.parameter).map((names) => names.map((name) => ({ name }))),
  networks: fc.constantFrom(["192.0.2.0/24"], ["2001:db8::/32"], ["0.0.0.0/0"]),
  from: fc.constantFrom("2027-03-03T11:00:00.000Z", "2027-03-03T13:00:00.000Z"),
  until: fc.constantFrom("2027-03-03T11:30:00.000Z", "2027-03-03T13:30:00.000Z")
})

const conditions: fc.Arbitrary<Conditions> = all.chain((all) =>
  fc
    .subarray(Struct.keys(all), { minLength: 1, maxLength: 3 })
    .map((names): Conditions => Struct.pick(all, ...names))
)

const visitor: fc.Arbitrary<Known> = fc.record(
  {
    device: value.device,
    os: value.os,
    language: value.language,
    country: value.country,
    query: fc.constantFrom("", "a", "b=1", "a&b"),
    address: fc.constantFrom("192.0.2.1", "198.51.100.1", "2001:db8::1")
  },
  { requiredKeys: [] }
)

/** The rules' own words, one condition after the other, as the product's are not written. */
const isMeant = (when: Conditions, known: Known): boolean => {
  const isOneOf = (values: ReadonlyArray<string> | undefined, fact: string | undefined) =>
    values === undefined || (fact !== undefined && values.includes(fact))
  const isV4 = known.address?.includes(".")
  return (
    isOneOf(when.devices, known.device) &&
    isOneOf(when.os, known.os) &&
    isOneOf(when.languages, known.language) &&
    isOneOf(when.countries, known.country) &&
    (when.query ?? []).every(({ name }) => new RegExp(`(^|&)${name}(=|&|$)`).test(known.query ?? "")) &&
    isOneOf(
      when.networks,
      known.address === undefined
        ? undefined
        : when.networks?.[0] === "0.0.0.0/0" && isV4
          ? "0.0.0.0/0"
          : { "192.0.2.1": "192.0.2.0/24", "2001:db8::1": "2001:db8::/32" }[known.address]
    ) &&
    (when.from === undefined || when.from <= "2027-03-03T12:00:00.000Z") &&
    (when.until === undefined || when.until > "2027-03-03T12:00:00.000Z")
  )
}

describe("the rules of a link", () => {
  it("lead a visitor by the first whose conditions all hold, and by none else", () => {
    let led = 0
    fc.assert(
      fc.property(fc.array(conditions, { maxLength: 8 }), visitor, (all, known) => {
        const expected = all.findIndex((when) => isMeant(when, known))
        const name = nameFor({ rules: all.map((when) => ruleOf(when)) }, known)
        if (expected !== -1) led++
        expect(name).toBe(expected === -1 ? "default" : `rule ${expected + 1}`)
      }),
      { seed: 21, numRuns: 1_000 }
    )
    // Both happen often.
    expect(led).toBeGreaterThan(200)
    expect(led).toBeLessThan(900)
  })

  it("hold no more where conditions are added", () => {
    fc.assert(
      fc.property(conditions, conditions, visitor, (one, more, known) => {
        if (holds({ ...more, ...one }, known)) expect(holds(one, known)).toBe(true)
      }),
      { seed: 22, numRuns: 1_000 }
    )
  })

  it("are counted by their names, or else by their places", () => {
    const rules = [
      ruleOf({ devices: ["tv"] }),
      ruleOf({ os: ["iOS"] }, "app store"),
      ruleOf({ os: ["Android"] })
    ]
    expect(nameFor({ rules }, { device: "tv" })).toBe("rule 1")
    expect(nameFor({ rules }, { os: "iOS" })).toBe("app store")
    expect(nameFor({ rules }, { os: "Android" })).toBe("rule 3")
    expect(decide(compile({ rules }, otherwise), factsOf({}))).toEqual({ url: otherwise, name: "default" })
  })

  it("ask for what conditions need alone, and for nothing that a rule before has made needless", () => {
    const rules = [ruleOf({ os: ["iOS"], countries: ["DE"] }), ruleOf({ languages: ["de"] })]
    const variants: ReadonlyArray<Variant> = [1, 2].map((weight) => ({ url: otherwise, weight }))
    const asked: Array<string> = []
    decide(compile({ rules, variants }, otherwise), factsOf({ os: "Android", language: "de" }, asked))
    expect(asked).toEqual(["os", "language"])
    decide(compile({ variants }, otherwise), factsOf({}, ((asked.length = 0), asked)))
    expect(asked).toEqual(["draw"])
    decide(
      compile({ rules: [ruleOf({ from: "2027-01-01T00:00:00.000Z" })] }, otherwise),
      factsOf({}, ((asked.length = 0), asked))
    )
    expect(asked).toEqual([])
  })

  it("say which headers of a request they depend on", () => {
    const varyOf = (...all: ReadonlyArray<Conditions>) =>
      compile({ rules: all.map((when) => ruleOf(when)) }, otherwise).vary
    expect(varyOf({ countries: ["DE"] }, { query: [{ name: "a" }] })).toBeUndefined()
    expect(varyOf({ devices: ["tv"] }, { languages: ["de"] })).toBe("user-agent, accept-language")
    expect(varyOf({ os: ["iOS"] })).toBe("user-agent")
  })
})

describe("the variants of a link", () => {
  const variants = [1, 6, 3].map((weight, index) => ({ url: `https://example.com/${index}`, weight }))

  it("get those whom no rule leads, each exactly its share of all numbers that can be drawn", () => {
    const compiled = compile({ rules: [ruleOf({ os: ["iOS"] })], variants }, otherwise)
    const names = Array.from({ length: 1_000 }, (_, draw) => decide(compiled, factsOf({ draw })).name)
    const count = (name: string) => names.filter((other) => other === name).length
    expect(["variant 1", "variant 2", "variant 3"].map(count)).toEqual([100, 600, 300])
    expect(decide(compiled, factsOf({ draw: 1, os: "iOS" })).name).toBe("rule 1")
    expect(decide(compiled, factsOf({ draw: 2 ** 48 - 1 })).url).toMatch(/^https:\/\/example\.com\/[012]$/)
  })
})
