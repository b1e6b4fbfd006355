// What nodes may tell of themselves.

import type { NodeReport, RequestTotals } from "../../src/model/NodeReport.ts"
import { bounds_s } from "../../src/http/ops/RequestMetrics.ts"

/** What a node has answered: redirects and creates by how long they took, in milliseconds. */
export const totalsOf = ({
  creates = [],
  errors = 0,
  redirects = []
}: {
  readonly redirects?: ReadonlyArray<number>
  readonly creates?: ReadonlyArray<number>
  readonly errors?: number
}): RequestTotals => {
  const timed = (took_ms: ReadonlyArray<number>) => ({
    count: took_ms.length,
    within: bounds_s.map((bound_s) => took_ms.filter((each) => each <= 1_000 * bound_s).length)
  })
  return {
    requests: redirects.length + creates.length,
    errors,
    redirects: timed(redirects),
    creates: timed(creates)
  }
}

/** The report of a node that has just started, but for what is told. */
export const reportOf = (id: string, told: Partial<NodeReport> = {}): NodeReport => ({
  id,
  address: `${id}:34431`,
  role: "all",
  isStopping: false,
  uptime_ms: 1_000,
  bufferedKeys: 0,
  cachedLinks: 0,
  linksCreated: 0,
  totals: totalsOf({}),
  ...told
})
