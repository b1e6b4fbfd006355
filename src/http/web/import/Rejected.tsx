import type { Rejected as Line } from "../../../transfer/Importing.ts"
import { formatCount } from "../ui/format.ts"

/** Lines that are shown; a file has the others. */
const shownMax = 100

/** Lines that are no links here, and why: `lines` are the first of `count`. */
export const Rejected = ({
  count,
  lines,
  title
}: {
  readonly lines: ReadonlyArray<Line>
  readonly count: number
  readonly title: string
}) =>
  count === 0 ? null : (
    <details class="rejected">
      <summary>
        {formatCount(count, "line")} {title}
      </summary>
      <ul>
        {lines.slice(0, shownMax).map(({ field, key, line, reason, url }, place) => (
          <li key={place}>
            <span class="count">Line {line}</span> <span class="target">{url === "" ? key : url}</span>{" "}
            <span>{`${field} ${reason}`.trim()}</span>
          </li>
        ))}
      </ul>
      {count > shownMax && <p class="hint">And {formatCount(count - shownMax, "other")}.</p>}
    </details>
  )
