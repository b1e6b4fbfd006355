import { it as itEffect } from "@effect/vitest"
import { Deferred, Duration, Effect, Redacted } from "effect"
import { describe, expect, it } from "vitest"
import * as DatabaseServers from "../../../../src/storage/sql/postgres/DatabaseServers.ts"
import { Heartbeats, run } from "../../../../src/storage/sql/postgres/PersistentSession.ts"
import { monotonicNow_ms } from "../../../../src/time/MonotonicTime.ts"
import { makeCuttingProxy } from "../../../support/CuttingProxy.ts"
import { describePostgres, freshDatabase } from "../../../support/services/postgres/Postgres.ts"

describe("the heartbeats of a database", () => {
  it("say that it is away only when two sessions in a row have failed, and since when", () => {
    const heartbeats = new Heartbeats()
    heartbeats.answered(1_000)
    expect(heartbeats.awayFor(31_000)).toBeUndefined()
    // A process that was paused for 30 s finds its session lost, and has asked nobody since.
    heartbeats.failed()
    expect(heartbeats.awayFor(31_000)).toBeUndefined()
    heartbeats.failed()
    expect(heartbeats.awayFor(31_200)).toBe(30_200)
    heartbeats.answered(31_300)
    expect(heartbeats.awayFor(31_400)).toBeUndefined()
    expect(heartbeats.age(31_400)).toBe(100)
  })

  it("do not say that it is away where it refuses the session", () => {
    const heartbeats = new Heartbeats()
    heartbeats.answered(1_000)
    heartbeats.failed()
    heartbeats.refused()
    heartbeats.failed()
    expect(heartbeats.awayFor(31_000)).toBeUndefined()
    expect(heartbeats.isFresh(31_000)).toBe(false)
  })

  it("come often while somebody relies on the session, and at once where nobody did", () => {
    const heartbeats = new Heartbeats()
    let sooner = 0
    const pause_ms = () => heartbeats.pause_ms(() => sooner++)
    heartbeats.answered(1_000)
    // Also the slow ones come soon enough for it to be fresh when the next one is answered.
    expect(pause_ms()).toBe(500)
    expect(heartbeats.isFresh(1_749)).toBe(true)
    expect(heartbeats.isFresh(1_750)).toBe(false)
    expect(sooner).toBe(1)
    expect(pause_ms()).toBe(200)
    expect(heartbeats.isFresh(1_700)).toBe(true)
    expect(sooner).toBe(1)
    expect(pause_ms()).toBe(200)
    expect(pause_ms()).toBe(500)
    expect(heartbeats.age(1_100)).toBe(100)
    expect(sooner).toBe(1)
  })

  it("say nothing of a database that never answered but that it is away for ever", () => {
    const heartbeats = new Heartbeats()
    heartbeats.failed()
    heartbeats.failed()
    expect(heartbeats.awayFor(1)).toBe(Number.POSITIVE_INFINITY)
  })
})

describePostgres("the heartbeats of a session on PostgreSQL", () => {
  itEffect.scopedLive("count from when they were sent, however long their answers take", () =>
    Effect.gen(function* () {
      const way = yield* makeCuttingProxy(yield* freshDatabase)
      const clock = yield* Effect.clock
      const begun = yield* Deferred.make<void>()
      const late = yield* Deferred.make<number>()
      let isReleased = false
      class Noted extends Heartbeats {
        override answered(asked: number) {
          super.answered(asked)
          Deferred.unsafeDone(begun, Effect.void)
          // The one whose answer was held back.
          if (isReleased) Deferred.unsafeDone(late, Effect.succeed(asked))
        }
      }
      const servers = yield* Effect.provide(
        DatabaseServers.DatabaseServers,
        DatabaseServers.layer(Redacted.make(way.url))
      )
      yield* Effect.forkScoped(
        run(servers, {
          applicationName: "heartbeats",
          answerMax: Duration.minutes(1),
          begin: () => Effect.void,
          heartbeats: new Noted()
        })
      )
      yield* Deferred.await(begun)
      const { held, release } = way.hold()
      yield* Effect.promise(() => held)
      const released = monotonicNow_ms(clock)
      isReleased = true
      release()
      expect(yield* Deferred.await(late)).toBeLessThanOrEqual(released)
    })
  )
})
