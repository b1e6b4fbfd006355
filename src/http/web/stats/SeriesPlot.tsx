import { useEffect, useRef, useState } from "preact/hooks"
import uPlot from "uplot"
import "uplot/dist/uPlot.min.css"
import type { Stats } from "../api/Types.ts"
import { isDark } from "../app/Theme.ts"
import { counted, fill } from "../language/fill.tsx"
import { locale } from "../language/Language.ts"
import { formatDayOfUtc, formatMoment, formatNumber } from "../ui/format.ts"
import { words as common } from "../ui/words.ts"
import { words } from "./words.ts"

const height = 260

/** Between grid lines: there are no half visits. */
const wholeSteps = Array.from({ length: 10 }, (_, power) =>
  [1, 2, 5].map((step) => step * 10 ** power)
).flat()

const colourOf = (element: Element, name: string) => {
  // A custom property would give its text, `light-dark()` and all; a real one gives the colour.
  const probe = document.createElement("span")
  probe.style.color = `var(${name})`
  element.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}

const gradient = (plot: uPlot, colour: string) => {
  const { height, top } = plot.bbox
  const fill = plot.ctx.createLinearGradient(0, top, 0, top + height)
  fill.addColorStop(0, colour.replace(/^rgb\((.*)\)$/, "rgba($1, 0.28)"))
  fill.addColorStop(1, colour.replace(/^rgb\((.*)\)$/, "rgba($1, 0)"))
  return fill
}

interface SeriesPlotProps {
  readonly series: Stats["series"]
  readonly interval: "hour" | "day"
  /** The different visitors of each of these days. */
  readonly visitors: NonNullable<Stats["uniqueVisitors"]>["days"] | undefined
}

/** Days are days of UTC, and shown as such; hours in the visitor's own time. */
const momentOf = (interval: SeriesPlotProps["interval"]) =>
  interval === "day" ? formatDayOfUtc : formatMoment

/** What an axis says of a moment, in seconds since the Unix epoch: its day, or where hours are shown and none begins with it, its time. */
const tickOf = (interval: SeriesPlotProps["interval"]) => {
  const zone = interval === "day" ? { timeZone: "UTC" } : {}
  const day = new Intl.DateTimeFormat(locale.value, { day: "numeric", month: "short", ...zone })
  const time = new Intl.DateTimeFormat(locale.value, { timeStyle: "short" })
  return (seconds: number) => {
    const at = new Date(seconds * 1000)
    return (interval === "day" || at.getHours() + at.getMinutes() === 0 ? day : time).format(at)
  }
}

const draw = (
  element: HTMLElement,
  { interval, series, visitors }: SeriesPlotProps,
  onPoint: (index: number | null) => void
) => {
  const [mint, soft, line] = ["--mint", "--ink-soft", "--line"].map((name) => colourOf(element, name)) as [
    string,
    string,
    string
  ]
  const font = `12px ${getComputedStyle(element).fontFamily}`
  const axis = { stroke: soft, font, grid: { stroke: line, width: 1 }, ticks: { show: false } }
  return new uPlot(
    {
      width: element.clientWidth,
      height,
      ...(interval === "day" && {
        tzDate: (seconds: number) => uPlot.tzDate(new Date(seconds * 1000), "UTC")
      }),
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false }, points: { size: 9, fill: mint } },
      scales: { y: { range: (_, __, max) => [0, Math.max(4, max * 1.1)] } },
      axes: [
        {
          ...axis,
          grid: { show: false },
          space: 64,
          values: (_, moments) => moments.map(tickOf(interval))
        },
        { ...axis, size: 50, incrs: wholeSteps, values: (_, counts) => counts.map(formatNumber) }
      ],
      series: [
        {},
        {
          stroke: mint,
          width: 2,
          fill: (plot) => gradient(plot, mint),
          points: { show: series.length < 40, size: 5, fill: mint }
        },
        ...(visitors === undefined ? [] : [{ stroke: soft, width: 2, dash: [4, 4], points: { show: false } }])
      ],
      hooks: { setCursor: [({ cursor }) => onPoint(cursor.idx ?? null)] }
    },
    [
      series.map(({ at }) => Date.parse(at) / 1000),
      series.map(({ visits }) => visits),
      ...(visitors === undefined ? [] : [visitors.map((day) => day.visitors)])
    ],
    element
  )
}

/** Visits over time, to look at. What it shows, a table says as well. */
export const SeriesPlot = ({ interval, series, visitors }: SeriesPlotProps) => {
  const t = words()
  const box = useRef<HTMLDivElement>(null)
  const [point, setPoint] = useState<number | null>(null)
  const dark = isDark()
  useEffect(() => {
    const element = box.current!
    const plot = draw(element, { series, interval, visitors }, setPoint)
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }))
    observer.observe(element)
    return () => {
      observer.disconnect()
      plot.destroy()
    }
  }, [series, interval, visitors, dark, locale.value])
  const at = point === null ? undefined : series[point]
  const visitorsAt = point === null ? undefined : visitors?.[point]
  const by = interval === "hour" ? t.byHour : visitors === undefined ? t.byDay : t.byDayWithVisitors
  return (
    <figure class="plot">
      <figcaption aria-hidden="true">
        {at === undefined
          ? by
          : fill(common().named, {
              name: momentOf(interval)(at.at),
              text: counted(common().visits, at.visits)
            })}
        {visitorsAt !== undefined && `, ${counted(t.visitorsCounted, visitorsAt.visitors)}`}
      </figcaption>
      <div ref={box} role="img" aria-label={`${by}. ${t.inTable}`} />
      <details class="numbers">
        <summary>{t.asTable}</summary>
        <div class="table" role="region" aria-label={t.visits} tabIndex={0}>
          <table>
            <thead>
              <tr>
                <th scope="col">{interval === "day" ? t.day : t.hour}</th>
                <th scope="col">{t.visits}</th>
                {visitors !== undefined && <th scope="col">{t.visitors}</th>}
              </tr>
            </thead>
            <tbody>
              {series
                .map(({ at, visits }, index) => (
                  <tr key={at}>
                    <td>{momentOf(interval)(at)}</td>
                    <td>{formatNumber(visits)}</td>
                    {visitors !== undefined && <td>{formatNumber(visitors[index]?.visitors ?? 0)}</td>}
                  </tr>
                ))
                .toReversed()}
            </tbody>
          </table>
        </div>
      </details>
    </figure>
  )
}
