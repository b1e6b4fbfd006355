import type { Cluster } from "../api/Types.ts"
import { formatNumber } from "../ui/format.ts"

/** Pool shards between their marks. */
export const Pools = ({ pools }: { readonly pools: Cluster["pools"] }) => (
  <section class="card" aria-labelledby="pools">
    <h2 id="pools">Pools</h2>
    <ul class="gauges">
      {pools.map(({ high, level, low, shard }) => {
        const max = Math.max(high, level ?? 0)
        return (
          <li key={shard}>
            <div class="progress-text">
              <span>Pool shard {shard}</span>
              <span>{level === null ? "does not answer" : `${formatNumber(level)} keys`}</span>
            </div>
            <div
              class={level !== null && level < low ? "gauge low" : "gauge"}
              role="meter"
              aria-label={`Keys in pool shard ${shard}`}
              aria-valuemin={0}
              aria-valuemax={max}
              aria-valuenow={level ?? 0}
              aria-valuetext={
                level === null ? "not known" : `${formatNumber(level)} of ${formatNumber(high)}`
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
        Filled up to {formatNumber(pools[0].high)} when fewer than {formatNumber(pools[0].low)} are left, the
        notch.
      </p>
    )}
  </section>
)
