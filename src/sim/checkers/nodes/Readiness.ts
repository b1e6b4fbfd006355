import type { Checker } from "../../Evidence.ts"
import { s_us } from "../../world/Time.ts"

/** Within what time a node is ready again after something that may have kept it from that. */
const readyWithin_us = 12 * s_us

/** Faults of single pools. */
const ofPools: ReadonlySet<string> = new Set([
  "cutRedis",
  "redisRestart",
  "redisFailover",
  "redisLoss",
  "redisFull"
])

/** What may keep a node from being ready for a while, apart from what its entries have as the operation. */
const changes: ReadonlySet<string> = new Set(["started", "draining", "ended", "killed", "paused"])

/**
 * A node that can create and redirect is ready: it is so without some of its pools, as long as there is another one. Of runs in which calls or messages fail by chance, and of those in which keys
 * wait for witnesses, nothing is said.
 */
export const Readiness: Checker = {
  name: "readiness",
  check: ({ journal, options, strikes }) => {
    const { databaseCalls, messages, redisCalls, slowCalls } = options.faults
    const failing = [databaseCalls.refused, databaseCalls.lost, databaseCalls.ignored, messages.dropped]
    const failingPools = [redisCalls.refused, redisCalls.lost, redisCalls.ignored]
    const isByChance = [...failing, ...failingPools, slowCalls.probability].some((share) => share > 0)
    if (options.pools === 1 || options.witnessed || isByChance) return []
    const upsets = journal.flatMap((entry) =>
      changes.has(entry.tag) ||
      ((entry.tag === "unanswered" || entry.tag === "held up") && !entry.operation.startsWith("KeyPool."))
        ? [entry.at_us]
        : []
    )
    return journal.flatMap(({ at_us, by, tag }) => {
      if (tag !== "unready") return []
      const from_us = at_us - readyWithin_us
      const struck = strikes.filter((one) => one.at_us <= at_us && one.at_us + one.for_us >= from_us)
      const pools = new Set(struck.map(({ whom }) => /\d+$/.exec(whom)?.[0]))
      const isExcused =
        struck.some(({ name }) => !ofPools.has(name)) ||
        pools.size >= options.pools ||
        upsets.some((then_us) => then_us <= at_us && then_us >= from_us)
      return isExcused
        ? []
        : [{ checker: Readiness.name, at_us, text: `${by} was not ready, and could work`, keys: [] }]
    })
  }
}
