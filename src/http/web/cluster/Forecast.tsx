import type { Cluster } from "../api/Types.ts"
import { formatLarge, formatPace, formatSpan } from "../ui/format.ts"

/** Rounded down: a range from which one key is gone is not full. */
const percent = (share: number) => `${Math.floor(1_000 * share) / 10}%`

const lasting = ({ exhaustedInSeconds, linksPerSecond }: NonNullable<Cluster["forecast"]>) =>
  exhaustedInSeconds === null
    ? "No links are made now."
    : `At ${formatPace(linksPerSecond)} links a second, the pace since the nodes started, they last ${formatSpan(exhaustedInSeconds)}.`

/** What is left of the key space, range by range, and for how long. */
export const Forecast = ({
  forecast,
  ranges
}: {
  readonly forecast: Cluster["forecast"]
  readonly ranges: Cluster["ranges"]
}) => (
  <section class="card" aria-labelledby="ranges">
    <h2 id="ranges">Key ranges</h2>
    {forecast === null || ranges === null ? (
      <p class="soft">The database does not tell what is left of them.</p>
    ) : (
      <>
        <p>
          {formatLarge(forecast.remaining)} keys of {forecast.length} characters are left, of{" "}
          {formatLarge(forecast.total)}. {lasting(forecast)}
        </p>
        <ol class="ranges">
          {ranges.map(({ length, minted, range, remaining }) => {
            const share = remaining / (remaining + minted)
            return (
              <li key={range}>
                <span class="column" aria-hidden="true">
                  <span style={{ height: `${100 * share}%` }} />
                </span>
                <span class="range-name">
                  <span class="visually-hidden">Range </span>
                  {range}
                  <span class="visually-hidden">
                    : {percent(share)} of {length} characters left
                  </span>
                </span>
              </li>
            )
          })}
        </ol>
        <p class="hint">
          The emptiest has{" "}
          {percent(Math.min(...ranges.map(({ minted, remaining }) => remaining / (remaining + minted))))} of
          its keys left. Longer keys follow by themselves.
        </p>
      </>
    )}
  </section>
)
