import type { Checker, Violation } from "../../Evidence.ts"

/**
 * What makes a former owner harmless: epochs rise with every claim, but for those that the database has forgotten, nothing is recorded under an epoch that is not the newest, and a pool takes nothing
 * from an epoch older than one that it has seen, unless it forgot that it had.
 */
export const Fencing: Checker = {
  name: "fencing",
  seesForgotten: true,
  check: ({ journal }) => {
    const violations: Array<Violation> = []
    const claimed = new Map<number, number>()
    const seen = new Map<number, number>()
    for (const entry of journal) {
      const found = (text: string) =>
        violations.push({
          checker: Fencing.name,
          at_us: entry.at_us,
          text: `${text}, by ${entry.by}`,
          keys: []
        })
      if (entry.tag === "forgot") seen.delete(entry.shard)
      if (entry.tag === "database forgot" || entry.tag === "recovered") {
        claimed.clear()
        entry.epochs.forEach(([shard, epoch]) => claimed.set(shard, epoch))
      }
      if (entry.tag === "claimed") {
        const { epoch, shard } = entry
        if (epoch <= (claimed.get(shard) ?? 0))
          found(`epoch ${epoch} of pool shard ${shard} was claimed again`)
        claimed.set(shard, Math.max(epoch, claimed.get(shard) ?? 0))
      }
      if (entry.tag === "recorded" && entry.isInVain === undefined) {
        const { epoch, shard } = entry
        const newest = claimed.get(shard) ?? 0
        if (epoch !== newest)
          found(`epoch ${epoch} of pool shard ${shard} recorded keys, ${newest} is the newest`)
      }
      if (entry.tag === "poolClaimed" || entry.tag === "pushed") {
        const { epoch, shard } = entry
        const newest = seen.get(shard) ?? 0
        if (epoch < newest) found(`pool shard ${shard} took epoch ${epoch}, though it had seen ${newest}`)
        seen.set(shard, Math.max(epoch, newest))
      }
    }
    return violations
  }
}
