import { Context, type Effect } from "effect"
import type { StorageError } from "../StorageError.ts"

/** How often something may be done. */
export interface Quota {
  /** The quota's name, the same on every node. At most 128 characters. */
  readonly id: string
  /** Times a period, 1 or more. */
  readonly limit: number
  /**
   * `minute` and `hour`: a token bucket of `limit` that refills evenly within that time. `day`: `limit` a day of UTC, reset at midnight.
   */
  readonly period: "minute" | "hour" | "day"
}

/** What a node asks of a quota. */
export interface Ask extends Quota {
  /** Requests that wait on the node; 0 only reads the quota. */
  readonly demand: number
}

/** What a node is given of a quota. */
export interface Lease {
  /** Times that the node may allow from now on: at least its demand, or all that is left. */
  readonly granted: number
  /** What is left for all nodes, in whole times. */
  readonly remaining: number
  /** Milliseconds until at least one is left again; 0 where one is. */
  readonly nextIn_ms: number
  /** Milliseconds until the quota is full again. */
  readonly resetIn_ms: number
}

/** A quota's state at a moment, in milliseconds since the Unix epoch. */
export interface QuotaState {
  readonly available: number
  readonly at: number
}

/**
 * A lease is at most this part of what is left, or the demand. With a greater number less is unused on idle nodes, and more leases are
 * needed: with 128 a quota of a million takes some 1,300 leases, and six nodes hold less than 5 % of it.
 */
const leasedShare = 128

/** The lengths of the periods. */
export const length_ms = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const

/** How far back the clock goes where hosts whose clocks differ take turns. One that goes back further was ahead, and has been corrected. */
const backMax_ms = 1_000

/** The moment from which a state counts: not the future, or a clock that was ahead would stop the quota until then. */
const countsFrom = ({ at }: QuotaState, now: number): number =>
  at > now + backMax_ms ? now : Math.max(at, now)

const availableAt = ({ limit, period }: Quota, state: QuotaState | undefined, now: number): number => {
  if (state === undefined) return limit
  const each_ms = length_ms[period]
  if (period === "day") {
    // Also an earlier day, where the clock has been corrected: the stored one may be days away.
    const isNewDay = Math.floor(countsFrom(state, now) / each_ms) !== Math.floor(state.at / each_ms)
    return isNewDay ? limit : Math.min(limit, state.available)
  }
  return Math.min(limit, state.available + (Math.max(0, now - state.at) * limit) / each_ms)
}

/** Grants what is left at `now`: the lease, and the quota's state afterwards. All backends share this rule. */
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
  return {
    lease,
    available,
    at: state === undefined ? now : countsFrom(state, now),
    fullAt: now + resetIn_ms
  }
}

/**
 * What is left of all quotas, for all nodes.
 *
 * Laws:
 * 1. A quota a `day` grants at most its limit within a day of UTC; one a `minute` or an `hour` grants at most its limit and what refills during t within any
 *    time t. A clock that goes back by more than a second was ahead, and has been corrected: then a minute or an hour refills from the corrected time, and a
 *    day begins again if its date is another one. So each correction allows one limit a day more at most, and one of a second or less allows none.
 * 2. A lease grants the demand if that much is left.
 * 3. `sweep` forgets full quotas only.
 *
 * Times are by the backend's own clock, so that nodes whose clocks differ share a quota correctly.
 */
export class QuotaStore extends Context.Tag("linkmint/QuotaStore")<
  QuotaStore,
  {
    /** Answers each ask, in order: of one quota, what one is granted the next finds gone. A node asks twice if it has given up a question that still waited. */
    readonly leaseMany: (asks: ReadonlyArray<Ask>) => Effect.Effect<ReadonlyArray<Lease>, StorageError>
    /** Forgets up to `max` quotas that are full again; gives how many. */
    readonly sweep: (max: number) => Effect.Effect<number, StorageError>
  }
>() {}
