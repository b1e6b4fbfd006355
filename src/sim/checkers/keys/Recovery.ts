import type { Checker } from "../../Evidence.ts"
import { s_us } from "../../world/Time.ts"

const epochOf = (batch: string) => Number(batch.split("/")[0])

/** How long after the end of all faults, and after it was recorded, a batch is pushed before any other is recorded. */
const pushedWithin_us = 5 * s_us

/**
 * C6: a new owner of a pool shard finishes what stands recorded before it records anything itself, so that no keys are left behind in a record. What waits for a database of links, or for
 * room in the pool, is finished with a later refill: 5 s after faults have ended, nothing is recorded while an earlier record is not pushed.
 */
export const Recovery: Checker = {
  name: "recovery",
  seesForgotten: true,
  check: ({ end_us, healed_us, journal, open, options }) => {
    const newest = new Map<number, number>()
    /** Batches that were finished before a failover, which may have forgotten that. */
    const finished = new Set<string>()
    for (const entry of journal) {
      if (entry.tag === "database forgot") newest.clear()
      if (entry.tag !== "closed") continue
      newest.set(entry.shard, Math.max(newest.get(entry.shard) ?? 0, epochOf(entry.batch)))
      finished.add(`${entry.shard}/${entry.batch}`)
    }
    const pushed = new Set<string>()
    /** Those that the pool still knows: one that it has forgotten is as if it had never been pushed. */
    const known = new Map<number, Set<string>>()
    const recorded_us = new Map<string, number>()
    /** When a shard's last batch was begun. */
    const begun_us = new Map<number, number>()
    for (const entry of journal) {
      if (entry.tag === "forgot") known.delete(entry.shard)
      if (entry.tag === "pushed") {
        pushed.add(`${entry.shard}/${entry.batch}`)
        const ofShard = known.get(entry.shard) ?? new Set()
        known.set(entry.shard, ofShard.add(entry.batch))
      }
      if (entry.tag !== "recorded") continue
      const batch = `${entry.shard}/${entry.batch}`
      if (!recorded_us.has(batch)) begun_us.set(entry.shard, entry.at_us)
      recorded_us.set(batch, entry.at_us)
    }
    const unpushed = open.flatMap(({ epoch, sequence, shard }) => {
      const batch = `${epoch}/${sequence}`
      const due_us = Math.max(healed_us, recorded_us.get(`${shard}/${batch}`) ?? end_us) + pushedWithin_us
      if (pushed.has(`${shard}/${batch}`) || (begun_us.get(shard) ?? 0) <= due_us) return []
      const text = `batch ${batch} of pool shard ${shard} was recorded, and not pushed before others were recorded`
      return [{ checker: Recovery.name, at_us: end_us, text, keys: [] }]
    })
    const left = open.flatMap(({ epoch, shard, sequence }) => {
      // A pool in memory needs its records in the order in which they came, which those that waited for a database do not keep.
      if (options.alone !== null) return []
      const later = newest.get(shard) ?? 0
      if (epoch >= later || known.get(shard)?.has(`${epoch}/${sequence}`) !== true) return []
      if (finished.has(`${shard}/${epoch}/${sequence}`)) return []
      const text = `batch ${epoch}/${sequence} of pool shard ${shard} is open, though the owner of epoch ${later} finished batches of its own`
      return [{ checker: Recovery.name, at_us: end_us, text, keys: [] }]
    })
    return [...unpushed, ...left]
  }
}
