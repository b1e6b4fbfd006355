import { it } from "@effect/vitest"
import { SqlClient } from "@effect/sql"
import { type Clock, Deferred, Effect, Fiber, Layer, Redacted, Schedule } from "effect"
import { expect } from "vitest"
import { monotonicNow_ms } from "../../../src/time/MonotonicTime.ts"
import * as DatabaseServers from "../../../src/storage/sql/postgres/DatabaseServers.ts"
import * as LinkInvalidationsPostgres from "../../../src/storage/links/LinkInvalidationsPostgres.ts"
import * as LinkEpoch from "../../../src/storage/links/buckets/LinkEpoch.ts"
import { LinkLifetime } from "../../../src/storage/links/LinkLifetime.ts"
import * as KeyStockSql from "../../../src/storage/keys/KeyStockSql.ts"
import * as LinkLifetimeSql from "../../../src/storage/links/LinkLifetimeSql.ts"
import { LinkStore } from "../../../src/storage/links/LinkStore.ts"
import * as LinkStoreSql from "../../../src/storage/links/LinkStoreSql.ts"
import { describePostgres } from "../../support/services/postgres/Postgres.ts"
import { plainRow } from "../../support/Plain.ts"
import { migratedDatabase, postgresAt } from "../../support/Stores.ts"

const link = (key: string) => ({
  ...plainRow,
  key,
  url: "https://example.com/",
  custom: false,
  createdAt: 1,
  updatedAt: 1
})

/** The news of a fresh database as one node hears it, and the store by which another node makes it. */
const setUp = Effect.gen(function* () {
  const url = yield* migratedDatabase
  const context = yield* Layer.build(
    Layer.merge(LinkStoreSql.layer, LinkLifetimeSql.layer).pipe(
      Layer.provide(KeyStockSql.layer()),
      Layer.provideMerge(postgresAt(url))
    )
  )
  const changes = yield* Effect.provide(
    LinkInvalidationsPostgres.make,
    DatabaseServers.layer(Redacted.make(url))
  )
  const clock = yield* Effect.clock
  const fresh = Effect.sync(() => changes.isFresh(monotonicNow_ms(clock)))
  const untilFresh = (wanted: boolean) =>
    fresh.pipe(
      Effect.repeat({ schedule: Schedule.spaced("10 millis"), until: (now) => now === wanted }),
      Effect.timeout("20 seconds")
    )
  const heard: Array<string> = []
  const all = yield* Deferred.make<void>()
  const first = yield* Deferred.make<string>()
  yield* changes.subscribe({
    forget: (key) => {
      heard.push(key)
      Deferred.unsafeDone(first, Effect.succeed(key))
    },
    forgetAll: () => Deferred.unsafeDone(all, Effect.void)
  })
  const { lifetime, store, sql } = yield* Effect.provide(
    Effect.all({ lifetime: LinkLifetime, store: LinkStore, sql: SqlClient.SqlClient }),
    context
  )
  return { all, changes, first, fresh, heard, lifetime, sql, store, untilFresh }
})

describePostgres("the news of links on PostgreSQL", () => {
  it.scopedLive("tells of a deletion that another node committed, and of nothing else", () =>
    Effect.gen(function* () {
      const { first, heard, store, untilFresh } = yield* setUp
      yield* untilFresh(true)
      yield* store.insertMany([link("kept"), link("gone")])
      yield* store.deleteMany([{ key: "gone", at: 2 }])
      expect(yield* Effect.timeout(Deferred.await(first), "20 seconds")).toBe("gone")
      // Nothing is announced for a key that had nothing to delete.
      yield* store.deleteMany([
        { key: "gone", at: 3 },
        { key: "never", at: 3 }
      ])
      yield* store.deleteMany([{ key: "kept", at: 4 }])
      yield* Effect.sync(() => heard.length).pipe(
        Effect.repeat({ schedule: Schedule.spaced("10 millis"), until: (count) => count >= 2 }),
        Effect.timeout("20 seconds")
      )
      expect(heard).toEqual(["gone", "kept"])
    })
  )

  it.scopedLive("tells the database's epoch with each heartbeat", () =>
    Effect.gen(function* () {
      const { changes, sql, untilFresh } = yield* setUp
      yield* untilFresh(true)
      expect(changes.epoch?.()).toBe(0)
      const { raise } = yield* Effect.provideService(LinkEpoch.make, SqlClient.SqlClient, sql)
      yield* raise(3)
      yield* Effect.sync(() => changes.epoch?.()).pipe(
        Effect.repeat({ schedule: Schedule.spaced("10 millis"), until: (epoch) => epoch === 3 }),
        Effect.timeout("5 seconds")
      )
    })
  )

  it.scopedLive("tells of links that have expired, and of keys that are free again", () =>
    Effect.gen(function* () {
      const { heard, lifetime, store, untilFresh } = yield* setUp
      yield* untilFresh(true)
      yield* store.insertMany([{ ...link("a"), expiresAt: 2 }, link("b")])
      yield* lifetime.expireSome(10)
      yield* lifetime.recycle({ quarantine_ms: 0, count: 10 })
      yield* Effect.sync(() => heard.length).pipe(
        Effect.repeat({ schedule: Schedule.spaced("10 millis"), until: (count) => count >= 2 }),
        Effect.timeout("20 seconds")
      )
      expect(heard).toEqual(["a", "a"])
    })
  )

  it.scopedLive("tells of a change once, and not of its repeat nor of what was not changed", () =>
    Effect.gen(function* () {
      const { heard, store, untilFresh } = yield* setUp
      yield* untilFresh(true)
      yield* store.insertMany([link("a"), link("b")])
      const change = (key: string, updateId: number, owner: string | null = null) =>
        store.updateMany([{ key, owner, at: 2, change: { url: "https://changed/" }, updateId }])
      yield* change("a", 1)
      yield* change("a", 1)
      yield* change("never", 2)
      yield* change("a", 3, "another")
      yield* change("b", 4)
      yield* Effect.sync(() => heard.includes("b")).pipe(
        Effect.repeat({ schedule: Schedule.spaced("10 millis"), until: (done) => done }),
        Effect.timeout("20 seconds")
      )
      expect(heard).toEqual(["a", "b"])
    })
  )

  it.scopedLive("tells once that a link is used up, and nothing of takes that are refused then", () =>
    Effect.gen(function* () {
      const { heard, store, untilFresh } = yield* setUp
      yield* untilFresh(true)
      const limited = (key: string) => ({ ...link(key), maxVisits: 2, visitsLeft: 2 })
      yield* store.insertMany([limited("a"), limited("b")])
      const take = (key: string, number: number) =>
        store.takeVisits([{ key, count: 1, taker: "node", number }])
      yield* take("a", 1)
      yield* take("a", 2)
      yield* take("a", 3)
      yield* take("b", 4)
      yield* take("b", 5)
      yield* Effect.sync(() => heard.includes("b")).pipe(
        Effect.repeat({ schedule: Schedule.spaced("10 millis"), until: (done) => done }),
        Effect.timeout("20 seconds")
      )
      expect(heard).toEqual(["a", "b"])
    })
  )

  it.scopedLive("is not fresh before it listens, and forgets everything when it begins", () =>
    Effect.gen(function* () {
      const { all, untilFresh } = yield* setUp
      yield* untilFresh(true)
      expect(yield* Deferred.isDone(all)).toBe(true)
    })
  )

  it.scopedLive(
    "is not fresh while its connection is lost, and forgets everything before it is fresh again",
    () =>
      Effect.gen(function* () {
        const { changes, sql, untilFresh } = yield* setUp
        yield* untilFresh(true)
        let freshWhenForgetting: boolean | undefined
        const again = yield* Deferred.make<void>()
        const clock = yield* Effect.clock
        yield* changes.subscribe({
          forget: () => {},
          forgetAll: () => {
            freshWhenForgetting = changes.isFresh(monotonicNow_ms(clock))
            Deferred.unsafeDone(again, Effect.void)
          }
        })
        const lost = yield* Effect.fork(untilFresh(false))
        yield* sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'linkmint-listen' AND datname = current_database()`
        yield* Fiber.join(lost)
        yield* Effect.timeout(Deferred.await(again), "20 seconds")
        expect(freshWhenForgetting).toBe(false)
        yield* untilFresh(true)
      })
  )

  it.scopedLive(
    "is not fresh at a time that lies further ahead than its last proof allows, as after a pause",
    () =>
      Effect.gen(function* () {
        const { changes, untilFresh } = yield* setUp
        yield* untilFresh(true)
        const now = monotonicNow_ms(yield* Effect.clock)
        expect(changes.isFresh(now)).toBe(true)
        expect(changes.isFresh(now + 1_000)).toBe(false)
      })
  )

  it.scopedLive("is not fresh any longer where the wall clock stands still or jumps back", () =>
    Effect.gen(function* () {
      const clock = yield* Effect.clock
      const jumping: Clock.Clock = {
        ...clock,
        unsafeCurrentTimeMillis: () => 0,
        currentTimeMillis: Effect.succeed(0),
        unsafeCurrentTimeNanos: () => clock.unsafeCurrentTimeNanos(),
        sleep: (duration) => clock.sleep(duration)
      }
      const { changes, untilFresh } = yield* Effect.withClock(setUp, jumping)
      yield* untilFresh(true)
      expect(changes.isFresh(monotonicNow_ms(clock) + 1_000)).toBe(false)
    })
  )
})
