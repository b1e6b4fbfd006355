import type { Evidence } from "../../Evidence.ts"
import type { Exchange } from "../../History.ts"
import { ms_us, s_us } from "../../world/Time.ts"
import { momentOf } from "../Events.ts"
import { type Group, lane, type Mark } from "./Lane.ts"

/** Failed requests that are drawn at most. */
const failuresMax = 1_000

/** About so many columns stand for the whole run. */
const columnsWanted = 120

const hasFailed = ({ status }: Exchange) => status === 0 || status >= 500

const failureOf = ({ answered_us, answeredBy, key, kind, number, sent_us, status }: Exchange): Mark => {
  const what = status === 0 ? "no answer" : String(status)
  const by = answeredBy === undefined ? "" : ` from ${answeredBy}`
  const took = answered_us === undefined ? "" : ` after ${Math.round((answered_us - sent_us) / ms_us)} ms`
  return {
    at_us: sent_us,
    look: "failure",
    tip: `${momentOf(sent_us)}: ${kind} ${key ?? ""} (#${number}): ${what}${by}${took}`
  }
}

const count = (exchanges: ReadonlyArray<Exchange>, is: (exchange: Exchange) => boolean) =>
  exchanges.reduce((sum, exchange) => (is(exchange) ? sum + 1 : sum), 0)

/** Requests by the time at which they were sent: how many were answered, how many failed, and how long the slowest took. */
export const requestLanes = ({ end_us, exchanges }: Evidence): Group => {
  const width_us = Math.max(0.1, Math.ceil((10 * end_us) / s_us / columnsWanted) / 10) * s_us
  const columns = Array.from({ length: Math.ceil(end_us / width_us) }, (_, index) => {
    const [from_us, to_us] = [index * width_us, Math.min(end_us, (index + 1) * width_us)]
    const sent = exchanges.filter(({ sent_us }) => sent_us >= from_us && sent_us < to_us)
    const failed = count(sent, hasFailed)
    const creates = count(sent, (exchange) => exchange.kind === "create" && !hasFailed(exchange))
    const slowest_ms = Math.max(
      0,
      ...sent.map(({ answered_us = end_us, sent_us }) => (answered_us - sent_us) / ms_us)
    )
    return { from_us, to_us, failed, creates, others: sent.length - failed - creates, slowest_ms }
  })
  const most = Math.max(1, ...columns.map(({ creates, failed, others }) => creates + failed + others))
  const slowest_ms = Math.max(1, ...columns.map((column) => column.slowest_ms))
  const points = (value: (column: (typeof columns)[number]) => number) => [
    ...columns.map((column) => ({ at_us: column.from_us, value: value(column) })),
    { at_us: end_us, value: 0 }
  ]
  const tips = columns.map(({ creates, failed, from_us, others, slowest_ms, to_us }) => ({
    from_us,
    to_us,
    look: "column",
    tip: `${(from_us / s_us).toFixed(1)}–${(to_us / s_us).toFixed(1)} s: ${creates} creates and ${others} others answered, ${failed} failed; the slowest took ${Math.round(slowest_ms)} ms`
  }))
  return {
    title: "Requests",
    about: "by the time at which they were sent; 5xx and no answer are failures",
    lanes: [
      lane("answered, failed", {
        tip: `up to ${most} in ${width_us / s_us} s`,
        height: 64,
        top: 1.05 * most,
        steps: [
          { points: points(({ creates, failed, others }) => creates + others + failed), look: "failed" },
          { points: points(({ creates, others }) => creates + others), look: "redirects" },
          { points: points(({ creates }) => creates), look: "creates" }
        ],
        spans: tips
      }),
      lane("slowest answer", {
        tip: `up to ${Math.round(slowest_ms)} ms`,
        height: 40,
        top: 1.05 * slowest_ms,
        steps: [{ points: points((column) => column.slowest_ms), look: "slowest" }],
        spans: tips
      }),
      lane("failures", {
        tip: "each one",
        marks: exchanges.filter(hasFailed).slice(0, failuresMax).map(failureOf)
      })
    ]
  }
}
