import type { SimOptions } from "../cli/Options.ts"
import type { Chance } from "../world/Chance.ts"

/** Pools' Redis is full now and then. */
export const withFullPools = (options: SimOptions, chance: Chance): SimOptions => {
  if (options.alone !== null || !chance.happens(0.25)) return options
  const redisFull = { perMinute: chance.pick([1, 4, 12]), least_ms: 500, most_ms: 6_000 }
  return { ...options, faults: { ...options.faults, redisFull } }
}

/** Nodes that are started again keep smaller pools: what was recorded before may be more than a pool is to have. */
export const withLoweredMarks = (options: SimOptions, chance: Chance): SimOptions =>
  chance.happens(0.2)
    ? { ...options, poolHighLater: Math.max(2, Math.round(options.poolHigh * chance.pick([0.2, 0.5]))) }
    : options
