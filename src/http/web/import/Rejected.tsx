import { formatCount } from "../ui/format.ts"
import type { Skipped } from "./formats.ts"

/** Lines that are shown; a file has the others. */
const shownMax = 100

/** Lines that are no links here, and why. */
export const Rejected = ({
  lines,
  title
}: {
  readonly lines: ReadonlyArray<Skipped>
  readonly title: string
}) =>
  lines.length === 0 ? null : (
    <details class="rejected">
      <summary>
        {formatCount(lines.length, "line")} {title}
      </summary>
      <ul>
        {lines.slice(0, shownMax).map(({ line, reason, text }) => (
          <li key={line}>
            <span class="count">Line {line}</span> <span class="target">{text}</span> <span>{reason}</span>
          </li>
        ))}
      </ul>
      {lines.length > shownMax && <p class="hint">And {formatCount(lines.length - shownMax, "other")}.</p>}
    </details>
  )
