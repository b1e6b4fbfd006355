import { describe, expect, it } from "vitest"
import { formatMoment } from "../../../src/model/Iso8601.ts"
import { durationOf, endOf } from "../../../src/sim/clients/Lasting.ts"

const lasting = (months: number, days = 0, seconds = 0) => ({ months, days, seconds })

describe("how long a link is to last", () => {
  it.each([
    [lasting(1), "P1M"],
    [lasting(12), "P1Y"],
    [lasting(13, 2, 5), "P1Y1M2DT5S"],
    [lasting(0, 31), "P31D"],
    [lasting(0, 0, 20), "PT20S"]
  ])("is told the API: %j as %s", (lasts, text) => {
    expect(durationOf(lasts)).toBe(text)
  })

  it.each([
    ["2026-01-31T23:59:58.123Z", lasting(1), "2026-02-28T23:59:58.123Z"],
    ["2024-01-30T00:00:00.000Z", lasting(1, 1), "2024-03-01T00:00:00.000Z"],
    ["2024-02-29T12:00:00.000Z", lasting(12), "2025-02-28T12:00:00.000Z"],
    ["2026-11-30T00:00:00.500Z", lasting(3), "2027-02-28T00:00:00.500Z"],
    ["2026-12-31T23:59:57.000Z", lasting(13, 2, 5), "2028-02-03T00:00:02.000Z"],
    ["2026-02-28T01:00:00.000Z", lasting(0, 31), "2026-03-31T01:00:00.000Z"]
  ])("ends by the calendar: from %s, %j, until %s", (from, lasts, until) => {
    expect(formatMoment(endOf(Date.parse(from), lasts))).toBe(until)
  })
})
