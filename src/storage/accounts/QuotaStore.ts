import { Context, type Effect } from "effect"
import type { StorageError } from "../StorageError.ts"

/** How often something may be done. */
export interface Quota {
  /** What is counted: the same name is the same quota on every node. At most 128 characters. */
  readonly id: string
  /** Times a period, 1 or more. */
  readonly limit: number
  /**
   * `minute` and `hour`: a token bucket that holds `limit` and fills up evenly within that time. `day`: `limit` a day of UTC, all of it at midnight.
   */
  readonly period: "minute" | "hour" | "day"
}

/** What a node asks of a quota. */
export interface Ask extends Quota {
  /** Times that wait on the node for being allowed; with 0 it only wants to know. */
  readonly demand: number
}

/** What a node is given of a quota. */
export interface Lease {
  /** Times that the node may allow by itself from now on: at least its demand, or all that is left. */
  readonly granted: number
  /** What is left for all nodes, in whole times. */
  readonly remaining: number
  /** Milliseconds until there is at least one again; 0 where there is one. */
  readonly nextIn_ms: number
  /** Milliseconds until all of it is there again. */
  readonly resetIn_ms: number
}

/** A quota's state at a moment, in milliseconds since the Unix epoch. */
export interface QuotaState {
  readonly available: number
  readonly at: number
}

/**
 * What a lease is of all that is left, at most, beyond the demand. The smaller it is the less lies unused on nodes that have nothing to do, and the
 * more messages it takes: with 128 a quota of a million is used up with some 1,300, and six nodes hold less than 5 % of it.
 */
const leasedShare = 128

/** How long the periods are. */
export const length_ms = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const

const availableAt = ({ limit, period }: Quota, state: QuotaState | undefined, now: number): number => {
  if (state === undefined) return limit
  const each_ms = length_ms[period]
  if (period === "day") {
    const isNewDay = Math.floor(now / each_ms) > Math.floor(state.at / each_ms)
    return isNewDay ? limit : Math.min(limit, state.available)
  }
  return Math.min(limit, state.available + (Math.max(0, now - state.at) * limit) / each_ms)
}

/** Grants what there is at `now`: the lease, and the quota's state afterwards. The one rule of all backends. */
export const grant = (ask: Ask, state: QuotaState | undefined, now: number) => {
  const { demand, limit, period } = ask
  const each_ms = length_ms[period]
  const before = availableAt(ask, state, now)
  const wanted = demand === 0 ? 0 : Math.max(demand, Math.ceil(before / leasedShare))
  const granted = Math.min(Math.floor(before), wanted)
  const available = before - granted
  const untilMidnight_ms = each_ms - (now % each_ms)
  const resetIn_ms = period === "day" ? untilMidnight_ms : Math.ceil(((limit - available) * each_ms) / limit)
  const nextToken_ms = Math.ceil(((1 - available) * each_ms) / limit)
  const lease: Lease = {
    granted,
    remaining: Math.floor(available),
    nextIn_ms: available >= 1 ? 0 : period === "day" ? untilMidnight_ms : nextToken_ms,
    resetIn_ms
  }
  return { lease, available, at: Math.max(now, state?.at ?? now), fullAt: now + resetIn_ms }
}

/**
 * What is left of all quotas, for all nodes.
 *
 * Laws:
 * 1. Within a day of UTC no more is granted of a quota a `day` than its limit; of one a `minute` or an `hour` no more within any time t than its limit and what
 *    flows in during t.
 * 2. A lease grants the demand wherever so much is left.
 * 3. A quota that is forgotten is full: `sweep` forgets none that is not.
 *
 * The backend's own clock counts, so that nodes whose clocks differ share a quota rightly.
 */
export class QuotaStore extends Context.Tag("linkmint/QuotaStore")<
  QuotaStore,
  {
    /** Answers each ask, in order; each quota may be asked about once. */
    readonly leaseMany: (asks: ReadonlyArray<Ask>) => Effect.Effect<ReadonlyArray<Lease>, StorageError>
    /** Forgets up to `max` quotas that are full again; gives how many. */
    readonly sweep: (max: number) => Effect.Effect<number, StorageError>
  }
>() {}
