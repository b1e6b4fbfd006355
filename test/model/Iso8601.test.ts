import { DateTime, FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"
import { after, formatMoment, momentMax, parseDuration, parseMoment } from "../../src/model/Iso8601.ts"

const ms = (text: string) => Date.parse(text)

/** Any moment of the years 0 to 9999. */
const moment = fc.integer({ min: ms("0000-01-01T00:00:00Z"), max: momentMax })

describe("Iso8601.formatMoment", () => {
  it("formats moments of one second, and of others, as Effect does", () => {
    fc.assert(
      fc.property(moment, fc.array(fc.integer({ min: 0, max: 3_000 }), { maxLength: 20 }), (at, after) => {
        const moments = [at, ...after.map((ms) => at + ms)].filter((one) => one <= momentMax)
        expect(moments.map(formatMoment)).toEqual(
          moments.map((one) => DateTime.formatIso(DateTime.unsafeMake(one)))
        )
      })
    )
  })
})

describe("Iso8601.parseMoment", () => {
  it("gives back every moment that formatMoment wrote", () => {
    fc.assert(
      fc.property(moment, (at) => {
        expect(parseMoment(formatMoment(at))).toBe(at)
      })
    )
  })

  it("understands every offset as the moment in UTC", () => {
    const offset = fc.integer({ min: -(23 * 60 + 59), max: 23 * 60 + 59 })
    const sane = fc.integer({ min: ms("0001-01-02T00:00:00Z"), max: ms("9999-12-30T00:00:00Z") })
    fc.assert(
      fc.property(sane, offset, (at, minutes) => {
        const local = formatMoment(at + minutes * 60_000).replace("Z", "")
        const digits = (n: number) => String(n).padStart(2, "0")
        const [hours, rest] = [Math.trunc(Math.abs(minutes) / 60), Math.abs(minutes) % 60]
        expect(parseMoment(`${local}${minutes < 0 ? "-" : "+"}${digits(hours)}:${digits(rest)}`)).toBe(at)
      })
    )
  })

  it("knows every day of the calendar, and no other", () => {
    const [month, day] = [fc.integer({ min: 0, max: 13 }), fc.integer({ min: 0, max: 32 })]
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 9_999 }), month, day, (year, month, day) => {
        const digits = (n: number, width: number) => String(n).padStart(width, "0")
        const text = `${digits(year, 4)}-${digits(month, 2)}-${digits(day, 2)}T00:00:00`
        const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
        const days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0
        const moment = parseMoment(`${text}Z`)
        expect(moment === undefined ? "none" : formatMoment(moment)).toBe(
          day >= 1 && day <= days ? `${text}.000Z` : "none"
        )
      }),
      { numRuns: 1_000 }
    )
  })

  it("keeps milliseconds of what is finer", () => {
    expect(parseMoment("2027-01-01T00:00:00.9999Z")).toBe(ms("2027-01-01T00:00:00.999Z"))
  })

  it("understands a moment beyond the year 9999 that an offset leads to, for the caller to refuse", () => {
    expect(parseMoment("9999-12-31T23:59:59.999-00:01")).toBe(momentMax + 60_000)
  })

  it("understands or refuses any text, and never throws", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(parseMoment(text)).toBeUndefined()
      })
    )
  })
})

describe("Iso8601.parseDuration", () => {
  const lasting = (text: string, start = "2026-11-21T10:00:00.000Z") => {
    const duration = parseDuration(text)
    return duration === undefined ? undefined : formatMoment(after(ms(start), duration))
  }

  it.each([
    ["P1M", "2027-01-31T10:00:00.000Z", "2027-02-28T10:00:00.000Z"],
    ["P1M", "2028-01-31T10:00:00.000Z", "2028-02-29T10:00:00.000Z"],
    ["P1Y", "2028-02-29T10:00:00.000Z", "2029-02-28T10:00:00.000Z"],
    ["P1D", "2027-03-28T00:30:00.000Z", "2027-03-29T00:30:00.000Z"],
    ["PT24H", "2027-10-31T00:30:00.000Z", "2027-11-01T00:30:00.000Z"],
    ["P1MT1S", "2027-01-31T10:00:00.000Z", "2027-02-28T10:00:01.000Z"],
    ["P4W", "2026-11-21T10:00:00.000Z", "2026-12-19T10:00:00.000Z"]
  ])("%s from %s ends at %s, by the calendar in UTC", (duration, start, end) => {
    expect(lasting(duration, start)).toBe(end)
  })

  it("understands seconds as milliseconds, to the millisecond", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10 ** 10 }), (length) => {
        const text = `PT${Math.trunc(length / 1_000)}.${String(length % 1_000).padStart(3, "0")}S`
        expect(after(0, parseDuration(text)!)).toBe(length)
      })
    )
  })

  it("gives whole milliseconds for any fraction", () => {
    const fraction = fc.tuple(fc.stringMatching(/^\d{1,3}[.,]\d{1,12}$/), fc.constantFrom("W", "D", "M", "Y"))
    fc.assert(
      fc.property(fraction, ([number, unit]) => {
        const duration = parseDuration(`P${number}${unit}`)
        if (duration === undefined) return
        expect(Number.isInteger(after(ms("2026-11-21T10:00:00.001Z"), duration))).toBe(true)
      }),
      { numRuns: 1_000 }
    )
  })

  it("has none below a millisecond", () => {
    expect(parseDuration("PT0.0009S")).toBeUndefined()
    expect(parseDuration("P0.00000001D")).toBeUndefined()
    expect(lasting("P0.00000002D")).toBe("2026-11-21T10:00:00.002Z")
  })

  it("gives no moment for what ends beyond all calendars", () => {
    expect(after(0, parseDuration("P999999999Y")!)).toBeNaN()
  })

  it("understands or refuses any text, and never throws", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^P[0-9.,YMWDTHS-]{0,20}$/), (text) => {
        const duration = parseDuration(text)
        if (duration !== undefined) expect(duration.toMillis()).toBeGreaterThanOrEqual(1)
      }),
      { numRuns: 2_000 }
    )
  })
})
