import type { Checker } from "../Evidence.ts"

const epochOf = (batch: string) => Number(batch.split("/")[0])

/** C6: a new owner of a pool shard finishes what stands recorded before it records anything itself, so that no keys are left behind in a record. */
export const Recovery: Checker = {
  name: "recovery",
  check: ({ end_us, journal, open }) => {
    const newest = new Map<number, number>()
    for (const entry of journal) {
      if (entry.tag === "closed")
        newest.set(entry.shard, Math.max(newest.get(entry.shard) ?? 0, epochOf(entry.batch)))
    }
    return open.flatMap(({ epoch, shard, sequence }) => {
      const later = newest.get(shard) ?? 0
      if (epoch >= later) return []
      const text = `batch ${epoch}/${sequence} of pool shard ${shard} is open, though the owner of epoch ${later} finished batches of its own`
      return [{ checker: Recovery.name, at_us: end_us, text, keys: [] }]
    })
  }
}
