// Drawings that the web page and the visitors' pages share, as plain numbers and text: the former renders components, the latter HTML.

/** The brand's mark, a coin with the links of a chain on it, drawn by strokes on a grid of 24. */
export const coin =
  "M12 2a10 10 0 1 0 0 20 10 10 0 0 0 0-20ZM12 5.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13ZM9.5 14.5l5-5M11 8.8l1-1a2.6 2.6 0 0 1 3.7 3.7l-1 1M13 15.2l-1 1a2.6 2.6 0 0 1-3.7-3.7l1-1"

/** The seed of the service's own rosette, which is no link's. */
export const ownSeed = "linkmint"

/** The 32-bit FNV-1a hash of a text. */
const hash = (text: string): number => {
  let value = 0x811c_9dc5
  for (let index = 0; index < text.length; index++) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x0100_0193) >>> 0
  }
  // Its low bits are mixed better than its high ones.
  return (value ^ (value >>> 15)) >>> 0
}

/** One ring of a rosette: waves around a circle, in several lines that cross. */
export interface Band {
  /** Distance of its middle from the centre, of 100. */
  readonly radius: number
  /** How far it swings to both sides. */
  readonly swing: number
  /** Waves around. */
  readonly waves: number
  /** How much each line's wave is turned against the line's before it, in waves. */
  readonly step: number
  readonly lines: number
}

/**
 * The rosette of a seed, such as a link's key: a guilloche, as on banknotes and coins. It makes links distinguishable at a glance, and proves nothing.
 *
 * It has three bands; the outer one is like a coin's edge. `detail` is 0 to 2.
 */
export const bandsOf = (seed: string, detail: number): ReadonlyArray<Band> => {
  const bits = hash(seed)
  const lines = 3 + 5 * detail
  return [
    { radius: 84, swing: 9, waves: 18 + (bits & 15), step: 1 / lines, lines: Math.max(2, lines >> 1) },
    { radius: 56, swing: 12 + ((bits >> 4) & 7), waves: 5 + ((bits >> 7) & 7), step: 1 / lines, lines },
    { radius: 24, swing: 8 + ((bits >> 11) & 7), waves: 3 + ((bits >> 14) & 3), step: 1 / (lines + 1), lines }
  ]
}
