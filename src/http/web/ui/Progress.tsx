import { fill } from "../language/fill.tsx"
import { formatNumber } from "./format.ts"
import { words } from "./words.ts"

/** How far something long has come, in things of `total`. */
export const Progress = ({
  done,
  label,
  total
}: {
  readonly done: number
  readonly total: number
  readonly label: string
}) => (
  <div class="progress">
    <div class="progress-text">
      <span>{label}</span>
      <span>{fill(words().done, { done: formatNumber(done), total: formatNumber(total) })}</span>
    </div>
    <progress aria-label={label} value={done} max={total} />
  </div>
)
