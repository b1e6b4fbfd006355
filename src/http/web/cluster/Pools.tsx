import type { Cluster } from "../api/Types.ts"
import { counted, fill } from "../language/fill.tsx"
import { formatNumber } from "../ui/format.ts"
import { words } from "./words.ts"

/** Pool shards between their marks. */
export const Pools = ({ pools }: { readonly pools: Cluster["pools"] }) => (
  <section class="card" aria-labelledby="pools">
    <h2 id="pools">{words().pools}</h2>
    <ul class="gauges">
      {pools.map(({ high, level, low, shard }) => {
        const t = words()
        const max = Math.max(high, level ?? 0)
        return (
          <li key={shard}>
            <div class="progress-text">
              <span>{fill(t.poolShard, { shard })}</span>
              <span>{level === null ? t.noAnswer : counted(t.keys, level)}</span>
            </div>
            <div
              class={level !== null && level < low ? "gauge low" : "gauge"}
              role="meter"
              aria-label={fill(t.keysIn, { shard })}
              aria-valuemin={0}
              aria-valuemax={max}
              aria-valuenow={level ?? 0}
              aria-valuetext={
                level === null
                  ? t.notKnown
                  : fill(t.levelOf, { level: formatNumber(level), high: formatNumber(high) })
              }
            >
              <span class="filled" style={{ width: `${(100 * (level ?? 0)) / max}%` }} />
              <span class="notch" style={{ left: `${(100 * low) / max}%` }} />
            </div>
          </li>
        )
      })}
    </ul>
    {pools[0] && (
      <p class="hint">
        {fill(words().filledUp, { high: formatNumber(pools[0].high), low: formatNumber(pools[0].low) })}
      </p>
    )}
  </section>
)
