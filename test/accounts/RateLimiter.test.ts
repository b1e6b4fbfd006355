import { describe, expect, it } from "@effect/vitest"
import { type Clock, Effect, Fiber, Option, TestClock } from "effect"
import * as RateLimiter from "../../src/accounts/RateLimiter.ts"
import { KeyedHash } from "../../src/secrets/KeyedHash.ts"
import type { Limit, Standing } from "../../src/accounts/Meter.ts"
import { isReserved } from "../../src/accounts/Reservations.ts"
import { type Ask, type Quota, QuotaStore } from "../../src/storage/accounts/QuotaStore.ts"
import * as QuotaStoreMemory from "../../src/sim/stores/QuotaStoreMemory.ts"
import { StorageError } from "../../src/storage/StorageError.ts"
import { testHash } from "../support/TestHash.ts"

type Fault = "none" | "fails" | "silent"

const day = (limit: number, id = "day"): Quota => ({ id, limit, period: "day" })
const minute = (limit: number, id = "minute"): Quota => ({ id, limit, period: "minute" })

/** Nodes over one store that can be made to fail, and what was asked of it. `withClock`: what clock the nodes go by; the store has the test's. */
const nodes = (count: number, withClock = <A, E, R>(node: Effect.Effect<A, E, R>) => node) =>
  Effect.gen(function* () {
    const ofStore = Effect.withClock(yield* Effect.clock)
    const memory = yield* QuotaStoreMemory.make
    const asked: Array<ReadonlyArray<Ask>> = []
    let fault: Fault = "none"
    const store = QuotaStore.of({
      ...memory,
      leaseMany: (asks) =>
        Effect.suspend(() => {
          asked.push(asks)
          if (fault === "none") return Effect.zipRight(Effect.yieldNow(), ofStore(memory.leaseMany(asks)))
          return fault === "silent"
            ? Effect.never
            : new StorageError({ operation: "test", applied: "no", reason: "the test has broken it" })
        })
    })
    const limiters = yield* Effect.all(
      Array.from({ length: count }, () =>
        RateLimiter.make.pipe(
          Effect.provideService(QuotaStore, store),
          Effect.provideService(KeyedHash, testHash),
          withClock
        )
      )
    )
    const setFault = (now: Fault) => Effect.sync(() => (fault = now))
    return { limiters, first: limiters[0]!, asked, setFault }
  })

type Limiter = typeof RateLimiter.RateLimiter.Service

const take = (limiter: Limiter, limit: Limit) => Effect.map(limiter.takeAll([limit]), (standing) => standing!)

const takeNow = (limiter: Limiter, limit: Limit) => limiter.takeAllNow([limit])

/** Takes until it is refused: how often it was not. */
const drain = (limiter: Limiter, quota: Quota, max = 1_000_000) =>
  Effect.gen(function* () {
    let allowed = 0
    while (allowed < max && (yield* take(limiter, quota)).isAllowed) allowed++
    return allowed
  })

describe("a rate limit", () => {
  for (const limit of [1, 3, 100, 5_000]) {
    it.scoped(`of ${limit} a day allows exactly that on one node`, () =>
      Effect.gen(function* () {
        const { first } = yield* nodes(1)
        expect(yield* drain(first, day(limit))).toBe(limit)
        expect(yield* take(first, day(limit))).toMatchObject({ isAllowed: false, remaining: 0, limit })
      })
    )

    it.scoped(`of ${limit} a day allows within 5 % of that on three nodes under even load, and no more`, () =>
      Effect.gen(function* () {
        const { limiters } = yield* nodes(3)
        const allowed = yield* Effect.forEach(limiters, (limiter) => drain(limiter, day(limit)), {
          concurrency: "unbounded"
        })
        const sum = allowed.reduce((sum, one) => sum + one, 0)
        expect(sum).toBeLessThanOrEqual(limit)
        expect(sum).toBeGreaterThanOrEqual(Math.floor(limit * 0.95))
      })
    )
  }

  it.scoped("is asked about seldom: some hundred messages for a hundred thousand", () =>
    Effect.gen(function* () {
      const { asked, first } = yield* nodes(1)
      expect(yield* drain(first, day(100_000))).toBe(100_000)
      expect(asked.length).toBeLessThan(1_200)
    })
  )

  it.scoped("has a name in the store from which nothing can be told, such as a client's address", () =>
    Effect.gen(function* () {
      const { asked, first } = yield* nodes(1)
      yield* take(first, minute(10, "unlock:client:192.0.2.7"))
      yield* first.read([minute(10, "unlock:client:192.0.2.7")])
      const ids = asked.flat().map(({ id }) => id)
      expect(new Set(ids)).toEqual(new Set([testHash.of("quota", "unlock:client:192.0.2.7")]))
      expect(ids.join()).not.toContain("192.0.2.7")
    })
  )

  it.scoped("is answered without an effect once a node has a lease, until the store has none left", () =>
    Effect.gen(function* () {
      const { first } = yield* nodes(1)
      const quota = day(1_000)
      expect(takeNow(first, quota)).toBeUndefined()
      expect(yield* take(first, quota)).toMatchObject({ isAllowed: true, remaining: 999 })
      expect(takeNow(first, quota)).toMatchObject({ isAllowed: true, remaining: 998 })
      yield* drain(first, quota)
      expect(takeNow(first, quota)).toMatchObject({ isAllowed: false })
    })
  )

  it.scoped("has the next block before one is used up", () =>
    Effect.gen(function* () {
      const { first } = yield* nodes(1)
      const quota = day(100_000)
      yield* take(first, quota)
      let sync = 1
      for (; sync < 5_000 && takeNow(first, quota)?.isAllowed === true; sync++) yield* Effect.yieldNow()
      expect(sync).toBe(5_000)
    })
  )

  it.scoped("of a bucket refills while time passes, and tells when", () =>
    Effect.gen(function* () {
      const { first } = yield* nodes(1)
      const quota = minute(60)
      expect(yield* drain(first, quota)).toBe(60)
      const refused = yield* take(first, quota)
      expect(refused).toMatchObject({ isAllowed: false, retryIn_ms: 1_000, resetIn_ms: 60_000 })
      yield* TestClock.adjust("999 millis")
      expect(yield* drain(first, quota)).toBe(0)
      yield* TestClock.adjust("1 millis")
      expect(yield* drain(first, quota)).toBe(1)
      yield* TestClock.adjust("10 minutes")
      expect(yield* drain(first, quota)).toBe(60)
    })
  )

  it.scoped("of a day is there again at midnight, and a lease does not last beyond", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(Date.parse("2026-11-21T23:00:00Z"))
      const { first } = yield* nodes(1)
      const quota = day(1_280)
      expect((yield* take(first, quota)).resetIn_ms).toBe(3_600_000)
      yield* TestClock.adjust("1 hours")
      expect(yield* drain(first, quota)).toBe(1_280)
    })
  )

  it.scoped("is not asked about while it is known to be used up", () =>
    Effect.gen(function* () {
      const { asked, first } = yield* nodes(1)
      yield* drain(first, day(10))
      const before = asked.length
      for (let turn = 0; turn < 1_000; turn++) expect((yield* take(first, day(10))).isAllowed).toBe(false)
      expect(asked.length).toBe(before)
    })
  )

  it.scoped("is asked about once for all who wait for it, each quota once a message", () =>
    Effect.gen(function* () {
      const { asked, first } = yield* nodes(1)
      const standings = yield* Effect.all(
        Array.from({ length: 90 }, (_, index) => take(first, day(20, `day ${index % 3}`))),
        { concurrency: "unbounded" }
      )
      expect(standings.filter(({ isAllowed }) => isAllowed)).toHaveLength(60)
      expect(asked.length).toBeLessThan(20)
      for (const asks of asked) expect(new Set(asks.map(({ id }) => id)).size).toBe(asks.length)
    })
  )
})

describe("several rate limits together", () => {
  it.scoped("allow what all of them do, and take nothing of the others when one does not", () =>
    Effect.gen(function* () {
      const { first } = yield* nodes(1)
      const [wide, narrow] = [day(100, "wide"), day(2, "narrow")]
      expect(yield* first.takeAll([])).toBeNull()
      expect(yield* first.takeAll([wide, narrow])).toMatchObject({ isAllowed: true, limit: 2, remaining: 1 })
      yield* first.takeAll([wide, narrow])
      for (let turn = 0; turn < 10; turn++) {
        expect(yield* first.takeAll([wide, narrow])).toMatchObject({ isAllowed: false, limit: 2 })
      }
      expect(yield* drain(first, wide)).toBe(98)
    })
  )
})

describe("a limit of what is reserved in advance", () => {
  const held = (limit: number, id = "held"): Limit => ({ ...minute(limit, id), isHeld: true })

  /** Reserves for so many at once, each of which takes a while and then turns out as `counts` says: how many were let through. */
  const rush = (
    limiter: typeof RateLimiter.RateLimiter.Service,
    limit: Limit,
    count: number,
    counts: (index: number) => boolean
  ) =>
    Effect.map(
      Effect.forEach(
        Array.from({ length: count }, (_, index) => index),
        (index) =>
          Effect.gen(function* () {
            const reserved = limiter.reserveNow([limit]) ?? (yield* limiter.reserve([limit]))
            if (!isReserved(reserved)) return false
            yield* Effect.repeatN(Effect.yieldNow(), 20)
            if (counts(index)) reserved.keep()
            else reserved.giveBack()
            return true
          }),
        { concurrency: "unbounded" }
      ),
      (allowed) => allowed.filter(Boolean).length
    )

  for (const limit of [1, 3, 5, 29, 30, 120, 1_000]) {
    it.scoped(`lets exactly ${limit} through of ever so many at once`, () =>
      Effect.gen(function* () {
        const { first } = yield* nodes(1)
        expect(yield* rush(first, held(limit), 2 * limit + 130, () => true)).toBe(limit)
        expect(first.usedUp([held(limit)])).toMatchObject({ isAllowed: false, limit })
        expect(yield* rush(first, held(limit), 10, () => true)).toBe(0)
        yield* TestClock.adjust("1 minutes")
        expect(first.usedUp([held(limit)])).toBeUndefined()
        expect(yield* rush(first, held(limit), 2 * limit + 130, () => true)).toBe(limit)
      })
    )
  }

  it.scoped("lets a tenth more through at most of what comes to three nodes at once", () =>
    Effect.gen(function* () {
      const { limiters } = yield* nodes(3)
      const allowed = yield* Effect.forEach(
        limiters,
        (limiter) => rush(limiter, held(120), 100, () => true),
        {
          concurrency: "unbounded"
        }
      )
      const sum = allowed.reduce((sum, one) => sum + one, 0)
      expect(sum).toBeGreaterThanOrEqual(120)
      expect(sum).toBeLessThanOrEqual(132)
    })
  )

  it.scoped("refuses nothing of what does not count, however much comes at once", () =>
    Effect.gen(function* () {
      const { first } = yield* nodes(1)
      expect(yield* rush(first, held(10), 500, () => false)).toBe(500)
      expect(yield* rush(first, held(120), 900, (index) => index % 100 === 0)).toBe(900)
      expect(first.usedUp([held(10)])).toBeUndefined()
    })
  )

  it.scoped("leaves nobody waiting for a client's limit while another waits for that of the network", () =>
    Effect.gen(function* () {
      const { first } = yield* nodes(1)
      const limitsOf = (client: string) => [held(4, "network"), held(1, client)]
      const settled = Effect.repeatN(Effect.yieldNow(), 100)
      const one = yield* first.reserve(limitsOf("client"))
      const waiting = yield* Effect.forEach([1, 2, 3], () => Effect.fork(first.reserve(limitsOf("client"))))
      yield* settled
      // It has what the node was granted of the network, so that the next one has to ask for more.
      yield* first.reserve(limitsOf("neighbour"))
      if (isReserved(one)) one.keep()
      yield* settled
      const ended = yield* Effect.forEach(waiting, Fiber.poll)
      expect(ended.map(Option.getOrUndefined)).toMatchObject(
        waiting.map(() => ({ _tag: "Success", value: { isAllowed: false, limit: 1 } }))
      )
    })
  )

  it.scoped("asks the store of nothing where nothing counts", () =>
    Effect.gen(function* () {
      const { asked, first } = yield* nodes(1)
      for (let turn = 0; turn < 100; turn++) {
        const reserved = first.reserveNow([held(120)])
        expect(reserved).toMatchObject({ isAllowed: true })
        if (reserved !== undefined && isReserved(reserved)) reserved.giveBack()
      }
      expect(asked).toEqual([])
    })
  )

  it.scoped("gives those who gave up no part of it", () =>
    Effect.gen(function* () {
      const { first } = yield* nodes(1)
      const one = first.reserveNow([held(1)]) ?? (yield* first.reserve([held(1)]))
      const waiting = yield* Effect.forEach(Array.from({ length: 5 }), () =>
        Effect.fork(first.reserve([held(1)]))
      )
      yield* Effect.yieldNow()
      yield* Fiber.interruptAll(waiting.slice(0, 4))
      if (isReserved(one)) one.giveBack()
      expect(yield* Fiber.join(waiting[4]!)).toMatchObject({ isAllowed: true })
    })
  )

  for (const fault of ["fails", "silent"] as const) {
    it.scoped(
      `is what a node holds by itself while the store ${fault === "fails" ? "fails" : "is silent"}`,
      () =>
        Effect.gen(function* () {
          const { first, setFault } = yield* nodes(1)
          yield* setFault(fault)
          const rushing = yield* Effect.fork(rush(first, held(120), 250, () => true))
          yield* TestClock.adjust("250 millis")
          expect(yield* Fiber.join(rushing)).toBe(120)
          const more = yield* Effect.fork(rush(first, held(120), 250, () => true))
          yield* TestClock.adjust("1 seconds")
          expect(yield* Fiber.join(more)).toBeLessThanOrEqual(3)
        })
    )
  }
})

describe("while the store", () => {
  for (const fault of ["fails", "silent"] as const) {
    it.scoped(
      `${fault === "fails" ? "fails" : "is silent"}, everything is allowed after 250 ms, and it is asked again each second`,
      () =>
        Effect.gen(function* () {
          const { asked, first, setFault } = yield* nodes(1)
          const quota = minute(10)
          yield* drain(first, quota)
          yield* TestClock.adjust("1 minutes")
          yield* setFault(fault)
          const waiting = yield* Effect.fork(take(first, quota))
          yield* TestClock.adjust("250 millis")
          expect((yield* Fiber.join(waiting)).isAllowed).toBe(true)
          const before = asked.length
          for (let turn = 0; turn < 100; turn++) expect(takeNow(first, quota)?.isAllowed).toBe(true)
          expect(asked.length).toBe(before)
          yield* setFault("none")
          yield* TestClock.adjust("1 seconds")
          expect(yield* drain(first, quota)).toBe(10)
        })
    )
  }

  for (const fault of ["fails", "silent"] as const) {
    it.scoped(
      `${fault === "fails" ? "fails" : "is silent"}, what somebody may guess is allowed as often as the node would by itself, all at once too`,
      () =>
        Effect.gen(function* () {
          const { asked, first, setFault } = yield* nodes(1)
          const guess: Limit = { ...minute(18), isHeld: true }
          yield* drain(first, guess, 5)
          yield* setFault(fault)
          const tries = yield* Effect.fork(
            Effect.all(
              Array.from({ length: 60 }, () => first.takeAll([guess])),
              { concurrency: "unbounded" }
            )
          )
          yield* TestClock.adjust("250 millis")
          const isAllowed = (standing: Standing | null) => standing?.isAllowed === true
          expect((yield* Fiber.join(tries)).filter(isAllowed)).toHaveLength(13)
          const before = asked.length
          const refused = yield* first.takeAll([guess])
          expect(refused).toMatchObject({ isAllowed: false, limit: 18, remaining: 0 })
          expect(refused!.retryIn_ms).toBeGreaterThan(0)
          expect(asked.length).toBe(before)
          // Not more than flows in, second by second, for as long as the store is away.
          let allowed = 0
          for (let second = 0; second < 20; second++) {
            const more = yield* Effect.fork(
              Effect.all(
                Array.from({ length: 10 }, () => first.takeAll([guess])),
                { concurrency: "unbounded" }
              )
            )
            yield* TestClock.adjust("1 seconds")
            allowed += (yield* Fiber.join(more)).filter(isAllowed).length
          }
          expect(allowed).toBeLessThanOrEqual(7)
          yield* setFault("none")
          yield* TestClock.adjust("1 minutes")
          expect(yield* drain(first, guess)).toBe(18)
        })
    )
  }
})

describe("while the wall clock jumps", () => {
  /** The clock of the test, whose wall time is `skew.ms` ahead. */
  const skewed = (skew: { readonly ms: number }) =>
    Effect.map(Effect.clock, (clock): Clock.Clock => {
      const wall_ms = () => clock.unsafeCurrentTimeMillis() + skew.ms
      return Object.assign(Object.create(clock) as Clock.Clock, {
        unsafeCurrentTimeMillis: wall_ms,
        currentTimeMillis: Effect.sync(wall_ms),
        unsafeCurrentTimeNanos: () => clock.unsafeCurrentTimeNanos()
      })
    })

  for (const jump_ms of [-3_600_000, 3_600_000]) {
    it.scoped(`by ${jump_ms} ms, a limit is neither full again sooner nor used up for longer`, () =>
      Effect.gen(function* () {
        const skew = { ms: 0 }
        const { first } = yield* nodes(1, Effect.withClock(yield* skewed(skew)))
        const limits: ReadonlyArray<Limit> = [minute(10), { ...minute(10, "held"), isHeld: true }]
        for (const limit of limits) expect(yield* drain(first, limit)).toBe(10)
        skew.ms = jump_ms
        for (const limit of limits) expect((yield* take(first, limit)).isAllowed).toBe(false)
        yield* TestClock.adjust("1 minutes")
        for (const limit of limits) expect(yield* drain(first, limit)).toBe(10)
      })
    )
  }
})

describe("limits that a node holds", () => {
  it.scoped("are so many at most: no more are begun, and none is forgotten before it is full again", () =>
    Effect.gen(function* () {
      const memory = yield* QuotaStoreMemory.make
      const limiter = yield* RateLimiter.makeWith({ heldMax: 3 }).pipe(
        Effect.provideService(QuotaStore, memory),
        Effect.provideService(KeyedHash, testHash)
      )
      const held = (id: string): Limit => ({ ...minute(2, id), isHeld: true })
      for (const id of ["a", "b", "c"]) expect(yield* drain(limiter, held(id))).toBe(2)
      expect(yield* limiter.takeAll([held("d")])).toMatchObject({ isAllowed: false, retryIn_ms: 1_000 })
      for (const id of ["a", "b", "c"]) expect(yield* drain(limiter, held(id))).toBe(0)
      yield* TestClock.adjust("59 seconds")
      expect(yield* limiter.takeAll([held("d")])).toMatchObject({ isAllowed: false })
      yield* TestClock.adjust("1 seconds")
      expect(yield* drain(limiter, held("d"))).toBe(2)
    })
  )
})
