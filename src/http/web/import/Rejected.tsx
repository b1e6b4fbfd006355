import type { Rejected as Line } from "../../../transfer/Importing.ts"
import { counted, fill, type Forms } from "../language/fill.tsx"
import { told } from "../language/told.ts"
import { words } from "./words.ts"

/** Lines that are shown; a file has the others. */
const shownMax = 100

const reasonOf = (field: string, reason: string) => `${field} ${told(reason)}`.trim()

/** Lines that are no links here, and why: `lines` are the first of `count`. */
export const Rejected = ({
  count,
  lines,
  title
}: {
  readonly lines: ReadonlyArray<Line>
  readonly count: number
  /** What becomes of them. */
  readonly title: Forms
}) =>
  count === 0 ? null : (
    <details class="rejected">
      <summary>{counted(title, count)}</summary>
      <ul>
        {lines.slice(0, shownMax).map(({ field, key, line, others = [], reason, url }, place) => (
          <li key={place}>
            <span class="count">{fill(words().line, { line })}</span>{" "}
            <span class="target">{url === "" ? key : url}</span>{" "}
            <span>
              {[
                reasonOf(field, reason),
                ...others.map(({ field, message }) => reasonOf(field, message))
              ].join("; ")}
            </span>
          </li>
        ))}
      </ul>
      {count > shownMax && <p class="hint">{counted(words().others, count - shownMax)}</p>}
    </details>
  )
