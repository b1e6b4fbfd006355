import { describe, expect, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import * as JsonBounds from "../../../src/http/exchange/JsonBounds.ts"

const faultOf = (text: string, valuesMax = 1_000) => JsonBounds.faultOf(Buffer.from(text), { valuesMax })

/** Values of JSON, counted by hand; a list or object without any counts twice, since what stands between its brackets is not looked at. */
const countOf = (json: unknown): number => {
  if (typeof json !== "object" || json === null) return 1
  const within = Object.values(json)
  return 1 + (within.length === 0 ? 1 : within.reduce((sum: number, value) => sum + countOf(value), 0))
}

describe("JSON is looked over before it is parsed:", () => {
  it("so many values, and not one more", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.integer({ min: 0, max: 2 }), (json, indent) => {
        const text = JSON.stringify(json, null, indent)
        const count = countOf(JSON.parse(text))
        expect(faultOf(text, count)).toBe(undefined)
        expect(faultOf(text, count - 1)).toMatch(/^may have [\d,]+ values at most$/)
      })
    )
  })

  it("lists and objects of 32 levels, and not of 33", () => {
    const deep = (levels: number) => '[{"a":'.repeat(levels / 2) + "1" + "}]".repeat(levels / 2)
    expect(faultOf(deep(32))).toBe(undefined)
    expect(faultOf(`[${deep(32)}]`)).toMatch(/nested 32 levels/)
    expect(faultOf("[".repeat(100_000))).toMatch(/nested 32 levels/)
    // Beside each other they are not deep.
    expect(faultOf(`[${"[],{},".repeat(100)}1]`)).toBe(undefined)
  })

  it("texts of 64 KiB, as they are written", () => {
    const text = (bytes: number) => `["${"a".repeat(bytes)}"]`
    expect(faultOf(text(65_535))).toBe(undefined)
    expect(faultOf(text(65_537))).toMatch(/texts of 65,536 bytes/)
    expect(faultOf(`["${"\\u0061".repeat(11_000)}"]`)).toMatch(/texts of/)
    expect(faultOf(`{"${"a".repeat(70_000)}":1}`)).toMatch(/texts of/)
  })

  it("numbers of 256 characters", () => {
    expect(faultOf(`[${"1".repeat(256)}]`)).toBe(undefined)
    expect(faultOf(`[${"1".repeat(257)}]`)).toMatch(/numbers of 256 characters/)
    expect(faultOf(`1.${"0".repeat(300)}e+5`)).toMatch(/numbers of/)
  })

  it("what stands in texts counts for nothing, whatever is escaped there", () => {
    for (const within of ["[".repeat(100), ",".repeat(5_000), '\\"[[', "\\\\", '\\\\\\"{', "1".repeat(300)]) {
      expect(faultOf(`["${within}",1]`, 3)).toBe(undefined)
      expect(faultOf(`["${within}",1]`, 2)).toMatch(/values/)
    }
  })

  it("what is no JSON at all is left to the parser, and does no harm", () => {
    for (const text of ["", '"', '"\\', "\\", "]]]", "}{", "1e", "\u0000"]) {
      expect(faultOf(text)).toBe(undefined)
    }
  })
})
