import { Effect, Random } from "effect"

/** Draws a number of 53 random bits, by which one of many calls is told from all others: not a secret. */
export const drawId = Random.nextIntBetween(0, Number.MAX_SAFE_INTEGER)

/** Draws the first of such numbers, and gives what counts on from there, without an effect: as far from another's as two that are drawn. */
export const sequentialIds: Effect.Effect<() => number> = Effect.map(drawId, (first) => {
  let last = first
  return () => {
    last = last === Number.MAX_SAFE_INTEGER ? 0 : last + 1
    return last
  }
})
