import type { KeySpace } from "./KeySpace.ts"

/**
 * The default number of ranges that a key space is cut into, for every key length. It is fixed, because the ranges' bounds follow from it: with another
 * number the same counters would be minted again.
 */
export const rangeCount = 16

/** The lowest counter of range `range` (0 … `ranges` − 1) of a key space. */
export const lowerEnd = (space: KeySpace, range: number, ranges = rangeCount): bigint =>
  (space.size * BigInt(range)) / BigInt(ranges)

/**
 * How many counters a range hands out. At most 2^53 − 1, so that watermarks stay exact as numbers and as 64-bit columns: a range of
 * the largest spaces keeps its top end unused, after 9 × 10^15 keys.
 */
export const spanOf = (space: KeySpace, range: number, ranges = rangeCount): number => {
  const span = lowerEnd(space, range + 1, ranges) - lowerEnd(space, range, ranges)
  return span > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(span)
}
