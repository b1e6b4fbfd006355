import type { Deferred } from "effect"
import { type Lease, length_ms, type Quota } from "../storage/accounts/QuotaStore.ts"

/** A quota, and what holds it while the store does not answer. */
export interface Limit extends Quota {
  /** Whether this node holds it by itself, too: by the same rule, and whatever the store answers. Where it does not, everything is allowed while the store is away. */
  readonly isHeld?: true
}

/** How a quota stands after a question for one more. */
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
  /** Those of the last lease, and until when they may be used. */
  leased: number
  leasedUntil: number
  remaining: number
  /** Nothing is left before this. */
  emptyUntil: number
  resetAt: number
  /** The store is away: nothing is asked of it before this. */
  openUntil: number
  /** Questions that wait. */
  waiting: number
  leasing: Deferred.Deferred<void> | undefined
  /** Of a limit that the node holds: what would be left, at `ownAt`, if there were no other node. */
  own: number
  ownAt: number
}

/** What is known of a quota that nobody has asked about. */
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

/** A 1 that was added up of fractions. */
const one = 1 - 1e-6

/** How soon a quota that was used up is asked about again at the earliest. */
const emptyFor_ms = 50

const eachToken_ms = ({ limit, period }: Limit) => length_ms[period] / limit

/** Lets the node's own bucket fill up to `now`; gives what is in it. */
export const fill = (limit: Limit, meter: Meter, now: number): number => {
  meter.own = Math.min(limit.limit, meter.own + Math.max(0, now - meter.ownAt) / eachToken_ms(limit))
  meter.ownAt = now
  return meter.own
}

/** Whether there is something in the node's own bucket at `now`, or its limit is not held by the node. */
export const hasOwn = (limit: Limit, meter: Meter, now: number): boolean =>
  limit.isHeld !== true || fill(limit, meter, now) >= one

/** Whether nothing would be lost if the node forgot this. */
export const isFull = (limit: Limit, meter: Meter, now: number): boolean =>
  meter.leasing === undefined && meter.waiting === 0 && fill(limit, meter, now) >= limit.limit

/** How a quota stands by what the store has said. */
export const standing = (limit: Limit, meter: Meter, isAllowed: boolean, now: number): Standing => ({
  isAllowed,
  limit: limit.limit,
  remaining: isAllowed ? Math.min(limit.limit, meter.remaining + meter.tokens) : 0,
  retryIn_ms: isAllowed ? 0 : Math.max(1, meter.emptyUntil - now),
  resetIn_ms: Math.max(0, meter.resetAt - now)
})

/** How a limit stands that this node has used up by itself. */
export const refusal = (limit: Limit, meter: Meter): Standing => ({
  isAllowed: false,
  limit: limit.limit,
  remaining: 0,
  retryIn_ms: Math.max(1, Math.ceil((1 - meter.own) * eachToken_ms(limit))),
  resetIn_ms: Math.ceil((limit.limit - meter.own) * eachToken_ms(limit))
})

/** Takes a token that the node has, or tells what it knows; `undefined` where the store must be asked. */
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

/** Takes in what the store has granted. */
export const accept = (limit: Limit, meter: Meter, demand: number, lease: Lease, now: number): void => {
  const isSame = now < meter.leasedUntil
  meter.tokens = (isSame ? meter.tokens : 0) + lease.granted
  meter.leased = lease.granted
  meter.resetAt = now + lease.resetIn_ms
  // What is left of a day's quota ends with the day; what was taken from a bucket stays taken.
  meter.leasedUntil = limit.period === "day" ? meter.resetAt : Number.POSITIVE_INFINITY
  meter.remaining = lease.remaining
  if (lease.granted < demand) meter.emptyUntil = now + Math.max(emptyFor_ms, lease.nextIn_ms)
}
