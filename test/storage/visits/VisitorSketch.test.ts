import { describe, expect, it } from "vitest"
import {
  countsOf,
  entryOf,
  estimate,
  standardError,
  VisitorSketch
} from "../../../src/storage/visits/VisitorSketch.ts"
import { hash, hashed } from "../../../src/visits/SipHash.ts"

/** Sketches the visitors from one number on to before another. */
const sketchOf = (from: number, to: number): VisitorSketch => {
  const sketch = new VisitorSketch()
  for (let visitor = from; visitor < to; visitor++) {
    hash([1, 2, 3, 4], visitor, 0, 5, 6)
    sketch.add(entryOf(hashed.high, hashed.low))
  }
  return sketch
}

const estimateOf = (sketch: VisitorSketch) => estimate(countsOf(sketch.entries()))

describe("a sketch of visitors", () => {
  it("counts none, and few as good as exactly", () => {
    expect(estimate([])).toBe(0)
    for (const count of [1, 2, 3, 5]) expect(estimateOf(sketchOf(1_000, 1_000 + count))).toBe(count)
  })

  it("estimates how many there are within its error, however often each comes", () => {
    // Each estimate is off by 3 standard errors in one of 370 cases, here in none of them all.
    for (const count of [20, 100, 500, 1_000, 3_000, 10_000, 100_000, 1_000_000]) {
      const once = sketchOf(0, count)
      expect(Math.abs(estimateOf(once) - count) / count).toBeLessThan(3 * standardError)
      if (count > 10_000) continue
      const entries = once.entries()
      for (const entry of entries) once.add(entry)
      expect(once.entries()).toEqual(entries)
    }
    const offs = Array.from(
      { length: 200 },
      (_, n) => estimateOf(sketchOf(n * 5_000, (n + 1) * 5_000)) / 5_000 - 1
    )
    const mean = offs.reduce((sum, off) => sum + off, 0) / offs.length
    const deviation = Math.sqrt(offs.reduce((sum, off) => sum + off * off, 0) / offs.length)
    expect(Math.abs(mean)).toBeLessThan(0.01)
    expect(deviation).toBeGreaterThan(standardError / 1.5)
    expect(deviation).toBeLessThan(standardError * 1.5)
  })

  it("has the greatest rank of each register, with few entries and with many", () => {
    for (const others of [0, 20, 31, 32, 40, 1_000]) {
      const sketch = new VisitorSketch()
      for (let register = 1; register <= others; register++) sketch.add(register * 32 + 1)
      for (const rank of [3, 7, 5]) sketch.add(rank)
      expect(sketch.size).toBe(others + 1)
      expect(sketch.entries().toSorted((a, b) => a - b)[0]).toBe(7)
      expect(sketch.entries()).toHaveLength(others + 1)
    }
    expect(entryOf(-1, 0)).toBe(1_023 * 32 + 31)
    expect(entryOf(0, -1)).toBe(1)
  })
})
