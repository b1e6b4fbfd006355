import { dimensions } from "../../model/Visit.ts"
import { csvLine } from "../../transfer/Csv.ts"
import type { StatsBody } from "../contract/StatsSchemas.ts"
import { type Answer, flatten } from "../exchange/Answer.ts"

type Row = readonly [dimension: string, value: string, visits: number]

const rowsOf = (stats: StatsBody, interval: "hour" | "day"): ReadonlyArray<Row> => [
  ["total", "", stats.total],
  ["nonBots", "", stats.nonBots],
  ["bots", "", stats.bots],
  ...(stats.uniqueVisitors === undefined
    ? []
    : [["uniqueVisitorsSumOfDays", "", stats.uniqueVisitors.sumOfDays] as const]),
  ...(stats.imported === undefined ? [] : [["imported", "", stats.imported.total] as const]),
  ...stats.series.map(({ at, visits }) => [interval, at, visits] as const),
  ...(stats.uniqueVisitors?.days ?? []).map(({ at, visitors }) => ["uniqueVisitors", at, visitors] as const),
  ...dimensions.flatMap((dimension) =>
    (stats[dimension] ?? []).map(({ value, visits }) => [dimension, value, visits] as const)
  )
]

/** Statistics as a table in CSV, to be saved: `dimension`, `value` and `visits`. The rows of the series have `hour` or `day` and its beginning, those of unique visitors the beginning of their day. */
export const answer = (stats: StatsBody, interval: "hour" | "day"): Answer<string> => ({
  status: 200,
  headers: flatten({
    "content-type": "text/csv; charset=utf-8",
    "content-disposition": "attachment",
    "cache-control": "no-store"
  }),
  body: [["dimension", "value", "visits"] as const, ...rowsOf(stats, interval)]
    .map((row) => csvLine(row.map(String)))
    .join("")
})
