import { csvLine } from "../../../transfer/Csv.ts"
import { rejectedCells, rejectedColumns, type Rejected as Line } from "../../../transfer/Importing.ts"
import { counted } from "../language/fill.tsx"
import { Icon } from "../ui/Icon.tsx"
import { Progress } from "../ui/Progress.tsx"
import { saveBlob } from "../ui/save.ts"
import type { Outcome } from "./importing.ts"
import { Rejected } from "./Rejected.tsx"
import { words } from "./words.ts"

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
  const t = words()
  const { progress, rejected, total } = outcome
  const waits = outcome.waits && (outcome.waits === "away" ? t.waitsForService : t.waitsForQuota)
  const { made, present, settled } = progress
  return (
    <section class="card">
      <h2>{isRunning ? t.minting : counted(t.made, made)}</h2>
      <Progress done={settled} total={total} label={t.progress} />
      <p class="visually-hidden" role="status">
        {isRunning ? (waits ?? t.underWay) : counted(t.over, made)}
      </p>
      {isRunning && waits && <p class="hint">{waits}</p>}
      {present > 0 && <p class="hint">{counted(t.present, present)}</p>}
      {!isRunning && settled < total && <p class="hint">{counted(t.again, settled)}</p>}
      <Rejected lines={rejected} count={progress.rejected} title={t.notMade} />
      <div class="actions">
        {isRunning ? (
          <button type="button" class="button plain" onClick={onStop}>
            {t.stop}
          </button>
        ) : (
          <>
            <a class="button strong" href="/app/links">
              {t.see}
            </a>
            <button type="button" class="button plain" onClick={onReset}>
              {t.more}
            </button>
          </>
        )}
        {!isRunning && rejected.length > 0 && (
          <button type="button" class="button plain" onClick={() => saveRejected(rejected)}>
            <Icon name="download" /> {t.saveRejected}
          </button>
        )}
      </div>
    </section>
  )
}
