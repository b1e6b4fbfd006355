import type { Cluster } from "../api/Types.ts"
import { formatClock, formatNumber } from "../ui/format.ts"

const parts = [
  ["bound", "Bound to links"],
  ["quarantined", "In quarantine"],
  ["stocked", "In stock"],
  ["pooled", "In pools"],
  ["buffered", "Held by nodes"],
  ["rest", "On their way, or lost"]
] as const

/** Where all minted keys are: the parts come to the whole. */
export const Ledger = ({
  ledger,
  note
}: {
  readonly ledger: Cluster["ledger"]
  readonly note: Cluster["ledgerNote"]
}) => (
  <section class="card" aria-labelledby="ledger">
    <h2 id="ledger">Ledger</h2>
    {ledger === null ? (
      <p class="soft">{note}</p>
    ) : (
      <>
        <div class="balance" aria-hidden="true">
          {parts.map(
            ([part]) =>
              ledger[part] > 0 && <span key={part} class={part} style={{ flexGrow: ledger[part] }} />
          )}
        </div>
        <dl class="entries">
          {parts.map(([part, name]) => (
            <div key={part}>
              <dt>
                <span class={`swatch ${part}`} aria-hidden="true" />
                {name}
              </dt>
              <dd>{formatNumber(ledger[part])}</dd>
            </div>
          ))}
          <div class="sum">
            <dt>Minted</dt>
            <dd>{formatNumber(ledger.minted)}</dd>
          </div>
        </dl>
        <p class="hint">Counted at {formatClock(ledger.countedAt)}.</p>
      </>
    )}
  </section>
)
