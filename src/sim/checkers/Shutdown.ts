import type { Checker } from "../Evidence.ts"

/** A node that shuts down gracefully answers every request that it has accepted. One that was paused meanwhile may lose some: its time runs out at once. */
export const Shutdown: Checker = {
  name: "shutdown",
  check: ({ journal }) =>
    journal.flatMap((entry) => {
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
