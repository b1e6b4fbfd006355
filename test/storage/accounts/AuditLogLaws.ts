import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { describe } from "vitest"
import { type AuditEvent, command, type Doer, stranger } from "../../../src/model/Audit.ts"
import {
  type AuditLog,
  type AuditPosition,
  type AuditQuery,
  entriesPerHour
} from "../../../src/storage/accounts/AuditLog.ts"
import type { Open } from "../../support/Stores.ts"

const minute_ms = 60_000
const hour_ms = 3_600_000

/** The beginning of an hour. */
const start = 400_000 * hour_ms

const doerOf = (userId: string): Doer => ({ by: "session", userId, keyId: null, client: "client of it" })

/** Something that a user did to a key of hers, unless said otherwise. */
export const eventOf = (more: Partial<AuditEvent> = {}): AuditEvent => ({
  doer: doerOf("usr_a"),
  action: "key.added",
  target: "key_1",
  owner: "usr_a",
  at: start,
  ...more
})

/** The laws of `AuditLog`, as tests of one backend. */
export const auditLogLaws = (title: string, open: Open<AuditLog["Type"]>): void => {
  const opened = Effect.flatten(open)
  const everything = { limit: 10_000 }

  describe(`${title}: entries`, () => {
    it.scopedLive("tell who did what to whose thing, from where and when", () =>
      Effect.gen(function* () {
        const log = yield* opened
        const events: ReadonlyArray<AuditEvent> = [
          eventOf({
            doer: { by: "api-key", userId: "usr_a", keyId: "key_'\"\\", client: null },
            at: start + 4
          }),
          eventOf({ doer: { ...doerOf("admin"), by: "admin-key" }, action: "link.deleted", at: start + 3 }),
          eventOf({
            doer: stranger("of ::1"),
            action: "session.refused",
            target: null,
            owner: null,
            at: start + 2
          }),
          eventOf({ doer: command, action: "user.disabled", target: "usr_b", owner: "usr_b", at: start + 1 })
        ]
        for (const event of events) yield* log.record(event)
        const found = yield* log.list(everything)
        expect(found).toMatchObject(events)
        expect(found.every(({ at, count, lastAt }) => count === 1 && lastAt === at)).toBe(true)
        expect(new Set(found.map(({ id }) => id)).size).toBe(4)
      })
    )

    it.scopedLive("count events that are alike in all but their moment within a minute", () =>
      Effect.gen(function* () {
        const log = yield* opened
        yield* log.record(eventOf({ at: start + 10 }))
        yield* log.record(eventOf({ at: start + 30 }))
        yield* log.record(eventOf({ at: start + 20 }))
        yield* log.record(eventOf({ at: start + minute_ms }))
        const others: ReadonlyArray<Partial<AuditEvent>> = [
          { target: "key_2" },
          { owner: null },
          { action: "key.revoked" },
          { doer: { ...doerOf("usr_a"), client: null } },
          { doer: { ...doerOf("usr_a"), keyId: "key_1" } },
          { doer: { ...doerOf("usr_a"), by: "api-key" } }
        ]
        for (const other of others) yield* log.record(eventOf({ ...other, at: start + 5 }))
        const found = yield* log.list(everything)
        expect(found.map(({ at, count, lastAt }) => [at - start, lastAt - start, count])).toEqual([
          [minute_ms, minute_ms, 1],
          [10, 30, 3],
          ...others.map(() => [5, 5, 1])
        ])
      })
    )

    it.scopedLive("are counted once where many are recorded at once", () =>
      Effect.gen(function* () {
        const client = yield* open
        const logs = yield* Effect.all([client, client, client])
        yield* Effect.forEach(
          Array.from({ length: 24 }, (_, index) => index),
          (index) => logs[index % 3]!.record(eventOf({ at: start + index })),
          { concurrency: "unbounded" }
        )
        expect(yield* logs[0].list(everything)).toMatchObject([{ count: 24, lastAt: start + 23 }])
      })
    )

    it.scopedLive("have ids of bounded length", () =>
      Effect.gen(function* () {
        const log = yield* opened
        const long = "x".repeat(10_000)
        yield* log.record(
          eventOf({
            doer: { by: "session", userId: long, keyId: long, client: long },
            target: long,
            owner: long
          })
        )
        const [entry] = yield* log.list(everything)
        expect(JSON.stringify(entry).length).toBeLessThan(1_000)
      })
    )
  })

  describe(`${title}: the bound`, () => {
    const record = (log: AuditLog["Type"], events: ReadonlyArray<AuditEvent>) =>
      Effect.forEach(events, log.record, { discard: true })

    const refused = (client: string | null, index: number) =>
      eventOf({
        doer: stranger(client),
        action: "session.refused",
        target: `usr_${index}`,
        owner: null,
        at: start + index
      })

    it.scopedLive("of a stranger's client leaves one entry for all events beyond it, which counts them", () =>
      Effect.gen(function* () {
        const log = yield* opened
        const over = 40
        const count = entriesPerHour.client + over
        yield* record(
          log,
          Array.from({ length: count }, (_, index) => refused("one", index))
        )
        yield* log.record(refused("other", 1))
        yield* log.record({ ...refused("one", 0), at: start + hour_ms })
        const found = yield* log.list(everything)
        expect(found).toHaveLength(entriesPerHour.client + 3)
        expect(found.find(({ target }) => target === null)).toMatchObject({
          doer: { client: "one" },
          count: over,
          at: start + entriesPerHour.client,
          lastAt: start + count - 1
        })
        // In whichever minute of the hour they come.
        yield* log.record({ ...refused("one", count), at: start + hour_ms - 1 })
        expect((yield* log.list(everything)).filter(({ target }) => target === null)).toMatchObject([
          { count: over + 1, lastAt: start + hour_ms - 1 }
        ])
        // Those that have their entry already go on being counted there.
        yield* log.record(refused("one", 3))
        expect((yield* log.list(everything)).find(({ target }) => target === "usr_3")).toMatchObject({
          count: 2
        })
      })
    )

    it.scopedLive("of all strangers leaves one entry that names no client, and binds nobody else", () =>
      Effect.gen(function* () {
        const log = yield* opened
        const over = 25
        const count = entriesPerHour.strangers + over
        yield* record(
          log,
          Array.from({ length: count }, (_, index) => refused(`client ${index}`, index))
        )
        yield* log.record(eventOf())
        yield* record(
          log,
          Array.from({ length: 3 }, (_, index) => eventOf({ doer: command, target: `usr_${index}` }))
        )
        const found = yield* log.list(everything)
        const ofStrangers = found.filter(({ doer }) => doer.by === "nothing")
        expect(ofStrangers).toHaveLength(entriesPerHour.strangers + 1)
        expect(ofStrangers.find(({ doer }) => doer.client === null)).toMatchObject({
          count: over,
          target: null
        })
        expect(found).toHaveLength(entriesPerHour.strangers + 5)
      })
    )

    it.scopedLive(
      "of a user holds for that user alone, and for each kind of action there is one entry more",
      () =>
        Effect.gen(function* () {
          const log = yield* opened
          const keys = Array.from({ length: entriesPerHour.user + 10 }, (_, index) =>
            eventOf({ target: `key_${index}` })
          )
          yield* record(log, keys)
          yield* log.record(eventOf({ action: "webhook.added", target: "whk_1" }))
          yield* log.record(eventOf({ doer: doerOf("usr_b"), owner: "usr_b" }))
          const found = yield* log.list(everything)
          expect(found).toHaveLength(entriesPerHour.user + 3)
          expect(found.filter(({ target }) => target === null)).toEqual(
            expect.arrayContaining([
              expect.objectContaining({ action: "key.added", count: 10, owner: null }),
              expect.objectContaining({ action: "webhook.added", count: 1 })
            ])
          )
        })
    )
  })

  describe(`${title}: lists`, () => {
    const filled = Effect.gen(function* () {
      const log = yield* opened
      for (const index of Array.from({ length: 7 }, (_, index) => index)) {
        const at = start + Math.floor(index / 2) * minute_ms
        yield* log.record(eventOf({ doer: doerOf(index % 2 === 0 ? "usr_a" : "usr_b"), owner: "usr_c", at }))
      }
      yield* log.record(eventOf({ action: "password.changed", target: "usr_a", at: start + hour_ms }))
      return log
    })

    const pages = (log: AuditLog["Type"], query: Omit<AuditQuery, "limit">) =>
      Effect.gen(function* () {
        const found = []
        let after: AuditPosition | undefined
        do {
          const page: Effect.Effect.Success<ReturnType<typeof log.list>> = yield* log.list({
            ...query,
            after,
            limit: 2
          })
          found.push(...page)
          after = page.length < 2 ? undefined : page.at(-1)
        } while (after !== undefined)
        return found
      })

    it.scopedLive("give each entry once from page to page, the newest first", () =>
      Effect.gen(function* () {
        const log = yield* filled
        const all = yield* log.list(everything)
        expect(all).toHaveLength(8)
        expect(all.map(({ at }) => at)).toEqual(all.map(({ at }) => at).toSorted((one, other) => other - one))
        expect(yield* pages(log, {})).toEqual(all)
        expect(yield* pages(log, { user: "usr_c" })).toEqual(all.filter(({ owner }) => owner === "usr_c"))
      })
    )

    it.scopedLive("can be of one user, as doer or as owner, of one action, and of a time", () =>
      Effect.gen(function* () {
        const log = yield* filled
        const count = (query: Omit<AuditQuery, "limit">) =>
          Effect.map(log.list({ ...query, limit: 100 }), ({ length }) => length)
        expect(yield* count({ user: "usr_a" })).toBe(5)
        expect(yield* count({ user: "usr_b" })).toBe(3)
        expect(yield* count({ user: "usr_c" })).toBe(7)
        expect(yield* count({ user: "usr_'" })).toBe(0)
        expect(yield* count({ action: "password.changed" })).toBe(1)
        expect(yield* count({ user: "usr_b", action: "password.changed" })).toBe(0)
        expect(yield* count({ from: start + minute_ms, until: start + 2 * minute_ms })).toBe(2)
        expect(yield* count({ user: "usr_a", from: start + minute_ms, until: start + 2 * minute_ms })).toBe(1)
        expect(yield* count({ from: start + hour_ms })).toBe(1)
        expect(yield* count({ until: start })).toBe(0)
      })
    )
  })

  describe(`${title}: forgetting`, () => {
    it.scopedLive("removes so many entries as are asked for, whose last event is older", () =>
      Effect.gen(function* () {
        const log = yield* opened
        const events = Array.from({ length: 5 }, (_, index) => eventOf({ at: start + index * minute_ms }))
        for (const event of events) yield* log.record(event)
        yield* log.record(eventOf({ at: start + 30_000 }))
        // The first entry's last event is not older.
        expect(yield* log.forget(start + 20_000, 10)).toBe(0)
        expect(yield* log.forget(start + 3 * minute_ms, 2)).toBe(2)
        expect(yield* log.forget(start + 3 * minute_ms, 2)).toBe(1)
        expect(yield* log.forget(start + 3 * minute_ms, 2)).toBe(0)
        expect((yield* log.list(everything)).map(({ at }) => at)).toEqual([
          start + 4 * minute_ms,
          start + 3 * minute_ms
        ])
      })
    )
  })
}
