import type { NodeReport, TimedTotal } from "../../model/NodeReport.ts"
import { bounds_s } from "./RequestMetrics.ts"

/** Reports of a node that are compared: the last, and the one some ten seconds before it. */
const reportsMax = 11

/** The first and the last report of the period that is compared. */
export interface Stretch {
  readonly first: NodeReport
  readonly last: NodeReport
}

/** The recent reports of each node, from which its rates are computed. */
export class Rates {
  #reports = new Map<string, ReadonlyArray<NodeReport>>()

  /** Adds the latest report of each node, and drops nodes that have none. */
  add(reports: ReadonlyArray<NodeReport>): void {
    this.#reports = new Map(
      reports.map((report) => {
        const before = this.#reports.get(report.id) ?? []
        const isNew = before.at(-1)?.uptime_ms !== report.uptime_ms
        return [report.id, isNew ? [...before, report].slice(-reportsMax) : before]
      })
    )
  }

  /** The two reports of a node to compare; none before its second report. */
  stretchOf(id: string): Stretch | undefined {
    const reports = this.#reports.get(id) ?? []
    return reports.length < 2 ? undefined : { first: reports[0]!, last: reports.at(-1)! }
  }
}

/** By how much a number of a node grew per second; `null` if that is unknown. */
export const perSecond = (
  stretch: Stretch | undefined,
  valueOf: (report: NodeReport) => number
): number | null => {
  if (stretch === undefined) return null
  const { first, last } = stretch
  return (1_000 * (valueOf(last) - valueOf(first))) / (last.uptime_ms - first.uptime_ms)
}

/**
 * The time in milliseconds within which the share `q` of the requests of all periods was answered, interpolated within the bucket as Prometheus'
 * `histogram_quantile` does. `null` if there were none; at most the greatest bound.
 */
export const quantile_ms = (
  stretches: ReadonlyArray<Stretch>,
  timedOf: (report: NodeReport) => TimedTotal,
  q: number
): number | null => {
  const grown = (valueOf: (timed: TimedTotal) => number) =>
    stretches.reduce((sum, { first, last }) => sum + valueOf(timedOf(last)) - valueOf(timedOf(first)), 0)
  const rank = q * grown(({ count }) => count)
  if (rank === 0) return null
  let [below, from_s] = [0, 0]
  for (const [index, to_s] of bounds_s.entries()) {
    const within = grown((timed) => timed.within[index] ?? 0)
    if (within >= rank) return 1_000 * (from_s + ((to_s - from_s) * (rank - below)) / (within - below))
    below = within
    from_s = to_s
  }
  return 1_000 * from_s
}
