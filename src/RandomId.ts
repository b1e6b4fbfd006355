import { Random } from "effect"

/** Draws a number of 53 random bits, by which one of many calls is told from all others: not a secret. */
export const drawId = Random.nextIntBetween(0, Number.MAX_SAFE_INTEGER)
