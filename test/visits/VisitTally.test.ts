import { describe, expect, it } from "@effect/vitest"
import { hourCountsMax, VisitTally } from "../../src/visits/VisitTally.ts"
import { subjectOfLink, valuesMax } from "../../src/model/Visit.ts"
import { linkOf } from "../support/samples/SomeLinks.ts"

const browser = (...values: ReadonlyArray<string | undefined>) => ({ isBot: false, values })

describe("VisitTally", () => {
  it("adds visits up by subject, hour and value, bots apart", () => {
    const tally = new VisitTally()
    tally.add("a", 1, browser("x", undefined, "Firefox"))
    tally.add("a", 1, browser("y", undefined, "Firefox"))
    tally.add("a", 1, { isBot: true, values: ["x"] })
    tally.add("a", 2, browser())
    expect(tally.counts).toBe(5)
    expect(tally.take(hourCountsMax)).toEqual([
      {
        subject: "a",
        hour: 1,
        nonBots: 2,
        bots: 1,
        values: [
          { dimension: "referrers", value: "x", visits: 2 },
          { dimension: "browsers", value: "Firefox", visits: 2 },
          { dimension: "referrers", value: "y", visits: 1 }
        ]
      },
      { subject: "a", hour: 2, nonBots: 1, bots: 0, values: [] }
    ])
    expect(tally.counts).toBe(0)
  })

  it("adds hours that were taken before to those that it has", () => {
    const link = linkOf("a")
    const fill = (tally: VisitTally) => {
      tally.addLink(link, 1, { ...browser("x"), visitor: 64 + 3 })
      for (let n = 0; n < 20; n++) tally.add("usr_1", 1, browser(`host${n}`))
      tally.add("usr_1", 2, { isBot: true, values: [] })
    }
    const [tally, other, twice] = [new VisitTally(), new VisitTally(), new VisitTally()]
    fill(tally)
    fill(other)
    fill(twice)
    fill(twice)
    other.take(10 * hourCountsMax).forEach((hour) => tally.put(hour))
    expect(tally.counts).toBe(twice.counts)
    expect(tally.take(10 * hourCountsMax)).toEqual(twice.take(10 * hourCountsMax))
  })

  it("has the visitors of an hour, each register once, and counts sixteen registers as one", () => {
    const tally = new VisitTally()
    const visit = (subject: string, visitor: number | undefined) =>
      tally.add(subject, 1, { ...browser(), visitor })
    for (const visitor of [64 + 3, 64 + 9, 64 + 2, 96 + 1]) visit("a", visitor)
    visit("b", undefined)
    for (let register = 0; register < 100; register++) visit("c", 32 * register + 1)
    for (let register = 0; register < 100; register++) visit("c", 32 * register + 2)
    expect(tally.counts).toBe(3 + 6)
    const taken = tally.take(hourCountsMax)
    expect(taken.map(({ subject, visitors }) => [subject, visitors?.length])).toEqual([
      ["a", 2],
      ["b", undefined],
      ["c", 100]
    ])
    expect(taken[0]!.visitors).toEqual([64 + 9, 96 + 1])
    expect(taken[2]!.visitors).toContain(32 * 99 + 2)
    expect(tally.counts).toBe(0)
  })

  it(`keeps ${valuesMax} values of a dimension, and counts visits with others in the total alone`, () => {
    const tally = new VisitTally()
    for (let n = 0; n < valuesMax + 10; n++) tally.add("a", 1, browser(`host${n}`))
    tally.add("a", 1, browser("host0"))
    const [hour] = tally.take(hourCountsMax)
    expect(hour!.nonBots).toBe(valuesMax + 11)
    expect(hour!.values).toHaveLength(valuesMax)
    expect(hour!.values[0]).toEqual({ dimension: "referrers", value: "host0", visits: 2 })
  })

  it("counts a text as a value of each dimension by itself, of an hour with few values and with many", () => {
    const tally = new VisitTally()
    const values = (others: number) => {
      tally.add("a", 1, browser("unknown", "unknown"))
      for (let n = 0; n < others; n++) tally.add("a", 1, browser(`host${n}`, "unknown"))
      tally.add("a", 1, browser(undefined, "unknown", "unknown"))
      const [hour] = tally.take(hourCountsMax)
      return hour!.values.filter(({ value }) => value === "unknown")
    }
    for (const others of [0, 5, 40]) {
      expect(values(others)).toEqual([
        { dimension: "referrers", value: "unknown", visits: 1 },
        { dimension: "countries", value: "unknown", visits: others + 2 },
        { dimension: "browsers", value: "unknown", visits: 1 }
      ])
    }
  })

  it("adds visits of links up by key and time of creation, beside other subjects of the same name", () => {
    const tally = new VisitTally()
    const [first, again] = [1_700_000_000_000, 1_700_000_000_001].map((createdAt) => ({
      ...linkOf("a"),
      createdAt
    }))
    for (const hour of [1, 2]) {
      tally.addLink(first!, hour, browser("x"))
      tally.addLink(again!, hour, browser("y"))
      tally.add("a", hour, browser())
      // Read again, it is another object.
      tally.addLink({ ...first! }, hour, browser("x"))
      tally.addLink(again!, hour, browser("y"))
    }
    expect(tally.counts).toBe(10)
    const taken = [...tally.take(hourCountsMax), ...tally.take(hourCountsMax)]
    const shown = taken.map(({ hour, nonBots, subject, values }) => [
      hour,
      subject,
      nonBots,
      ...values.map(({ value, visits }) => `${value} ${visits}`)
    ])
    for (const hour of [1, 2]) {
      expect(shown).toContainEqual([hour, subjectOfLink(first!), 2, "x 2"])
      expect(shown).toContainEqual([hour, subjectOfLink(again!), 2, "y 2"])
      expect(shown).toContainEqual([hour, "a", 1])
    }
    expect(shown).toHaveLength(6)
    expect(tally.counts).toBe(0)
  })

  it("is taken out in parts that have no more counts than asked for", () => {
    const tally = new VisitTally()
    for (let n = 0; n < 400; n++) tally.add(`s${n}`, 1, browser("x", "y"))
    expect(tally.counts).toBe(1_200)
    const parts = [tally.take(500), tally.take(500), tally.take(500), tally.take(500)]
    expect(parts.map(({ length }) => length)).toEqual([166, 166, 68, 0])
    expect(new Set(parts.flat().map(({ subject }) => subject)).size).toBe(400)
  })
})
