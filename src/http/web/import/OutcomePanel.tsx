import { csvLine } from "../../../transfer/Csv.ts"
import { rejectedCells, rejectedColumns, type Rejected as Line } from "../../../transfer/Importing.ts"
import { formatCount } from "../ui/format.ts"
import { Icon } from "../ui/Icon.tsx"
import { Progress } from "../ui/Progress.tsx"
import { saveBlob } from "../ui/save.ts"
import type { Outcome } from "./importing.ts"
import { Rejected } from "./Rejected.tsx"

const saveRejected = (lines: ReadonlyArray<Line>): void => {
  const csv = [csvLine(rejectedColumns), ...lines.map((line) => csvLine(rejectedCells(line)))]
  saveBlob(new Blob(csv, { type: "text/csv" }), "not-imported.csv")
}

interface OutcomePanelProps {
  readonly outcome: Outcome
  readonly isRunning: boolean
  readonly onStop: () => void
  readonly onReset: () => void
}

/** How far an import is, and what has become of it. */
export const OutcomePanel = ({ isRunning, onReset, onStop, outcome }: OutcomePanelProps) => {
  const { progress, rejected, total, waits } = outcome
  const { made, present, settled } = progress
  return (
    <section class="card">
      <h2>{isRunning ? "Minting…" : `${formatCount(made, "link")} made`}</h2>
      <Progress done={settled} total={total} label="Lines" />
      <p class="visually-hidden" role="status">
        {isRunning
          ? (waits ?? "The import is under way.")
          : `The import is over: ${formatCount(made, "link")} made.`}
      </p>
      {isRunning && waits && <p class="hint">{waits}</p>}
      {present > 0 && (
        <p class="hint">
          {formatCount(present, "link")} {present === 1 ? "was" : "were"} here already, from an earlier run.
        </p>
      )}
      {!isRunning && settled < total && (
        <p class="hint">Choose the same file again to go on behind {formatCount(settled, "line")}.</p>
      )}
      <Rejected lines={rejected} count={progress.rejected} title="not made" />
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
          <button type="button" class="button plain" onClick={() => saveRejected(rejected)}>
            <Icon name="download" /> What was not made
          </button>
        )}
      </div>
    </section>
  )
}
