import { describe, expect, it } from "@effect/vitest"
import { hourRowsMax, VisitTally } from "../../src/actors/VisitTally.ts"
import { valuesMax } from "../../src/Visit.ts"

const browser = (...values: ReadonlyArray<string | undefined>) => ({ isBot: false, values })

describe("VisitTally", () => {
  it("adds visits up by subject, hour and value, bots apart", () => {
    const tally = new VisitTally()
    tally.add("a", 1, browser("x", undefined, "Firefox"))
    tally.add("a", 1, browser("y", undefined, "Firefox"))
    tally.add("a", 1, { isBot: true, values: ["x"] })
    tally.add("a", 2, browser())
    expect(tally.rows).toBe(5)
    expect(tally.take(hourRowsMax)).toEqual([
      {
        subject: "a",
        hour: 1,
        nonBots: 2,
        bots: 1,
        values: [
          { dimension: "referrers", value: "x", visits: 2 },
          { dimension: "referrers", value: "y", visits: 1 },
          { dimension: "browsers", value: "Firefox", visits: 2 }
        ]
      },
      { subject: "a", hour: 2, nonBots: 1, bots: 0, values: [] }
    ])
    expect(tally.rows).toBe(0)
  })

  it(`keeps ${valuesMax} values of a dimension, and counts visits with others in the total alone`, () => {
    const tally = new VisitTally()
    for (let n = 0; n < valuesMax + 10; n++) tally.add("a", 1, browser(`host${n}`))
    tally.add("a", 1, browser("host0"))
    const [hour] = tally.take(hourRowsMax)
    expect(hour!.nonBots).toBe(valuesMax + 11)
    expect(hour!.values).toHaveLength(valuesMax)
    expect(hour!.values[0]).toEqual({ dimension: "referrers", value: "host0", visits: 2 })
  })

  it("is taken out in parts that have no more rows than asked for", () => {
    const tally = new VisitTally()
    for (let n = 0; n < 400; n++) tally.add(`s${n}`, 1, browser("x", "y"))
    expect(tally.rows).toBe(1_200)
    const parts = [tally.take(500), tally.take(500), tally.take(500), tally.take(500)]
    expect(parts.map(({ length }) => length)).toEqual([166, 166, 68, 0])
    expect(new Set(parts.flat().map(({ subject }) => subject)).size).toBe(400)
  })
})
