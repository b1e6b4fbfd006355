import { FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"
import { bucketCount, bucketOf, defaultDomain } from "../../src/keys/Buckets.ts"

const someKey = fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/)

describe("the bucket of a link", () => {
  // By `printf %s 0/abc1234 | sha256sum`, of which the first two digits count.
  it.each([
    [0, "abc1234", 220],
    [0, "a", 211],
    [17, "sale", 113],
    [4_294_967_295, "docs-2026_x", 193]
  ])("of domain %i and key %s stays %i", (domain, key, bucket) => {
    expect(bucketOf(domain, key)).toBe(bucket)
  })

  it("is one of 256", () => {
    fc.assert(
      fc.property(fc.nat(), someKey, (domain, key) => {
        const bucket = bucketOf(domain, key)
        expect(Number.isInteger(bucket) && bucket >= 0 && bucket < bucketCount).toBe(true)
      })
    )
  })

  it("does not depend on the case of the key's letters", () => {
    fc.assert(
      fc.property(fc.nat(), someKey, (domain, key) => {
        expect(bucketOf(domain, key.toUpperCase())).toBe(bucketOf(domain, key.toLowerCase()))
      })
    )
  })

  const numbers = Array.from({ length: 65_536 }, (_, n) => n)

  // 256 a bucket are expected, with a standard deviation of 16; the bounds are six of them away.
  it.each([
    ["keys that count up", (n: number) => bucketOf(defaultDomain, n.toString(36).padStart(7, "0"))],
    ["one alias in many domains", (n: number) => bucketOf(n, "sale")]
  ])("spreads %s evenly", (_, bucketAt) => {
    const counts = new Uint32Array(bucketCount)
    for (const n of numbers) counts[bucketAt(n)]! += 1
    expect(Math.min(...counts)).toBeGreaterThan(160)
    expect(Math.max(...counts)).toBeLessThan(352)
  })
})
