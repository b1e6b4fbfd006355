import { useMemo } from "preact/hooks"
import { type Band, bandsOf } from "../../pages/Emblem.ts"

/** Enough that a wave's lines look round. */
const pointsPerWave = 16

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

/** The mark of a link, or of another seed: a rosette of `size` pixels. `turn` (radians) moves its waves. */
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
