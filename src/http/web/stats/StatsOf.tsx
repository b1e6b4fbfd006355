import type { Stats } from "../api/Types.ts"
import { go, here } from "../app/Router.ts"
import { formatCount, formatNumber } from "../ui/format.ts"
import { Empty, Failure, Loading } from "../ui/States.tsx"
import { useLoaded } from "../ui/useLoaded.ts"
import { Breakdown } from "./Breakdown.tsx"
import { countryOf, nameOf, referrerOf, targetOf } from "./names.ts"
import { beginningOf, pathOf, type Range, rangeOf, ranges } from "./ranges.ts"
import { SeriesPlot } from "./SeriesPlot.tsx"
import "./stats.css"

interface TotalsProps {
  readonly stats: Stats
  readonly interval: Range["interval"]
}

const Totals = ({ interval, stats: { bots, nonBots, series, total } }: TotalsProps) => {
  const figures = [
    ["Visits", total],
    ["By people", nonBots],
    ["By bots", bots],
    [`Busiest ${interval}`, Math.max(0, ...series.map(({ visits }) => visits))]
  ] as const
  return (
    <dl class="totals">
      {figures.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{formatNumber(value)}</dd>
        </div>
      ))}
    </dl>
  )
}

const RangeChoice = ({
  onChoose,
  range
}: {
  readonly range: Range
  readonly onChoose: (range: Range) => void
}) => (
  <div class="choice" role="group" aria-label="Time">
    {ranges.map((other) => (
      <button key={other.id} type="button" aria-pressed={other === range} onClick={() => onChoose(other)}>
        {other.name}
      </button>
    ))}
  </div>
)

interface StatsOfProps {
  /** Whose visits they are: where it changes, they are loaded again. */
  readonly subject: string
  readonly load: (from: string, interval: Range["interval"], signal: AbortSignal) => Promise<Stats>
}

/** Visits, of a time that can be chosen. */
export const StatsOf = ({ load, subject }: StatsOfProps) => {
  // It stands in the address, so that it can be kept and passed on.
  const range = rangeOf(here.value)
  const stats = useLoaded(
    (signal) => load(beginningOf(range, Date.now()), range.interval, signal),
    [subject, range]
  )
  return (
    <>
      <RangeChoice range={range} onChoose={(range) => go(pathOf(here.value, range))} />
      {stats.state === "loading" && <Loading rows={4} />}
      {stats.state === "failed" && <Failure error={stats.error} retry={stats.reload} />}
      {stats.state === "loaded" && stats.value.total === 0 && (
        <Empty title={`No visits ${range.past}`}>
          <p>Visits appear here within a second.</p>
        </Empty>
      )}
      {stats.state === "loaded" && stats.value.imported !== undefined && (
        <p class="soft" data-testid="imported">
          {formatCount(stats.value.imported.total, "visit")} before the link came here
          {stats.value.imported.bots > 0 && `, ${formatNumber(stats.value.imported.bots)} of them by bots`}.
        </p>
      )}
      {stats.state === "loaded" && stats.value.total > 0 && (
        <>
          <Totals stats={stats.value} interval={range.interval} />
          <SeriesPlot series={stats.value.series} interval={range.interval} />
          <div class="breakdowns">
            {stats.value.targets && (
              <Breakdown title="Rules and variants" values={stats.value.targets} nameOf={targetOf} />
            )}
            <Breakdown title="Referrers" values={stats.value.referrers} nameOf={referrerOf} />
            <Breakdown title="Countries" values={stats.value.countries} nameOf={countryOf} />
            <Breakdown title="Browsers" values={stats.value.browsers} nameOf={nameOf} />
            <Breakdown title="Systems" values={stats.value.os} nameOf={nameOf} />
            <Breakdown title="Devices" values={stats.value.devices} nameOf={nameOf} />
          </div>
        </>
      )}
    </>
  )
}
