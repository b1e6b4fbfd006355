import type { Cluster } from "../api/Types.ts"
import { fill } from "../language/fill.tsx"
import { told } from "../language/told.ts"
import { formatClock, formatNumber } from "../ui/format.ts"
import { words } from "./words.ts"

const parts = ["bound", "quarantined", "stocked", "pooled", "buffered", "rest"] as const

/** Where all minted keys are: the parts come to the whole. */
export const Ledger = ({
  ledger,
  note
}: {
  readonly ledger: Cluster["ledger"]
  readonly note: Cluster["ledgerNote"]
}) => (
  <section class="card" aria-labelledby="ledger">
    <h2 id="ledger">{words().ledger}</h2>
    {ledger === null ? (
      <p class="soft">{note && told(note)}</p>
    ) : (
      <>
        <div class="balance" aria-hidden="true">
          {parts.map(
            (part) => ledger[part] > 0 && <span key={part} class={part} style={{ flexGrow: ledger[part] }} />
          )}
        </div>
        <dl class="entries">
          {parts.map((part) => (
            <div key={part}>
              <dt>
                <span class={`swatch ${part}`} aria-hidden="true" />
                {words().part[part]}
              </dt>
              <dd>{formatNumber(ledger[part])}</dd>
            </div>
          ))}
          <div class="sum">
            <dt>{words().minted}</dt>
            <dd>{formatNumber(ledger.minted)}</dd>
          </div>
        </dl>
        <p class="hint">{fill(words().countedAt, { time: formatClock(ledger.countedAt) })}</p>
      </>
    )}
  </section>
)
