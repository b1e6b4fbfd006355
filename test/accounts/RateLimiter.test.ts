import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, TestClock } from "effect"
import * as RateLimiter from "../../src/accounts/RateLimiter.ts"
import { type Ask, type Quota, QuotaStore } from "../../src/storage/QuotaStore.ts"
import * as QuotaStoreMemory from "../../src/storage/QuotaStoreMemory.ts"
import { StorageError } from "../../src/storage/StorageError.ts"

type Fault = "none" | "fails" | "silent"

const day = (limit: number, id = "day"): Quota => ({ id, limit, period: "day" })
const minute = (limit: number, id = "minute"): Quota => ({ id, limit, period: "minute" })

/** Nodes over one store that can be made to fail, and what was asked of it. */
const nodes = (count: number) =>
  Effect.gen(function* () {
    const memory = yield* QuotaStoreMemory.make
    const asked: Array<ReadonlyArray<Ask>> = []
    let fault: Fault = "none"
    const store = QuotaStore.of({
      ...memory,
      leaseMany: (asks) =>
        Effect.suspend(() => {
          asked.push(asks)
          if (fault === "none") return Effect.zipRight(Effect.yieldNow(), memory.leaseMany(asks))
          return fault === "silent"
            ? Effect.never
            : new StorageError({ operation: "test", applied: "no", reason: "the test has broken it" })
        })
    })
    const limiters = yield* Effect.all(
      Array.from({ length: count }, () => Effect.provideService(RateLimiter.make, QuotaStore, store))
    )
    const setFault = (now: Fault) => Effect.sync(() => (fault = now))
    return { limiters, first: limiters[0]!, asked, setFault }
  })

/** Takes until it is refused: how often it was not. */
const drain = (limiter: typeof RateLimiter.RateLimiter.Service, quota: Quota, max = 1_000_000) =>
  Effect.gen(function* () {
    let allowed = 0
    while (allowed < max && (yield* limiter.take(quota)).isAllowed) allowed++
    return allowed
  })

describe("a rate limit", () => {
  for (const limit of [1, 3, 100, 5_000]) {
    it.scoped(`of ${limit} a day allows exactly that on one node`, () =>
      Effect.gen(function* () {
        const { first } = yield* nodes(1)
        expect(yield* drain(first, day(limit))).toBe(limit)
        expect(yield* first.take(day(limit))).toMatchObject({ isAllowed: false, remaining: 0, limit })
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

  it.scoped("is answered without an effect once a node has a lease, until the store has none left", () =>
    Effect.gen(function* () {
      const { first } = yield* nodes(1)
      const quota = day(1_000)
      expect(first.tryTake(quota)).toBeUndefined()
      expect(yield* first.take(quota)).toMatchObject({ isAllowed: true, remaining: 999 })
      expect(first.tryTake(quota)).toMatchObject({ isAllowed: true, remaining: 998 })
      yield* drain(first, quota)
      expect(first.tryTake(quota)).toMatchObject({ isAllowed: false })
    })
  )

  it.scoped("has the next block before one is used up", () =>
    Effect.gen(function* () {
      const { first } = yield* nodes(1)
      const quota = day(100_000)
      yield* first.take(quota)
      let sync = 1
      for (; sync < 5_000 && first.tryTake(quota)?.isAllowed === true; sync++) yield* Effect.yieldNow()
      expect(sync).toBe(5_000)
    })
  )

  it.scoped("of a bucket refills while time passes, and tells when", () =>
    Effect.gen(function* () {
      const { first } = yield* nodes(1)
      const quota = minute(60)
      expect(yield* drain(first, quota)).toBe(60)
      const refused = yield* first.take(quota)
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
      expect((yield* first.take(quota)).resetIn_ms).toBe(3_600_000)
      yield* TestClock.adjust("1 hours")
      expect(yield* drain(first, quota)).toBe(1_280)
    })
  )

  it.scoped("is not asked about while it is known to be used up", () =>
    Effect.gen(function* () {
      const { asked, first } = yield* nodes(1)
      yield* drain(first, day(10))
      const before = asked.length
      for (let turn = 0; turn < 1_000; turn++) expect((yield* first.take(day(10))).isAllowed).toBe(false)
      expect(asked.length).toBe(before)
    })
  )

  it.scoped("is asked about once for all who wait for it, each quota once a message", () =>
    Effect.gen(function* () {
      const { asked, first } = yield* nodes(1)
      const standings = yield* Effect.all(
        Array.from({ length: 90 }, (_, index) => first.take(day(20, `day ${index % 3}`))),
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

describe("a rate limit that is spent without waiting", () => {
  it.scoped("is known as used up soon, and not before", () =>
    Effect.gen(function* () {
      const { first } = yield* nodes(1)
      const quota = minute(5)
      expect(first.usedUp(quota)).toBeUndefined()
      for (let turn = 0; turn < 5; turn++) {
        first.spend(quota)
        expect(first.usedUp(quota)).toBeUndefined()
      }
      first.spend(quota)
      yield* Effect.repeat(Effect.yieldNow(), {
        until: () => first.usedUp(quota) !== undefined,
        times: 1_000
      })
      expect(first.usedUp(quota)).toMatchObject({ isAllowed: false, limit: 5 })
      yield* TestClock.adjust("1 minutes")
      expect(first.usedUp(quota)).toBeUndefined()
    })
  )
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
          const waiting = yield* Effect.fork(first.take(quota))
          yield* TestClock.adjust("250 millis")
          expect((yield* Fiber.join(waiting)).isAllowed).toBe(true)
          const before = asked.length
          for (let turn = 0; turn < 100; turn++) expect(first.tryTake(quota)?.isAllowed).toBe(true)
          expect(asked.length).toBe(before)
          yield* setFault("none")
          yield* TestClock.adjust("1 seconds")
          expect(yield* drain(first, quota)).toBe(10)
        })
    )
  }
})
