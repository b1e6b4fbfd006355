import { describe, expect, it } from "@effect/vitest"
import { Effect, FastCheck as fc } from "effect"
import { formatMoment } from "../../../src/model/Iso8601.ts"
import { endOf, segmentsOf, startOf } from "../../../src/storage/visits/VisitPeriods.ts"
import { hour_ms } from "../../../src/model/Visit.ts"
import { forAll } from "../../support/Property.ts"

const hourAt = (text: string) => Date.parse(text) / hour_ms
const all = { day: hourAt("2030-01-01T00:00Z"), month: hourAt("2030-01-01T00:00Z") }

describe("periods", () => {
  it("begin at midnight and on the first of a month, in UTC, leap years included", () => {
    const hour = hourAt("2028-02-29T13:00Z")
    expect(startOf("day", hour)).toBe(hourAt("2028-02-29T00:00Z"))
    expect(endOf("day", hour)).toBe(hourAt("2028-03-01T00:00Z"))
    expect(startOf("month", hour)).toBe(hourAt("2028-02-01T00:00Z"))
    expect(endOf("month", hour)).toBe(hourAt("2028-03-01T00:00Z"))
    expect(endOf("month", hourAt("2028-12-31T23:00Z"))).toBe(hourAt("2029-01-01T00:00Z"))
  })

  it("make up a range by its whole months, the whole days around them, and the hours around those", () => {
    const named = segmentsOf("month", hourAt("2028-01-30T22:00Z"), hourAt("2028-04-03T02:00Z"), all).map(
      ({ from, grain, to }) => [grain, ...[from, to].map((hour) => formatMoment(hour * hour_ms))]
    )
    expect(named).toEqual([
      ["hour", "2028-01-30T22:00:00.000Z", "2028-01-31T00:00:00.000Z"],
      ["day", "2028-01-31T00:00:00.000Z", "2028-02-01T00:00:00.000Z"],
      ["month", "2028-02-01T00:00:00.000Z", "2028-04-01T00:00:00.000Z"],
      ["day", "2028-04-01T00:00:00.000Z", "2028-04-03T00:00:00.000Z"],
      ["hour", "2028-04-03T00:00:00.000Z", "2028-04-03T02:00:00.000Z"]
    ])
  })

  it("are as fine where nothing is rolled up, and are none where the range is empty", () => {
    const [from, to] = [hourAt("2028-01-01T00:00Z"), hourAt("2028-06-01T00:00Z")]
    expect(segmentsOf("month", from, to, { day: 0, month: 0 })).toEqual([{ grain: "hour", from, to }])
    expect(segmentsOf("month", from, to, { day: to, month: 0 })).toEqual([{ grain: "day", from, to }])
    expect(segmentsOf("day", from, to, all)).toEqual([{ grain: "day", from, to }])
    expect(segmentsOf("month", from, from, all)).toEqual([])
  })

  it.effect("cover each hour of a range once, coarser ones only as far as these are rolled up", () =>
    forAll(
      fc.record({ from: fc.nat(9_000), to: fc.nat(9_000), day: fc.nat(400), month: fc.nat(12) }),
      ({ day, from, month, to }) =>
        Effect.sync(() => {
          const rolledUp = { day: day * 24, month: hourAt("1970-01-01T00:00Z") }
          for (let index = 0; index < month; index++) rolledUp.month = endOf("month", rolledUp.month)
          rolledUp.month = Math.min(rolledUp.month, startOf("month", rolledUp.day))
          const segments = segmentsOf("month", from, to, rolledUp)
          let next = from
          for (const segment of segments) {
            expect(segment.from).toBe(next)
            expect(segment.to).toBeGreaterThan(segment.from)
            expect(startOf(segment.grain, segment.from)).toBe(segment.from)
            expect(startOf(segment.grain, segment.to)).toBe(segment.to)
            if (segment.grain !== "hour") expect(segment.to).toBeLessThanOrEqual(rolledUp[segment.grain])
            next = segment.to
          }
          expect(segments.length).toBeLessThanOrEqual(5)
          expect(next).toBe(from < to ? to : from)
        })
    )
  )
})
