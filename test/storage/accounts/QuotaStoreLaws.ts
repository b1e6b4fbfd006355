import { expect, it } from "@effect/vitest"
import { Effect, TestClock } from "effect"
import { describe } from "vitest"
import type { Ask, QuotaStore } from "../../../src/storage/accounts/QuotaStore.ts"
import type { Open } from "../../support/Stores.ts"

const minute = (id: string, limit: number, demand: number): Ask => ({ id, limit, period: "minute", demand })
const day = (id: string, limit: number, demand: number): Ask => ({ id, limit, period: "day", demand })

/** A day of UTC begins here. */
const midnight_ms = Date.parse("2026-11-21T00:00:00Z")
const day_ms = 86_400_000

/** The laws of `QuotaStore`, as tests of one backend that takes the time from Effect's clock. */
export const quotaStoreLaws = (title: string, open: Open<QuotaStore["Type"]>): void => {
  const opened = Effect.gen(function* () {
    const store = yield* yield* open
    yield* TestClock.setTime(midnight_ms)
    const lease = (ask: Ask) => Effect.map(store.leaseMany([ask]), ([lease]) => lease!)
    /** Takes until there is nothing left: how much that was. */
    const drain = (ask: Ask) =>
      Effect.gen(function* () {
        let sum = 0
        for (;;) {
          const { granted } = yield* lease(ask)
          sum += granted
          if (granted < ask.demand) return sum
        }
      })
    return { store, lease, drain }
  })

  describe(title, () => {
    it.scoped("grants the demand, a share of what is left beyond it, and all that is left at last", () =>
      Effect.gen(function* () {
        const { drain, lease } = yield* opened
        expect(yield* lease(minute("m", 1_280, 1))).toMatchObject({ granted: 10, remaining: 1_270 })
        expect(yield* lease(minute("m", 1_280, 1_000))).toMatchObject({ granted: 1_000, remaining: 270 })
        expect(yield* drain(minute("m", 1_280, 20))).toBe(270)
        expect(yield* lease(minute("m", 1_280, 5))).toEqual({
          granted: 0,
          remaining: 0,
          nextIn_ms: 47,
          resetIn_ms: 60_000
        })
      })
    )

    it.scoped("tells what is left without taking it", () =>
      Effect.gen(function* () {
        const { lease } = yield* opened
        const full = { granted: 0, remaining: 100, nextIn_ms: 0, resetIn_ms: 0 }
        expect(yield* lease(minute("m", 100, 0))).toEqual(full)
        expect(yield* lease(minute("m", 100, 0))).toEqual(full)
      })
    )

    it.scoped("fills a bucket evenly within a minute, and not beyond its limit", () =>
      Effect.gen(function* () {
        const { drain } = yield* opened
        expect(yield* drain(minute("m", 120, 1))).toBe(120)
        yield* TestClock.adjust("10 seconds")
        expect(yield* drain(minute("m", 120, 1))).toBe(20)
        yield* TestClock.adjust("400 millis")
        expect(yield* drain(minute("m", 120, 1))).toBe(0)
        yield* TestClock.adjust("100 millis")
        expect(yield* drain(minute("m", 120, 1))).toBe(1)
        yield* TestClock.adjust("2 hours")
        expect(yield* drain(minute("m", 120, 1))).toBe(120)
      })
    )

    it.scoped("gives a day's quota out once a day, all of it from midnight in UTC", () =>
      Effect.gen(function* () {
        const { drain, lease } = yield* opened
        yield* TestClock.adjust("18 hours")
        expect(yield* drain(day("d", 1_000, 100))).toBe(1_000)
        expect(yield* lease(day("d", 1_000, 1))).toEqual({
          granted: 0,
          remaining: 0,
          nextIn_ms: day_ms / 4,
          resetIn_ms: day_ms / 4
        })
        yield* TestClock.setTime(midnight_ms + day_ms - 1)
        expect(yield* drain(day("d", 1_000, 100))).toBe(0)
        yield* TestClock.adjust("1 millis")
        expect(yield* drain(day("d", 1_000, 100))).toBe(1_000)
        yield* TestClock.adjust("3 days")
        expect(yield* drain(day("d", 1_000, 100))).toBe(1_000)
      })
    )

    it.scoped("grants nothing for a clock that goes back within its day", () =>
      Effect.gen(function* () {
        const { drain } = yield* opened
        yield* TestClock.adjust("1 hours")
        expect(yield* drain(minute("m", 60, 1))).toBe(60)
        expect(yield* drain(day("d", 60, 1))).toBe(60)
        yield* TestClock.setTime(midnight_ms)
        expect(yield* drain(minute("m", 60, 1))).toBe(0)
        expect(yield* drain(day("d", 60, 1))).toBe(0)
      })
    )

    it.scoped("refills from the corrected time after the clock was ahead, and is forgotten when full", () =>
      Effect.gen(function* () {
        const { drain, lease, store } = yield* opened
        yield* TestClock.adjust("1 hours")
        yield* drain(minute("m", 60, 1))
        yield* TestClock.setTime(midnight_ms)
        expect(yield* lease(minute("m", 60, 1))).toMatchObject({ granted: 0, nextIn_ms: 1_000 })
        yield* TestClock.adjust("10 seconds")
        expect(yield* drain(minute("m", 60, 1))).toBe(10)
        yield* TestClock.adjust("59 seconds")
        expect(yield* store.sweep(10)).toBe(0)
        yield* TestClock.adjust("1 seconds")
        expect(yield* store.sweep(10)).toBe(1)
      })
    )

    it.scoped("gives a day's quota out once more when the clock was days ahead, and then each day", () =>
      Effect.gen(function* () {
        const { drain, store } = yield* opened
        expect(yield* drain(day("d", 60, 1))).toBe(60)
        yield* TestClock.setTime(midnight_ms + 3.5 * day_ms)
        expect(yield* drain(day("d", 60, 1))).toBe(60)
        yield* TestClock.setTime(midnight_ms + day_ms / 4)
        expect(yield* drain(day("d", 60, 1))).toBe(60)
        yield* TestClock.adjust("17 hours")
        expect(yield* drain(day("d", 60, 1))).toBe(0)
        yield* TestClock.setTime(midnight_ms + day_ms)
        expect(yield* drain(day("d", 60, 1))).toBe(60)
        yield* TestClock.setTime(midnight_ms + 2 * day_ms)
        expect(yield* store.sweep(10)).toBe(1)
      })
    )

    it.scoped("gives a day's quota out once where the clock wavers by a second around midnight", () =>
      Effect.gen(function* () {
        const { drain } = yield* opened
        yield* TestClock.setTime(midnight_ms - 1)
        expect(yield* drain(day("d", 60, 1))).toBe(60)
        let granted = 0
        for (const away_ms of [2, 1, 500]) {
          for (let turn = 0; turn < 5; turn++) {
            yield* TestClock.setTime(midnight_ms + away_ms)
            granted += yield* drain(day("d", 60, 1))
            yield* TestClock.setTime(midnight_ms - away_ms)
            granted += yield* drain(day("d", 60, 1))
          }
        }
        expect(granted).toBe(60)
      })
    )

    it.scoped("answers several asks about one quota, one after the other", () =>
      Effect.gen(function* () {
        const { lease, store } = yield* opened
        const answers = yield* store.leaseMany([
          day("d", 10, 4),
          minute("m", 10, 1),
          day("d", 10, 5),
          day("d", 10, 3)
        ])
        expect(answers.map(({ granted, remaining }) => [granted, remaining])).toEqual([
          [4, 6],
          [1, 9],
          [5, 1],
          [1, 0]
        ])
        expect(yield* lease(day("d", 10, 1))).toMatchObject({ granted: 0, remaining: 0 })
        expect(yield* lease(minute("m", 10, 0))).toMatchObject({ remaining: 9 })
      })
    )

    it.scoped("answers asks about several quotas in their order, each by itself", () =>
      Effect.gen(function* () {
        const { store } = yield* opened
        yield* store.leaseMany([minute("b", 10, 4), day("a", 20, 5), minute("c", 30, 30)])
        const answers = yield* store.leaseMany([minute("c", 30, 1), minute("b", 10, 1), day("a", 20, 30)])
        expect(answers.map(({ granted }) => granted)).toEqual([0, 1, 15])
      })
    )

    it.scoped("heeds a limit that was lowered or raised", () =>
      Effect.gen(function* () {
        const { lease } = yield* opened
        yield* lease(day("d", 100, 1))
        expect(yield* lease(day("d", 10, 20))).toMatchObject({ granted: 10, remaining: 0 })
        expect(yield* lease(day("d", 100, 20))).toMatchObject({ granted: 0 })
      })
    )

    it.scoped("forgets quotas that are full again, and no others", () =>
      Effect.gen(function* () {
        const { drain, lease, store } = yield* opened
        yield* store.leaseMany([minute("m1", 60, 1), minute("m2", 60, 60), day("d", 60, 60)])
        expect(yield* store.sweep(10)).toBe(0)
        yield* TestClock.adjust("30 seconds")
        expect(yield* store.sweep(10)).toBe(1)
        expect(yield* drain(minute("m2", 60, 1))).toBe(30)
        yield* TestClock.adjust("60 seconds")
        yield* lease(minute("m1", 60, 0))
        expect(yield* store.sweep(1)).toBe(1)
        expect(yield* store.sweep(10)).toBe(1)
        expect(yield* drain(day("d", 60, 1))).toBe(0)
        yield* TestClock.setTime(midnight_ms + day_ms)
        expect(yield* store.sweep(10)).toBe(1)
      })
    )

    it.scoped("grants no more than the limit to many who ask at once, in whatever order", () =>
      Effect.gen(function* () {
        const client = yield* open
        const stores = yield* Effect.all([client, client, client])
        yield* TestClock.setTime(midnight_ms)
        const leases = yield* Effect.forEach(
          Array.from({ length: 60 }, (_, index) => index),
          (index) => {
            const asks = [day("x", 100, 3), minute("y", 100, 3)]
            return stores[index % 3]!.leaseMany(index % 2 === 0 ? asks : asks.toReversed())
          },
          { concurrency: "unbounded" }
        )
        expect(leases.flat().reduce((sum, { granted }) => sum + granted, 0)).toBe(200)
      })
    )
  })
}
