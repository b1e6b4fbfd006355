import * as Links from "../api/Links.ts"
import type { Stats } from "../api/Types.ts"
import { lastList, statsKeyOf } from "../app/Paths.ts"
import { go, here } from "../app/Router.ts"
import { CopyButton } from "../ui/CopyButton.tsx"
import { formatCount, formatNumber, formatUrl } from "../ui/format.ts"
import { Icon } from "../ui/Icon.tsx"
import { Rosette } from "../ui/Rosette.tsx"
import { Empty, Failure, Loading } from "../ui/States.tsx"
import { useLoaded } from "../ui/useLoaded.ts"
import { Breakdown } from "./Breakdown.tsx"
import { countryOf, nameOf, referrerOf } from "./names.ts"
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

const StatsOf = ({ linkKey }: { readonly linkKey: string | null }) => {
  // It stands in the address, so that it can be kept and passed on.
  const range = rangeOf(here.value)
  const stats = useLoaded(
    (signal) => Links.stats(linkKey, beginningOf(range, Date.now()), range.interval, signal),
    [linkKey, range]
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

/** The visits of all one's links. */
export const AllStatsPage = () => (
  <>
    <header class="page-header">
      <h1>Statistics</h1>
    </header>
    <StatsOf linkKey={null} />
  </>
)

/** The visits of one link. */
export const LinkStatsPage = () => {
  const name = statsKeyOf(here.value.pathname) ?? ""
  const link = useLoaded((signal) => Links.get(name, signal), [name])
  if (link.state === "loading") return <Loading rows={5} />
  if (link.state === "failed") return <Failure error={link.error} retry={link.reload} />
  const { domain, key, shortUrl, title, url } = link.value
  return (
    <>
      <header class="page-header">
        <div class="subject">
          <Rosette seed={key} size={64} />
          <div>
            <h1>
              <span class="key">{key}</span> <CopyButton text={shortUrl} what="the short link" isSmall />
            </h1>
            <p class="soft">
              {domain !== undefined && <span>{domain} </span>}
              {title !== null && <strong>{title} </strong>}
              <a class="target" href={url} target="_blank" rel="noopener noreferrer">
                {formatUrl(url)}
              </a>
            </p>
          </div>
        </div>
        <a class="button plain" href={lastList.value}>
          <Icon name="back" /> Links
        </a>
      </header>
      <StatsOf linkKey={name} />
    </>
  )
}
