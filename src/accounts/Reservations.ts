import { Deferred, Effect, FiberId } from "effect"
import { LRUCache } from "lru-cache"
import { atMost } from "../fibers/LruCacheOptions.ts"
import * as Meter from "./Meter.ts"

/** Something that is taken before it is known whether it counts. The holder ends it in one of two ways; ending it again does nothing. */
export interface Reservation {
  readonly isAllowed: true
  /** It did not count. */
  readonly giveBack: () => void
  /** It counts. */
  readonly keep: () => void
}

/** Whether something was reserved. */
export const isReserved = (found: Reservation | Meter.Standing): found is Reservation => "keep" in found

/** A reservation where nothing is counted. */
export const uncounted: Reservation = { isAllowed: true, giveBack: () => {}, keep: () => {} }

/** A meter, and what is under way at it. */
interface Counter {
  readonly limit: Meter.Limit
  readonly meter: Meter.Meter
  /** Reservations that are under way. */
  reserved: number
  /** Reservations that the store has not granted yet: those that are under way, and those that were kept. */
  readonly unpaid: Set<Hold>
  /** Those that wait for a reservation that comes back, or for the store, in order of arrival. */
  readonly waiting: Set<Deferred.Deferred<void>>
  /** How many wait, and how many were woken and have not tried again yet. */
  wanted: number
}

interface Hold {
  readonly counter: Counter
  /** `free`: the store was away. */
  state: "paid" | "unpaid" | "free" | "ended"
}

/** Requests that wait for one limit at most; further ones are refused. */
const waitingMax = 1_000

/**
 * How many may begin before the store is asked, as long as half of the limit is known to be left: so that look-ups of links that exist do not wait. Together, nodes can exceed a limit by
 * this number each.
 */
const unpaidMax = ({ limit }: Meter.Limit) => Math.min(4, Math.floor(limit / 30))

/** Wakes up to `count` of those that wait. One that is refused then, or has to wait for another limit, wakes the next. */
const wake = ({ waiting }: Counter, count = 1) => {
  let woken = 0
  for (const turn of waiting) {
    if (woken++ >= count) return
    waiting.delete(turn)
    Deferred.unsafeDone(turn, Effect.void)
  }
}

const isHold = (found: Hold | Meter.Standing | undefined): found is Hold =>
  found !== undefined && "state" in found

/** The reservations of `RateLimiter`. The counters that were used least recently are forgotten: look-ups must go on. */
export const make = (options: {
  readonly now_ms: () => number
  /** Leases `demand` from the store; does nothing while a lease is under way. */
  readonly begin: (limit: Meter.Limit, meter: Meter.Meter, demand: number, ended: () => void) => void
  readonly max: number
}) => {
  const { begin, now_ms } = options
  const counters = new LRUCache<string, Counter>(atMost(options.max))
  /** Until when some counter is known to be used up: usually none is. */
  let usedUpUntil = 0

  const counterOf = (limit: Meter.Limit, now: number): Counter => {
    const known = counters.get(limit.id)
    if (known !== undefined) return known
    const counter = {
      limit,
      meter: Meter.make(limit, now),
      reserved: 0,
      unpaid: new Set<Hold>(),
      waiting: new Set<Deferred.Deferred<void>>(),
      wanted: 0
    }
    counters.set(limit.id, counter)
    return counter
  }

  const refused = (standing: Meter.Standing, now: number) => {
    usedUpUntil = Math.max(usedUpUntil, now + standing.retryIn_ms)
    return standing
  }

  /** Leases from the store for the reservations that it has not granted, and for those that wait. */
  const lease = (counter: Counter) => {
    const { limit, meter, unpaid } = counter
    if (meter.leasing !== undefined) return
    const wanted = Math.min(counter.wanted, Math.floor(meter.own))
    begin(limit, meter, Math.max(1, wanted + unpaid.size), () => settle(counter))
  }

  /** Covers reservations with what the store has granted; where nothing is left, they are dropped. */
  const settle = (counter: Counter) => {
    const { meter, unpaid } = counter
    const now = now_ms()
    const hasNone = now < meter.emptyUntil || now < meter.openUntil
    let isOwed = false
    for (const hold of unpaid) {
      const isUnderWay = hold.state === "unpaid"
      if (meter.tokens > 0) {
        meter.tokens--
        if (isUnderWay) hold.state = "paid"
      } else if (isUnderWay || !hasNone) {
        isOwed ||= !isUnderWay
        continue
      }
      unpaid.delete(hold)
    }
    if (isOwed) lease(counter)
    wake(counter, now < meter.openUntil ? counter.waiting.size : meter.tokens + 1)
  }

  const hold = (counter: Counter, now: number): Hold | Meter.Standing | undefined => {
    const { limit, meter, unpaid } = counter
    const isReturning = counter.reserved > 0
    if (!Meter.hasOwn(limit, meter, now))
      return isReturning ? undefined : refused(Meter.refusal(limit, meter), now)
    const isOpen = now < meter.openUntil
    const standing = Meter.ask(limit, meter, now)
    if (standing?.isAllowed === false) return isReturning ? undefined : refused(standing, now)
    const mayBegin = unpaid.size < unpaidMax(limit) && 2 * meter.remaining >= limit.limit
    if (standing === undefined && !mayBegin) {
      lease(counter)
      return undefined
    }
    meter.own--
    counter.reserved++
    if (standing !== undefined) return { counter, state: isOpen ? "free" : "paid" }
    const begun: Hold = { counter, state: "unpaid" }
    unpaid.add(begun)
    return begun
  }

  const end = (hold: Hold, isKept: boolean) => {
    const { counter, state } = hold
    if (state === "ended") return
    hold.state = "ended"
    counter.reserved--
    if (isKept) {
      if (state === "unpaid" && now_ms() < counter.meter.openUntil) counter.unpaid.delete(hold)
      else if (state === "unpaid") lease(counter)
    } else {
      counter.unpaid.delete(hold)
      counter.meter.own = Math.min(counter.limit.limit, counter.meter.own + 1)
      if (state === "paid") counter.meter.tokens++
    }
    if (!isKept || counter.reserved === 0) wake(counter)
  }

  /** Reserves at once, or gives the counter to wait for. */
  const reserveOnce = (limits: ReadonlyArray<Meter.Limit>): Reservation | Meter.Standing | Counter => {
    const now = now_ms()
    const holds: Array<Hold> = []
    const endAll = (isKept: boolean) => holds.forEach((hold) => end(hold, isKept))
    for (const limit of limits) {
      const counter = counterOf(limit, now)
      const found = hold(counter, now)
      if (isHold(found)) holds.push(found)
      else {
        endAll(false)
        return found ?? counter
      }
    }
    return { isAllowed: true, giveBack: () => endAll(false), keep: () => endAll(true) }
  }

  const isCounter = (found: Reservation | Meter.Standing | Counter): found is Counter => "waiting" in found

  /** `waited`: the counter that woke it. Only the wait can be interrupted: one that was woken tries again. */
  const reserveNext = (
    limits: ReadonlyArray<Meter.Limit>,
    waited?: Counter
  ): Effect.Effect<Reservation | Meter.Standing> =>
    Effect.suspend(() => {
      const found = reserveOnce(limits)
      const mustWait = isCounter(found)
      if (waited !== undefined) {
        waited.wanted--
        // Nothing else would wake the next one: what this one could have used is not under way there.
        if (mustWait ? found !== waited : !isReserved(found)) wake(waited)
      }
      if (!mustWait) return Effect.succeed(found)
      const { limit, meter, waiting } = found
      if (waiting.size >= waitingMax) return Effect.succeed(Meter.refusal(limit, meter))
      const turn = Deferred.unsafeMake<void>(FiberId.none)
      waiting.add(turn)
      found.wanted++
      return Effect.interruptible(Deferred.await(turn)).pipe(
        Effect.onInterrupt(() =>
          Effect.sync(() => {
            found.wanted--
            if (!waiting.delete(turn)) wake(found)
          })
        ),
        Effect.zipRight(reserveNext(limits, found))
      )
    })

  return {
    reserveNow: (limits: ReadonlyArray<Meter.Limit>): Reservation | Meter.Standing | undefined => {
      const found = reserveOnce(limits)
      return isCounter(found) ? undefined : found
    },
    reserve: (limits: ReadonlyArray<Meter.Limit>) => Effect.uninterruptible(reserveNext(limits)),
    usedUp: (limits: ReadonlyArray<Meter.Limit>): Meter.Standing | undefined => {
      if (usedUpUntil === 0) return undefined
      const now = now_ms()
      if (now >= usedUpUntil) usedUpUntil = 0
      for (const limit of limits) {
        const counter = counters.get(limit.id)
        if (counter === undefined || counter.reserved > 0) continue
        const { meter } = counter
        if (!Meter.hasOwn(limit, meter, now)) return Meter.refusal(limit, meter)
        if (meter.tokens === 0 && now < meter.emptyUntil && now >= meter.openUntil) {
          return Meter.standing(limit, meter, false, now)
        }
      }
      return undefined
    }
  }
}
