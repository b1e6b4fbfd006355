import type { Checker } from "../../Evidence.ts"
import { ms_us } from "../../world/Time.ts"

/** How long after SIGTERM a node says at the latest that it is not ready, if it is not paused. */
const noticed_us = 100 * ms_us

/**
 * A node that shuts down gracefully says so to load balancers at once, goes on accepting connections for a while, until load balancers have noticed, and answers every request that it has accepted. One that was paused meanwhile may lose
 * some: its time runs out at once.
 */
export const Shutdown: Checker = {
  name: "shutdown",
  check: ({ journal, options }) => {
    /** When a process was last told to shut down, if it was. */
    const signalled_us = (by: string) =>
      journal.findLast((one) => one.by === by && one.tag === "draining")?.at_us
    const wasPaused = (by: string, since_us: number) =>
      journal.some((one) => one.by === by && one.tag === "paused" && one.at_us + one.for_us >= since_us)
    return journal.flatMap((entry) => {
      if (entry.tag !== "refusing" && entry.tag !== "ready" && entry.tag !== "ended") return []
      const { at_us, by } = entry
      const since_us = signalled_us(by)
      if (since_us === undefined) return []
      const found = (text: string) => [{ checker: Shutdown.name, at_us, text: `${by} ${text}`, keys: [] }]
      if (entry.tag === "refusing") {
        const after_us = at_us - since_us
        return after_us < options.drainDelay_ms * ms_us
          ? found(`refused connections ${Math.round(after_us / ms_us)} ms after SIGTERM`)
          : []
      }
      if (wasPaused(by, since_us)) return []
      if (entry.tag === "ready")
        return entry.asked_us > since_us + noticed_us ? found("was ready, and was to shut down") : []
      return entry.unanswered > 0 ? found(`shut down and left ${entry.unanswered} requests unanswered`) : []
    })
  }
}
