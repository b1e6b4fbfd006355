import type { Checker } from "../../Evidence.ts"
import { ms_us, s_us } from "../../world/Time.ts"

/** A process that stood still for so long notices it. */
const noticed_us = 1_100 * ms_us

/** How long afterwards it looks at requests whether their clients are still there. */
const looksFor_us = 0.9 * s_us

/** A process that stood still begins no write afterwards whose client had gone by its end: somebody else may have been asked for that meanwhile. */
export const LateRequests: Checker = {
  name: "late requests",
  check: ({ journal }) => {
    /** The end of each process's last pause that it noticed. */
    const resumed = new Map<string, number>()
    return journal.flatMap((entry) => {
      if (entry.tag === "paused" && entry.for_us >= noticed_us)
        resumed.set(entry.by, entry.at_us + entry.for_us)
      if (entry.tag !== "begun late" || entry.method === "GET" || entry.method === "HEAD") return []
      const { at_us, by, closed_us, method } = entry
      const resumed_us = resumed.get(by)
      if (resumed_us === undefined || closed_us > resumed_us || at_us > resumed_us + looksFor_us) return []
      const since_us = resumed_us - closed_us
      const text = `${by} began a ${method} after a pause, whose client had gone ${Math.round(since_us / ms_us)} ms before its end`
      return [{ checker: LateRequests.name, at_us, text, keys: [] }]
    })
  }
}
