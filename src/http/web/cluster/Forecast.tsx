import type { Cluster } from "../api/Types.ts"
import { fill } from "../language/fill.tsx"
import { formatLarge, formatPace, formatPercent, formatSpan } from "../ui/format.ts"
import { words } from "./words.ts"

/** Rounded down: a range from which one key is gone is not full. */
const percent = (share: number) => formatPercent(Math.floor(1_000 * share) / 1_000)

const lasting = ({ exhaustedInSeconds, linksPerSecond }: NonNullable<Cluster["forecast"]>) =>
  exhaustedInSeconds === null
    ? words().noneMade
    : fill(words().theyLast, { pace: formatPace(linksPerSecond), span: formatSpan(exhaustedInSeconds) })

/** What is left of the key space, range by range, and for how long. */
export const Forecast = ({
  forecast,
  ranges
}: {
  readonly forecast: Cluster["forecast"]
  readonly ranges: Cluster["ranges"]
}) => (
  <section class="card" aria-labelledby="ranges">
    <h2 id="ranges">{words().ranges}</h2>
    {forecast === null || ranges === null ? (
      <p class="soft">{words().notTold}</p>
    ) : (
      <>
        <p>
          {fill(words().left, {
            remaining: formatLarge(forecast.remaining),
            length: forecast.length,
            total: formatLarge(forecast.total)
          })}{" "}
          {lasting(forecast)}
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
                  <span aria-hidden="true">{range}</span>
                  <span class="visually-hidden">
                    {fill(words().range, { range, share: percent(share), length })}
                  </span>
                </span>
              </li>
            )
          })}
        </ol>
        <p class="hint">
          {fill(words().emptiest, {
            share: percent(
              Math.min(...ranges.map(({ minted, remaining }) => remaining / (remaining + minted)))
            )
          })}
        </p>
      </>
    )}
  </section>
)
