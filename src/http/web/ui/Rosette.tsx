import { useMemo } from "preact/hooks"

// The mark of a link: a guilloche rosette, as on banknotes and coins, whose shape follows from the link's key. It is there to be told apart at a
// glance, and proves nothing.

/** The 32-bit FNV-1a hash of a text. */
const hash = (text: string): number => {
  let value = 0x811c_9dc5
  for (let index = 0; index < text.length; index++) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x0100_0193) >>> 0
  }
  // Its low bits are mixed better than its high ones.
  return (value ^ (value >>> 15)) >>> 0
}

/** Enough that a wave's lines look round. */
const pointsPerWave = 16

interface Band {
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

/** Three bands, of which the outer one is what a coin's edge is. `detail` is 0 to 2. */
const bandsOf = (seed: string, detail: number): ReadonlyArray<Band> => {
  const bits = hash(seed)
  const lines = 3 + 5 * detail
  return [
    { radius: 84, swing: 9, waves: 18 + (bits & 15), step: 1 / lines, lines: Math.max(2, lines >> 1) },
    { radius: 56, swing: 12 + ((bits >> 4) & 7), waves: 5 + ((bits >> 7) & 7), step: 1 / lines, lines },
    { radius: 24, swing: 8 + ((bits >> 11) & 7), waves: 3 + ((bits >> 14) & 3), step: 1 / (lines + 1), lines }
  ]
}

const pathOf = ({ lines, radius, step, swing, waves }: Band, turn: number): string => {
  const points = waves * pointsPerWave
  let path = ""
  for (let line = 0; line < lines; line++) {
    for (let point = 0; point < points; point++) {
      const angle = (2 * Math.PI * point) / points
      const r = radius + swing * Math.sin(waves * angle + 2 * Math.PI * step * line + turn)
      const [x, y] = [100 + r * Math.cos(angle), 100 + r * Math.sin(angle)]
      path += `${point === 0 ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(1)}`
    }
    path += "Z"
  }
  return path
}

interface RosetteProps {
  readonly seed: string
  readonly size: number
  readonly turn?: number
}

/** A rosette of `size` pixels. `turn` (radians) moves its waves. */
export const Rosette = ({ seed, size, turn = 0 }: RosetteProps) => {
  const detail = size > 300 ? 2 : size > 80 ? 1 : 0
  const paths = useMemo(
    () => bandsOf(seed, detail).map((band, index) => pathOf(band, index % 2 === 0 ? turn : -turn)),
    [seed, detail, turn]
  )
  return (
    <svg
      class={detail === 0 ? "rosette small" : "rosette"}
      viewBox="0 0 200 200"
      width={size}
      height={size}
      aria-hidden="true"
    >
      {paths.map((path, index) => (
        <path key={index} d={path} />
      ))}
    </svg>
  )
}
