// Which links are asked for, in which order: files of paths.

import { writeFileSync } from "node:fs"
import { keyOf } from "./Links.ts"

/** Spreads 0 … n − 1 over itself, each once, so that what stands together is apart: n is not a multiple of this prime. */
const spread = (index: number, n: number): number => Number((BigInt(index) * 6_180_339_887n) % BigInt(n))

const write = (file: string, numbers: Iterable<number>): string => {
  writeFileSync(file, `${Array.from(numbers, (number) => `/${keyOf(number)}`).join("\n")}\n`)
  return file
}

/** Writes `count` draws of links 1 … n after Zipf's law with exponent 1: the r-th most popular link is asked for 1/r times as often as the first. */
export const zipf = (file: string, n: number, count: number): string => {
  const below = new Float64Array(n)
  let sum = 0
  for (let rank = 0; rank < n; rank++) below[rank] = sum += 1 / (rank + 1)
  const draw = () => {
    const at = Math.random() * sum
    let [low, high] = [0, n - 1]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (below[middle]! < at) low = middle + 1
      else high = middle
    }
    return spread(low, n) + 1
  }
  return write(file, Array.from({ length: count }, draw))
}

/**
 * Walks through links 1 … n, in an order that has nothing to do with theirs, a part at a time: none is asked for twice before all others were, so
 * that no cache which holds fewer than n has any.
 */
export const walk = (n: number) => {
  let at = 0
  return (file: string, count: number): string =>
    write(
      file,
      Array.from({ length: count }, () => spread(at++ % n, n) + 1)
    )
}

/** Writes keys that none of links 1 … n has: looked for like any other, and found nowhere. */
export const absent = (file: string, n: number, count: number): string =>
  write(
    file,
    Array.from({ length: count }, (_, index) => n + 1 + index)
  )
