import { Effect, Random } from "effect"

/** Draws a number of 53 random bits that identifies one call: not a secret. */
export const drawId = Random.nextIntBetween(0, Number.MAX_SAFE_INTEGER)

/** Draws the first of such numbers, and gives a function that counts up from it, without an effect. Two sequences are as unlikely to meet as two drawn numbers. */
export const sequentialIds: Effect.Effect<() => number> = Effect.map(drawId, (first) => {
  let last = first
  return () => {
    last = last === Number.MAX_SAFE_INTEGER ? 0 : last + 1
    return last
  }
})
