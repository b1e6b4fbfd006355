import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Logger, LogLevel, TestClock } from "effect"
import * as VisitMaintenance from "../../src/visits/VisitMaintenance.ts"
import { VisitRetention } from "../../src/visits/VisitRetention.ts"
import { LinkStore } from "../../src/storage/links/LinkStore.ts"
import * as LinkStoreMemory from "../../src/sim/stores/LinkStoreMemory.ts"
import { StorageError } from "../../src/storage/StorageError.ts"
import { TrustedTime } from "../../src/time/TrustedTime.ts"
import { VisitStore } from "../../src/storage/visits/VisitStore.ts"
import * as VisitStoreMemory from "../../src/sim/stores/VisitStoreMemory.ts"
import { hour_ms } from "../../src/model/Visit.ts"

/** 2026-11-21T10:05Z. */
const start = Date.parse("2026-11-21T10:05:00Z")
const hourOf = (text: string) => Date.parse(text) / hour_ms

describe("the upkeep of visits", () => {
  it.scoped(
    "rolls up what has been over for half a day, drops what is too old, and ranks by hours that are over, step by step, and again after a failure",
    () =>
      Effect.gen(function* () {
        const calls: Array<string> = []
        let more = 3
        let isAway = true
        const step = (call: string) =>
          Effect.suspend(() => {
            calls.push(call)
            return isAway
              ? new StorageError({ operation: "test", applied: "no", reason: "test" })
              : Effect.succeed(more-- > 0)
          })
        let unranked = 2
        const ranks = [{ key: "k", createdAt: 1, visits: 2, lastVisit: 3 }]
        const links = LinkStore.of({
          ...(yield* LinkStoreMemory.make),
          rankMany: (given) => Effect.sync(() => void calls.push(`rankMany ${JSON.stringify(given)}`))
        })
        const store = VisitStore.of({
          ...(yield* VisitStoreMemory.make),
          rollUp: (until, max) => step(`rollUp ${until} ${max}`),
          drop: ({ days, hours }, max) => step(`drop ${hours} ${days} ${max}`),
          rank: (until, max, handOn) =>
            Effect.suspend(() => {
              calls.push(`rank ${until} ${max}`)
              return unranked-- > 0 ? Effect.as(handOn(ranks), true) : Effect.succeed(false)
            }),
          dropWriters: (before) => Effect.sync(() => void calls.push(`dropWriters ${before}`))
        })
        yield* TestClock.setTime(start)
        yield* Layer.build(
          VisitMaintenance.layer({ stepMax: 7 }).pipe(
            Layer.provide([Layer.succeed(VisitStore, store), Layer.succeed(LinkStore, links)])
          )
        )
        const rollUp = `rollUp ${hourOf("2026-11-20T22:00Z")} 7`
        // At 10:26 no more than the hour before that is over for 20 minutes.
        const rank = `rank ${hourOf("2026-11-21T10:00Z")} 7`
        yield* TestClock.adjust("11 minutes")
        expect(calls).toEqual([rollUp])
        isAway = false
        calls.length = 0
        yield* TestClock.adjust("10 minutes")
        expect(calls).toEqual([
          ...Array.from({ length: 4 }, () => rollUp),
          `drop ${hourOf("2026-10-17T00:00Z")} ${hourOf("2023-11-17T00:00Z")} 7`,
          expect.stringMatching(/^dropWriters /),
          ...Array.from({ length: 2 }, () => [rank, `rankMany ${JSON.stringify(ranks)}`]).flat(),
          rank
        ])
        calls.length = 0
        yield* Layer.build(
          VisitMaintenance.layer({ stepMax: 7 }).pipe(
            Layer.provide([
              Layer.succeed(VisitStore, store),
              Layer.succeed(LinkStore, links),
              Layer.succeed(VisitRetention, { hours_days: 8, days_days: 400 })
            ])
          )
        )
        yield* TestClock.adjust("11 minutes")
        expect(calls).toContain(`drop ${hourOf("2026-11-13T00:00Z")} ${hourOf("2025-10-17T00:00Z")} 7`)
      }).pipe(Effect.provide(Logger.minimumLogLevel(LogLevel.None)))
  )

  it.scoped("waits while the time is in doubt", () =>
    Effect.gen(function* () {
      let rolledUp = 0
      let isSettled = false
      const store = VisitStore.of({
        ...(yield* VisitStoreMemory.make),
        rollUp: () => Effect.sync(() => (rolledUp++, false))
      })
      yield* Layer.build(
        VisitMaintenance.layer({ stepMax: 7 }).pipe(
          Layer.provide([
            Layer.succeed(VisitStore, store),
            Layer.effect(LinkStore, LinkStoreMemory.make),
            Layer.succeed(TrustedTime, {
              isSettled: () => isSettled,
              wallAhead_ms: () => 0,
              heard: () => Effect.void
            })
          ])
        )
      )
      yield* TestClock.adjust("31 minutes")
      expect(rolledUp).toBe(0)
      isSettled = true
      yield* TestClock.adjust("10 minutes")
      expect(rolledUp).toBe(1)
    })
  )
})
