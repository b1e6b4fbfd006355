import type { ComponentChildren } from "preact"
import type { Stats } from "../api/Types.ts"
import { fill } from "../language/fill.tsx"
import { formatNumber, formatPercent } from "../ui/format.ts"
import { words } from "./words.ts"

/** Values that are shown before somebody asks for all. */
const shownMax = 6

interface BreakdownProps {
  readonly title: string
  readonly values: Stats["referrers"]
  /** What a value is called. */
  readonly nameOf: (value: string) => string
  /** What shows the same as a picture. */
  readonly picture?: ComponentChildren
}

/** Where visits come from, or by what: the most frequent first. */
export const Breakdown = ({ nameOf, picture, title, values }: BreakdownProps) => {
  const total = values.reduce((sum, { visits }) => sum + visits, 0)
  const row = ({ value, visits }: Stats["referrers"][number]) => (
    <li key={value} class="bar">
      <span class="bar-fill" style={{ width: `${(100 * visits) / total}%` }} />
      <span class="bar-name">{nameOf(value)}</span>
      <span class="bar-count">{formatNumber(visits)}</span>
      <span class="bar-share">{formatPercent(Math.round((100 * visits) / total) / 100)}</span>
    </li>
  )
  return (
    <section class={picture === undefined ? "card breakdown" : "card breakdown pictured"}>
      <h2>{title}</h2>
      {picture}
      {total === 0 ? (
        <p class="soft">{words().nothing}</p>
      ) : (
        <div class="bars">
          <ol>{values.slice(0, shownMax).map(row)}</ol>
          {values.length > shownMax && (
            <details>
              <summary>{fill(words().all, { count: formatNumber(values.length) })}</summary>
              <ol>{values.slice(shownMax).map(row)}</ol>
            </details>
          )}
        </div>
      )}
    </section>
  )
}
