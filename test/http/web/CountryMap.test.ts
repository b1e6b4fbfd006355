import { readFileSync } from "node:fs"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { describe, expect, it } from "vitest"
import { height, outlines, width } from "../../../src/http/web/stats/map/outlines.ts"
import { shadeOf } from "../../../src/http/web/stats/map/shades.ts"

/** The corners of a path of `M x y l dx dy … z`. */
const cornersOf = (path: string) =>
  path
    .split("M")
    .slice(1)
    .flatMap((ring) => {
      const numbers = (ring.match(/-?\d+/g) ?? []).map(Number)
      let [x, y] = [0, 0]
      return Array.from({ length: numbers.length / 2 }, (_, at) => {
        x += numbers[2 * at]!
        y += numbers[2 * at + 1]!
        return [x, y] as const
      })
    })

/** The part of the map that a country takes. */
const boxOf = (code: string) => {
  const corners = cornersOf(outlines[code]!)
  const [xs, ys] = [corners.map(([x]) => x), corners.map(([, y]) => y)]
  return { left: Math.min(...xs), right: Math.max(...xs), top: Math.min(...ys), bottom: Math.max(...ys) }
}

describe("the map of countries", () => {
  it("has five shades by the share of all visits, and none where there are no visits", () => {
    expect([0, 0.0001, 0.0099, 0.01, 0.049, 0.05, 0.15, 0.399, 0.4, 1].map(shadeOf)).toEqual([
      undefined,
      0,
      0,
      1,
      1,
      2,
      3,
      3,
      4,
      4
    ])
  })

  it("has outlines by codes that the browser has names of, all within the map, in a small file", () => {
    const codes = Object.keys(outlines)
    expect(codes.length).toBeGreaterThan(170)
    const names = new Intl.DisplayNames("en", { type: "region", fallback: "none" })
    for (const code of codes) {
      expect(names.of(code), code).toBeDefined()
      expect(outlines[code], code).toMatch(/^(M\d+ \d+l-?\d+(?:[ -]\d+)+z)+$/)
      const { bottom, left, right, top } = boxOf(code)
      expect(Math.min(left, top), code).toBeGreaterThanOrEqual(0)
      expect(right, code).toBeLessThanOrEqual(width)
      expect(bottom, code).toBeLessThanOrEqual(height)
      // No country goes around the world.
      expect(right - left, code).toBeLessThan(width / 2)
    }
    const file = join(import.meta.dirname, "../../../src/http/web/stats/map/outlines.ts")
    expect(gzipSync(readFileSync(file)).length).toBeLessThan(16_000)
  })

  it("has each country where it lies", () => {
    const [de, es, ru, us, au, ua, cy] = ["DE", "ES", "RU", "US", "AU", "UA", "CY"].map(boxOf)
    expect(us!.right).toBeLessThan(es!.left)
    expect(es!.left).toBeLessThan(de!.left)
    expect(de!.bottom).toBeLessThan(es!.bottom)
    expect(au!.top).toBeGreaterThan(cy!.bottom)
    expect(ru!.right).toBeGreaterThan(de!.right)
    // French Guiana has a code of its own. Visits from the Crimea are counted as Ukrainian ones.
    expect(boxOf("FR").left).toBeGreaterThan(boxOf("GF").right)
    expect(ua!.bottom).toBeGreaterThan(boxOf("RO").top)
    expect(cornersOf(outlines["UA"]!).length).toBeGreaterThan(20)
  })
})
