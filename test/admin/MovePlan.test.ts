import { Either, FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"
import { chosen, even, parseBuckets } from "../../src/admin/MovePlan.ts"
import { bucketCount } from "../../src/keys/Buckets.ts"
import type { Move, Place } from "../../src/storage/links/buckets/BucketPlacement.ts"

const placesOf = (homes: ReadonlyArray<number>): ReadonlyArray<Place> =>
  homes.map((home) => ({ home, movingTo: null }))

const allIn0 = placesOf(Array.from({ length: bucketCount }, () => 0))

/** How many buckets each database has after moves, each of which has to find its buckets where it takes them from. */
const after = (places: ReadonlyArray<Place>, moves: ReadonlyArray<Move>, databases: number) => {
  const homes = places.map(({ home }) => home)
  for (const { buckets, from, to } of moves) {
    for (const bucket of buckets) {
      expect(homes[bucket]).toBe(from)
      homes[bucket] = to
    }
  }
  return Array.from({ length: databases }, (_, home) => homes.filter((one) => one === home).length)
}

const wanted = { to: 1, from: undefined, buckets: undefined, count: undefined }

describe("which buckets are moved", () => {
  it("are evenly spread by the fewest moves, whatever is where", () => {
    const databases = fc.integer({ min: 1, max: 9 })
    fc.assert(
      fc.property(
        databases.chain((count) =>
          fc.tuple(
            fc.constant(count),
            fc.array(fc.integer({ min: 0, max: count - 1 }), {
              minLength: bucketCount,
              maxLength: bucketCount
            })
          )
        ),
        ([count, homes]) => {
          const places = placesOf(homes)
          const moves = even(places, count)
          const sizes = after(places, moves, count)
          expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1)
          const before = after(places, [], count)
          const surplus = before.reduce(
            (sum, size) => sum + Math.max(0, size - Math.ceil(bucketCount / count)),
            0
          )
          const moved = moves.reduce((sum, { buckets }) => sum + buckets.length, 0)
          expect(moved).toBeGreaterThanOrEqual(surplus)
          expect(moved).toBe(before.reduce((sum, size, home) => sum + Math.max(0, size - sizes[home]!), 0))
          expect(
            even(
              places.map((place, bucket) => ({
                ...place,
                home: moves.find(({ buckets }) => buckets.includes(bucket))?.to ?? place.home
              })),
              count
            )
          ).toEqual([])
        }
      ),
      { numRuns: 50 }
    )
  })

  it("are an even share where nothing else is said, from the databases with the most", () => {
    const moves = Either.getOrThrow(chosen(wanted, allIn0, 4))
    expect(after(allIn0, moves, 4)).toEqual([192, 64, 0, 0])
    const uneven = placesOf(Array.from({ length: bucketCount }, (_, bucket) => (bucket < 156 ? 0 : 2)))
    expect(after(uneven, Either.getOrThrow(chosen(wanted, uneven, 3)), 3)).toEqual([85, 85, 86])
    expect(Either.getOrThrow(chosen({ ...wanted, to: 0 }, allIn0, 4))).toEqual([])
  })

  it("are those that are named, or as many as are asked for", () => {
    expect(Either.getOrThrow(chosen({ ...wanted, buckets: [3, 7] }, allIn0, 2))).toEqual([
      { from: 0, to: 1, buckets: [3, 7] }
    ])
    const there = allIn0.map((place, bucket) => (bucket === 3 ? { home: 1, movingTo: null } : place))
    expect(Either.getOrThrow(chosen({ ...wanted, buckets: [3, 7] }, there, 2))).toEqual([
      { from: 0, to: 1, buckets: [7] }
    ])
    const [move] = Either.getOrThrow(chosen({ ...wanted, count: 10, from: 0 }, allIn0, 2))
    expect(move).toEqual({ from: 0, to: 1, buckets: [246, 247, 248, 249, 250, 251, 252, 253, 254, 255] })
    expect(Either.getOrThrow(chosen({ ...wanted, count: 256 }, there, 2))[0]!.buckets).toHaveLength(255)
  })

  it("are refused with what is wrong", () => {
    for (const [asked, message] of [
      [{ ...wanted, to: 2 }, "--to must be a database from 0 to 1"],
      [{ ...wanted, from: -1 }, "--from must be a database from 0 to 1"],
      [{ ...wanted, from: 1 }, "two databases"],
      [{ ...wanted, buckets: [1], count: 1 }, "not both"],
      [{ ...wanted, count: 0 }, "--count must be 1 to 256"]
    ] as const) {
      expect(Either.getOrThrow(Either.flip(chosen(asked, allIn0, 2)))).toContain(message)
    }
    const elsewhere = placesOf(allIn0.map((_, bucket) => (bucket === 9 ? 2 : 0)))
    expect(
      Either.getOrThrow(Either.flip(chosen({ ...wanted, from: 0, buckets: [9] }, elsewhere, 3)))
    ).toContain("Bucket 9 is in database 2")
  })

  it("are read from a list of numbers and ranges", () => {
    expect(Either.getOrThrow(parseBuckets("40, 0-2,1-3"))).toEqual([0, 1, 2, 3, 40])
    expect(Either.getOrThrow(parseBuckets("255"))).toEqual([255])
    for (const text of ["", "256", "3-1", "a", "1-", "-1", "1,,2"]) {
      expect([text, Either.isLeft(parseBuckets(text))]).toEqual([text, true])
    }
  })
})
