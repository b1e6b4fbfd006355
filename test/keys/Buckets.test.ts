import { FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"
import { bucketCount, bucketOf } from "../../src/keys/Buckets.ts"
import { qualifiedKey } from "../../src/keys/QualifiedKey.ts"

const someKey = fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/)

describe("the bucket of a link", () => {
  // By `printf %s 0/abc1234 | sha256sum`, of which the first two digits count.
  it.each([
    ["abc1234", 220],
    ["a", 211],
    ["docs-2026_x", 182]
  ])("with the key %s stays %i, in every domain", (key, bucket) => {
    for (const domain of [0, 1, 4_294_967_295]) expect(bucketOf(qualifiedKey({ domain, key }))).toBe(bucket)
  })

  it("is one of 256", () => {
    fc.assert(
      fc.property(someKey, (key) => {
        const bucket = bucketOf(key)
        expect(Number.isInteger(bucket) && bucket >= 0 && bucket < bucketCount).toBe(true)
      })
    )
  })

  it("does not depend on the case of the key's letters", () => {
    fc.assert(
      fc.property(someKey, (key) => {
        expect(bucketOf(key.toUpperCase())).toBe(bucketOf(key.toLowerCase()))
      })
    )
  })

  const numbers = Array.from({ length: 65_536 }, (_, n) => n)

  // 256 a bucket are expected, with a standard deviation of 16; the bounds are six of them away.
  it("spreads keys that count up evenly", () => {
    const counts = new Uint32Array(bucketCount)
    for (const n of numbers) counts[bucketOf(n.toString(36).padStart(7, "0"))]! += 1
    expect(Math.min(...counts)).toBeGreaterThan(160)
    expect(Math.max(...counts)).toBeLessThan(352)
  })
})
