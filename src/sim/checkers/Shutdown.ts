import type { Checker } from "../Evidence.ts"
import { ms_us } from "../world/Time.ts"

/** How long after SIGTERM a node says at the latest that it is not ready, if it is not paused. */
const noticed_us = 100 * ms_us

/**
 * A node that shuts down gracefully says so to load balancers at once, goes on accepting connections for a while, until load balancers have noticed, and answers every request that it has accepted. One that was paused meanwhile may lose
 * some: its time runs out at once.
 */
export const Shutdown: Checker = {
  name: "shutdown",
  check: ({ journal, options }) =>
    journal.flatMap((entry) => {
      if (entry.tag === "refusing") {
        const { at_us, by } = entry
        const signalled = journal.findLast((one) => one.by === by && one.tag === "draining")
        if (signalled === undefined || at_us >= signalled.at_us + options.drainDelay_ms * ms_us) return []
        const after_ms = Math.round((at_us - signalled.at_us) / ms_us)
        const text = `${by} refused connections ${after_ms} ms after SIGTERM`
        return [{ checker: Shutdown.name, at_us, text, keys: [] }]
      }
      if (entry.tag === "ready") {
        const { asked_us, at_us, by } = entry
        const isDraining = journal.some(
          (one) =>
            one.by === by &&
            one.tag === "draining" &&
            one.at_us + noticed_us < asked_us &&
            !journal.some(
              (pause) => pause.by === by && pause.tag === "paused" && pause.at_us + pause.for_us >= one.at_us
            )
        )
        const text = `${by} was ready, and was to shut down`
        return isDraining ? [{ checker: Shutdown.name, at_us, text, keys: [] }] : []
      }
      if (entry.tag !== "ended" || entry.unanswered === 0) return []
      const { at_us, by, unanswered } = entry
      const own = journal.filter((one) => one.by === by)
      const stopped = own.find(({ tag }) => tag === "draining")
      if (stopped === undefined) return []
      const wasPaused = own.some((one) => one.tag === "paused" && one.at_us + one.for_us >= stopped.at_us)
      if (wasPaused) return []
      const text = `${by} shut down and left ${unanswered} requests unanswered`
      return [{ checker: Shutdown.name, at_us, text, keys: [] }]
    })
}
