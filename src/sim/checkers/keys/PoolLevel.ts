import type { Checker } from "../../Evidence.ts"
import { s_us } from "../../world/Time.ts"

/** How long before a push its owner may have asked for the pool's level: as long as a refill takes whose calls are all slow, and whose node is paused. */
const askedWithin_us = 30 * s_us

/** Keys that came back to a pool without its owner's knowledge. */
interface CameBack {
  readonly at_us: number
  readonly keys: number
}

/**
 * C6: a push leaves a pool shard with no more keys than its high-water mark, unless the pool was empty; so that is what a Redis can lose. Keys that were given back, or that a failover has brought
 * back, since the owner may have asked are on top of it, and so is what a former owner pushes to a pool that has forgotten the newer one.
 */
export const PoolLevel: Checker = {
  name: "pool level",
  check: ({ journal, options }) => {
    const pools = new Map<number, Set<string>>()
    const cameBack = new Map<number, ReadonlyArray<CameBack>>()
    const newest = new Map<number, number>()
    const poolOf = (shard: number) => {
      const known = pools.get(shard) ?? new Set<string>()
      pools.set(shard, known)
      return known
    }
    const unasked = (shard: number, now_us: number) => {
      const recent = (cameBack.get(shard) ?? []).filter(({ at_us }) => at_us > now_us - askedWithin_us)
      cameBack.set(shard, recent)
      return recent.reduce((sum, { keys }) => sum + keys, 0)
    }
    const comesBack = (shard: number, at_us: number, keys: ReadonlyArray<string>) => {
      cameBack.set(shard, [...(cameBack.get(shard) ?? []), { at_us, keys: keys.length }])
      keys.forEach((key) => poolOf(shard).add(key))
    }
    return journal.flatMap((entry) => {
      if (entry.tag === "leased") entry.keys.forEach((key) => poolOf(entry.shard).delete(key))
      if (entry.tag === "returned") comesBack(entry.shard, entry.at_us, entry.keys)
      if (entry.tag === "forgot") {
        entry.gone.forEach((key) => poolOf(entry.shard).delete(key))
        comesBack(entry.shard, entry.at_us, entry.again)
      }
      if (entry.tag !== "pushed") return []
      const { at_us, by, epoch, keys, shard } = entry
      if (epoch < (newest.get(shard) ?? epoch)) {
        comesBack(shard, at_us, keys)
        return []
      }
      newest.set(shard, epoch)
      const pool = poolOf(shard)
      keys.forEach((key) => pool.add(key))
      const most = Math.max(options.poolHigh, keys.length) + unasked(shard, at_us)
      if (pool.size <= most) return []
      const text = `${by} left pool shard ${shard} with ${pool.size} keys, where ${most} are the most`
      return [{ checker: PoolLevel.name, at_us, text, keys: keys.slice(0, 1) }]
    })
  }
}
