import type { Deferred } from "effect"
import { type Lease, length_ms, type Quota } from "../storage/accounts/QuotaStore.ts"

/** A quota, and whether it holds while the store does not answer. */
export interface Limit extends Quota {
  /** Whether this node also enforces it alone, whatever the store answers. Otherwise everything is allowed while the store is away. */
  readonly isHeld?: true
}

/** The state of a quota after a request for one more. */
export interface Standing {
  readonly isAllowed: boolean
  readonly limit: number
  /** Times that are left, as far as the node knows. */
  readonly remaining: number
  /** Milliseconds until there is one again; 0 where there is one. */
  readonly retryIn_ms: number
  /** Milliseconds until all are there again. */
  readonly resetIn_ms: number
}

/** What a node knows of a quota. Moments are milliseconds of the monotonic clock. */
export interface Meter {
  /** Times that the node may allow by itself. */
  tokens: number
  /** Times of the last lease, and until when they may be used. */
  leased: number
  leasedUntil: number
  remaining: number
  /** Nothing is left before this. */
  emptyUntil: number
  resetAt: number
  /** The store is away: nothing is asked of it before this. */
  openUntil: number
  /** Requests that wait. */
  waiting: number
  leasing: Deferred.Deferred<void> | undefined
  /** For a limit that the node enforces alone: what would be left, at `ownAt`, if there were no other node. */
  own: number
  ownAt: number
}

/** What is known of a quota before its first use. */
export const make = ({ limit }: Limit, now: number): Meter => ({
  tokens: 0,
  leased: 0,
  leasedUntil: 0,
  remaining: limit,
  emptyUntil: 0,
  resetAt: 0,
  openUntil: 0,
  waiting: 0,
  leasing: undefined,
  own: limit,
  ownAt: now
})

/** 1, allowing for the rounding of a sum of fractions. */
const one = 1 - 1e-6

/** How long the store is not asked again about a quota that was used up, at least. */
const emptyFor_ms = 50

const eachToken_ms = ({ limit, period }: Limit) => length_ms[period] / limit

/** Lets the node's own bucket fill up to `now`; gives what is in it. */
export const fill = (limit: Limit, meter: Meter, now: number): number => {
  meter.own = Math.min(limit.limit, meter.own + Math.max(0, now - meter.ownAt) / eachToken_ms(limit))
  meter.ownAt = now
  return meter.own
}

/** Whether the node's own bucket has a token at `now`, or the node does not enforce the limit alone. */
export const hasOwn = (limit: Limit, meter: Meter, now: number): boolean =>
  limit.isHeld !== true || fill(limit, meter, now) >= one

/** Whether the node may forget this without losing anything. */
export const isFull = (limit: Limit, meter: Meter, now: number): boolean =>
  meter.leasing === undefined && meter.waiting === 0 && fill(limit, meter, now) >= limit.limit

/** The state of a quota by what the store has said. */
export const standing = (limit: Limit, meter: Meter, isAllowed: boolean, now: number): Standing => ({
  isAllowed,
  limit: limit.limit,
  remaining: isAllowed ? Math.min(limit.limit, meter.remaining + meter.tokens) : 0,
  retryIn_ms: isAllowed ? 0 : Math.max(1, meter.emptyUntil - now),
  resetIn_ms: Math.max(0, meter.resetAt - now)
})

/** The state of a limit that this node has used up alone. */
export const refusal = (limit: Limit, meter: Meter): Standing => ({
  isAllowed: false,
  limit: limit.limit,
  remaining: 0,
  retryIn_ms: Math.max(1, Math.ceil((1 - meter.own) * eachToken_ms(limit))),
  resetIn_ms: Math.ceil((limit.limit - meter.own) * eachToken_ms(limit))
})

/** Takes a token of the node's lease, or says what is known; `undefined` where the store must be asked. */
export const ask = (limit: Limit, meter: Meter, now: number): Standing | undefined => {
  if (meter.tokens > 0 && now < meter.leasedUntil) {
    meter.tokens--
    return standing(limit, meter, true, now)
  }
  if (now < meter.openUntil) return standing(limit, meter, true, now)
  return now < meter.emptyUntil ? standing(limit, meter, false, now) : undefined
}

/** Gives back what `ask` has taken. */
export const giveBack = (limit: Limit, meter: Meter, now: number): void => {
  if (now >= meter.openUntil) meter.tokens++
  meter.own = Math.min(limit.limit, meter.own + 1)
}

/** Adds what the store has granted, which was asked for at `asked`: the times that it tells count from then at the earliest, however late its answer is. */
export const accept = (
  limit: Limit,
  meter: Meter,
  demand: number,
  lease: Lease,
  { asked, now }: { readonly asked: number; readonly now: number }
): void => {
  const isSame = now < meter.leasedUntil
  meter.tokens = (isSame ? meter.tokens : 0) + lease.granted
  meter.leased = lease.granted
  meter.resetAt = asked + lease.resetIn_ms
  // What is left of a day's quota ends with the day; what was taken from a bucket stays taken.
  meter.leasedUntil = limit.period === "day" ? meter.resetAt : Number.POSITIVE_INFINITY
  meter.remaining = lease.remaining
  if (lease.granted < demand) meter.emptyUntil = now + Math.max(emptyFor_ms, lease.nextIn_ms)
}
