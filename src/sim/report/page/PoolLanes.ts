import type { Evidence } from "../../Evidence.ts"
import type { Strike } from "../../deployment/Faults.ts"
import { ms_us } from "../../world/Time.ts"
import { type Group, lane, type Span } from "./Lane.ts"

/** A fault as a stretch of time: what all faults' end cuts short, and a jump of a clock, which is over at once. */
export const spanOf = (strike: Strike, healed_us: number): Span => {
  const { at_us, for_us, name, whom } = strike
  return {
    from_us: at_us,
    to_us: name === "clockJump" ? at_us : Math.min(at_us + for_us, Math.max(healed_us, at_us)),
    look: "fault",
    tip: `${name}: ${whom}, ${Math.round(for_us / ms_us)} ms`
  }
}

/** How many keys the pool shard had, each time that this changed. */
const levelsOf = (shard: number, { end_us, journal }: Evidence) => {
  const points = [{ at_us: 0, value: 0 }]
  for (const entry of journal) {
    if (!("shard" in entry) || entry.shard !== shard) continue
    const value = points.at(-1)!.value
    const { at_us } = entry
    if (entry.tag === "pushed" || entry.tag === "returned")
      points.push({ at_us, value: value + entry.keys.length })
    if (entry.tag === "leased") points.push({ at_us, value: value - entry.keys.length })
    if (entry.tag === "forgot") points.push({ at_us, value: value - entry.gone.length + entry.again.length })
  }
  return [...points, { at_us: end_us, value: points.at(-1)!.value }]
}

/** The level of each pool shard, between its marks; and when its Redis was away. */
export const poolLanes = (evidence: Evidence): Group => {
  const { healed_us, options, strikes } = evidence
  return {
    title: "Pools",
    about: `keys in each pool shard; refilled below ${options.poolLow} up to ${options.poolHigh} (dotted)`,
    lanes: Array.from({ length: options.pools }, (_, shard) => {
      const points = levelsOf(shard, evidence)
      const name = `pool shard ${shard}`
      const top = Math.max(options.poolHigh, ...points.map(({ value }) => value))
      return lane(name, {
        tip: `${name}: up to ${top} keys`,
        height: 52,
        top: 1.08 * top,
        steps: [{ points, look: "level" }],
        levels: [
          { value: options.poolLow, look: "mark-low" },
          { value: options.poolHigh, look: "mark-high" }
        ],
        spans: strikes
          .filter(({ name: kind, whom }) => kind.startsWith("redis") && whom === name)
          .map((strike) => ({ ...spanOf(strike, healed_us), look: "away" }))
      })
    })
  }
}
