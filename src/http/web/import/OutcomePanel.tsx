import { formatCount } from "../ui/format.ts"
import { Icon } from "../ui/Icon.tsx"
import { Progress } from "../ui/Progress.tsx"
import { saveBlob } from "../ui/save.ts"
import type { Skipped } from "./formats.ts"
import type { Outcome } from "./importing.ts"
import { Rejected } from "./Rejected.tsx"

const saveFailed = async (lines: ReadonlyArray<Skipped>) => {
  const { default: Papa } = await import("papaparse")
  const rows = lines.map(({ line, reason, text }) => ({ line, url: text, reason }))
  const csv = Papa.unparse(rows, { escapeFormulae: true, newline: "\r\n" })
  saveBlob(new Blob([csv], { type: "text/csv" }), "not-imported.csv")
}

interface OutcomePanelProps {
  readonly outcome: Outcome
  readonly skipped: ReadonlyArray<Skipped>
  readonly isRunning: boolean
  readonly onStop: () => void
  readonly onReset: () => void
}

/** How far an import is, and what has become of it. */
export const OutcomePanel = ({ isRunning, onReset, onStop, outcome, skipped }: OutcomePanelProps) => {
  const { failed, made, total, waits } = outcome
  const rejected = [...failed, ...skipped]
  return (
    <section class="card">
      <h2>{isRunning ? "Minting…" : `${formatCount(made.length, "link")} made`}</h2>
      <Progress done={made.length + failed.length} total={total} label="Links" />
      <p class="visually-hidden" role="status">
        {isRunning
          ? (waits ?? "The import is under way.")
          : `The import is over: ${formatCount(made.length, "link")} made.`}
      </p>
      {isRunning && waits && <p class="hint">{waits}</p>}
      <Rejected lines={rejected} title="not made" />
      <div class="actions">
        {isRunning ? (
          <button type="button" class="button plain" onClick={onStop}>
            Stop
          </button>
        ) : (
          <>
            <a class="button strong" href="/app/links">
              See the links
            </a>
            <button type="button" class="button plain" onClick={onReset}>
              Add more
            </button>
          </>
        )}
        {!isRunning && rejected.length > 0 && (
          <button type="button" class="button plain" onClick={() => void saveFailed(rejected)}>
            <Icon name="download" /> What was not made
          </button>
        )}
      </div>
    </section>
  )
}
