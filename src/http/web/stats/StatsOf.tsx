import type { ComponentChildren } from "preact"
import { type ApiError, request } from "../api/Client.ts"
import type { Stats, StatsQuery } from "../api/Types.ts"
import { go, here } from "../app/Router.ts"
import { counted, fill } from "../language/fill.tsx"
import { formatDayOfUtc, formatNumber } from "../ui/format.ts"
import { Check } from "../ui/Check.tsx"
import { Icon } from "../ui/Icon.tsx"
import { Empty, Failure, Loading } from "../ui/States.tsx"
import { useLoaded } from "../ui/hooks/useLoaded.ts"
import { Breakdowns } from "./Breakdowns.tsx"
import {
  daysOf,
  pathOf as pathOfRange,
  pathOfDates,
  queryOf,
  type Range,
  ranges,
  type Shown,
  shownAt,
  withParameter
} from "./ranges.ts"
import { SeriesPlot } from "./SeriesPlot.tsx"
import { words } from "./words.ts"
import "./stats.css"

interface TotalsProps {
  readonly stats: Stats
  readonly interval: Range["interval"]
}

const Totals = ({ interval, stats: { bots, nonBots, series, uniqueVisitors } }: TotalsProps) => {
  const t = words()
  const figures: ReadonlyArray<readonly [name: string, value: number]> = [
    [t.visits, nonBots + bots],
    [t.byPeople, nonBots],
    [t.byBots, bots],
    [interval === "day" ? t.busiestDay : t.busiestHour, Math.max(0, ...series.map(({ visits }) => visits))],
    ...(uniqueVisitors === undefined ? [] : [[t.visitorsSummed, uniqueVisitors.sumOfDays] as const])
  ]
  return (
    <>
      <dl class="totals">
        {figures.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{formatNumber(value)}</dd>
          </div>
        ))}
      </dl>
      {uniqueVisitors !== undefined && (
        <p class="soft remark">
          {fill(t.visitorsText, { percent: String(Math.round(100 * uniqueVisitors.standardError)) })}
        </p>
      )}
    </>
  )
}

const RangeChoice = ({ dates, range }: Shown) => (
  <div class="choice" role="group" aria-label={words().time}>
    {ranges.map((other) => (
      <button
        key={other.id}
        type="button"
        aria-pressed={other === range && dates === undefined}
        onClick={() => go(pathOfRange(here.value, other))}
      >
        {words().range[other.id]}
      </button>
    ))}
  </div>
)

interface FiltersProps {
  readonly shown: Shown
  /** Where the table is, and what it is saved as. */
  readonly source: string
  readonly file: string
}

/** Own dates, bots, and the table to save. */
const Filters = ({ file, shown, source }: FiltersProps) => {
  const days = daysOf(shown, Date.now())
  const choose = (change: Partial<typeof days>) => {
    const { first, last } = { ...days, ...change }
    // A date that is being typed has none.
    if (first === "" || last === "") return
    go(pathOfDates(here.value, first <= last ? { first, last } : { first: last, last: first }))
  }
  return (
    <div class="filters">
      <label>
        {words().from}
        <input
          type="date"
          value={days.first}
          onChange={({ currentTarget }) => choose({ first: currentTarget.value })}
        />
      </label>
      <label>
        {words().to}
        <input
          type="date"
          value={days.last}
          onChange={({ currentTarget }) => choose({ last: currentTarget.value })}
        />
      </label>
      <Check
        checked={shown.bots}
        onChange={(bots) => go(withParameter(here.value, "bots", bots ? "" : "exclude"))}
      >
        {words().bots}
      </Check>
      <a class="button plain small" href={source} download={file}>
        <Icon name="download" /> CSV
      </a>
    </div>
  )
}

/** That there are no visits in the time that is shown. */
const noneOf = ({ bots, dates, range }: Shown): string => {
  const t = words()
  if (dates === undefined) return (bots ? t.none : t.noneByPeople)[range.id]
  const [first, last] = [formatDayOfUtc(dates.first), formatDayOfUtc(dates.last)]
  return dates.first === dates.last
    ? fill(bots ? t.noneOn : t.noneByPeopleOn, { first })
    : fill(bots ? t.noneFrom : t.noneByPeopleFrom, { first, last })
}

/** What a problem shows instead of statistics and all that is beside them; `undefined`: that they failed. */
type Instead = (error: ApiError) => ComponentChildren

interface StatsOfProps {
  /** Whose visits they are: where it changes, they are loaded again. */
  readonly subject: string
  /** Where the visits are. */
  readonly pathOf: (asked: StatsQuery) => string
  /** What their table is saved as. */
  readonly file: string
  /** What stands above them. */
  readonly header?: ComponentChildren
  readonly instead?: Instead
}

/** Visits, of a time that can be chosen. */
export const StatsOf = ({ file, header, instead, pathOf, subject }: StatsOfProps) => {
  // It stands in the address, so that it can be kept and passed on.
  const t = words()
  const shown = shownAt(here.value)
  const { bots, dates, interval, range } = shown
  const stats = useLoaded(
    (signal) => request<Stats>("GET", pathOf(queryOf(shown, Date.now())), { signal }),
    [subject, range, dates?.first, dates?.last, bots]
  )
  const other = stats.state === "failed" ? instead?.(stats.error) : undefined
  if (other !== undefined) return <>{other}</>
  return (
    <>
      {header}
      <RangeChoice {...shown} />
      <Filters shown={shown} source={pathOf({ ...queryOf(shown, Date.now()), format: "csv" })} file={file} />
      {stats.state === "loading" && <Loading rows={4} />}
      {stats.state === "failed" && <Failure error={stats.error} retry={stats.reload} />}
      {stats.state === "loaded" && stats.value.total === 0 && (
        <Empty title={noneOf(shown)}>
          <p>{t.noneText}</p>
        </Empty>
      )}
      {stats.state === "loaded" && stats.value.imported !== undefined && (
        <p class="soft remark" data-testid="imported">
          {stats.value.imported.bots === 0
            ? counted(t.imported, stats.value.imported.total)
            : counted(t.importedWithBots, stats.value.imported.total, {
                bots: formatNumber(stats.value.imported.bots)
              })}
        </p>
      )}
      {stats.state === "loaded" && stats.value.total > 0 && (
        <>
          <Totals stats={stats.value} interval={interval} />
          <SeriesPlot
            series={stats.value.series}
            interval={interval}
            visitors={interval === "day" ? stats.value.uniqueVisitors?.days : undefined}
          />
          {!bots && <p class="soft remark">{t.withoutBots}</p>}
          <Breakdowns stats={stats.value} />
        </>
      )}
    </>
  )
}
