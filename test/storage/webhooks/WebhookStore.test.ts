import { SqlClient } from "@effect/sql"
import { expect, it } from "@effect/vitest"
import { Effect, Layer, TestClock } from "effect"
import { AccountStore } from "../../../src/storage/accounts/AccountStore.ts"
import * as AccountStoreSql from "../../../src/storage/accounts/AccountStoreSql.ts"
import { inTransaction } from "../../../src/storage/sql/SqlTransaction.ts"
import { messagesExpired } from "../../../src/storage/webhooks/WebhookMetrics.ts"
import {
  deadLettersBytesMax,
  deadLettersFor_ms,
  deadLettersMax,
  type Delivery,
  endedFor_ms,
  pendingFor_ms,
  WebhookStore
} from "../../../src/storage/webhooks/WebhookStore.ts"
import * as WebhookStoreMemory from "../../../src/sim/stores/WebhookStoreMemory.ts"
import * as WebhookStoreSql from "../../../src/storage/webhooks/WebhookStoreSql.ts"
import * as Metered from "../../../src/telemetry/Metered.ts"
import { onEveryBackend, onEveryDatabase } from "../../support/Stores.ts"
import {
  addVerified,
  challengeOf,
  claimOf,
  keyOf,
  userOf,
  webhookOf
} from "../../support/samples/SomeWebhooks.ts"
import { webhookJoiningLaws } from "./WebhookJoiningLaws.ts"
import { webhookLifeLaws } from "./WebhookLifeLaws.ts"
import { webhookStoreLaws } from "./WebhookStoreLaws.ts"
import { layers, WebhookStores } from "./WebhookStores.ts"

onEveryBackend(WebhookStores, layers, (open) => {
  webhookStoreLaws("WebhookStore", open)
  webhookLifeLaws("WebhookStore", open)
  webhookJoiningLaws("WebhookStore", open)
})

const webhook = webhookOf("whk_a", { events: ["link.created"] })
const message = (id: string) => ({ id, owner: "usr_a", event: "link.created", body: "{}" }) as const

it.scoped("WebhookStore in memory: the sweep keeps the same as on a database", () =>
  Effect.gen(function* () {
    const webhooks = yield* WebhookStoreMemory.make
    yield* addVerified(webhooks, webhook)
    yield* webhooks.offer(Array.from({ length: deadLettersMax + 2 }, (_, index) => message(String(index))))
    const claim = claimOf({ max: 2_000 })
    const failure = { reason: "", retryIn_ms: null, pause_ms: 0 }
    const [waits, ...dead] = yield* webhooks.claim(claim)
    yield* Effect.forEach(dead, (delivery) => webhooks.failed(delivery, failure))
    yield* webhooks.sweep
    expect(yield* webhooks.find("whk_a")).toMatchObject({ pending: 1, deadLetters: deadLettersMax })
    yield* webhooks.release(waits!, 0)
    yield* TestClock.adjust(pendingFor_ms + 1)
    yield* webhooks.sweep
    expect((yield* webhooks.deadLetters("whk_a", 1, null))[0]).toMatchObject({
      id: waits!.id,
      reason: "It was not delivered in time."
    })
    yield* TestClock.adjust(deadLettersFor_ms + 1)
    yield* webhooks.sweep
    expect(yield* webhooks.find("whk_a")).toMatchObject({ pending: 0, deadLetters: 0 })
  })
)

onEveryDatabase((client) => {
  const test = (
    title: string,
    body: Effect.Effect<void, unknown, SqlClient.SqlClient | WebhookStore | AccountStore>
  ) =>
    it.scopedLive(title, () =>
      Effect.flatMap(AccountStore, (accounts) => accounts.addUser(userOf("usr_a"))).pipe(
        Effect.zipRight(body),
        Effect.provide(
          Layer.merge(WebhookStoreSql.layer, AccountStoreSql.layer).pipe(Layer.provideMerge(client))
        )
      )
    )

  test(
    "WebhookStore: messages that are offered in a transaction are part of it",
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const webhooks = yield* WebhookStore
      yield* addVerified(webhooks, webhook)
      yield* inTransaction(
        sql,
        Effect.zipRight(webhooks.offer([message("undone")]), Effect.fail("undo"))
      ).pipe(Effect.flip)
      yield* inTransaction(sql, webhooks.offer([message("done")]))
      expect((yield* webhooks.claim(claimOf())).map(({ id }) => id)).toEqual(["done"])
    })
  )

  test(
    "WebhookStore: messages that were queued while the clock was ahead are joined and given at once when it is corrected",
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const webhooks = yield* WebhookStore
      yield* addVerified(webhooks, webhook)
      yield* webhooks.offer(["a", "b"].map(message))
      yield* sql`UPDATE webhook_messages SET queued_at = queued_at + 3600000, due_at = due_at + 3600000`
      const join = { events: 10, bytes: 10_000 }
      const found = yield* webhooks.claim(claimOf({ join, gatherFor_ms: 60_000 }))
      expect(found.map(WebhookStoreMemory.eventsOf)).toEqual([["a", "b"]])
      yield* webhooks.offer([message("c")])
      expect((yield* webhooks.claim(claimOf())).map(({ id }) => id)).toEqual(["c"])
    })
  )

  test(
    "WebhookStore: the sweep gives up and counts what waits for too long, and forgets what died long ago or has no webhook",
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const webhooks = yield* WebhookStore
      yield* addVerified(webhooks, webhook)
      yield* webhooks.offer(["old", "young", "dead", "buried", "orphan"].map(message))
      yield* sql`UPDATE webhook_messages SET queued_at = queued_at - ${pendingFor_ms + 1_000} WHERE id = 'old'`
      yield* sql`UPDATE webhook_messages SET queued_at = queued_at - ${pendingFor_ms - 60_000} WHERE id = 'young'`
      const dead = (ago_ms: number) => sql`dead_at = queued_at - ${ago_ms}, reason = 'for the test'`
      yield* sql`UPDATE webhook_messages SET ${dead(deadLettersFor_ms - 60_000)} WHERE id = 'dead'`
      yield* sql`UPDATE webhook_messages SET ${dead(deadLettersFor_ms + 1_000)} WHERE id = 'buried'`
      yield* sql`UPDATE webhook_messages SET webhook_id = 'whk_z' WHERE id = 'orphan'`
      const before = Metered.read(messagesExpired).count
      yield* webhooks.sweep
      expect(Metered.read(messagesExpired).count - before).toBe(1)
      yield* webhooks.sweep
      expect(Metered.read(messagesExpired).count - before).toBe(1)
      const rows = yield* sql<{
        id: string
        reason: string | null
      }>`SELECT id, reason FROM webhook_messages ORDER BY id`
      expect(rows).toEqual([
        { id: "dead", reason: "for the test" },
        { id: "old", reason: "It was not delivered in time." },
        { id: "young", reason: null }
      ])
    })
  )

  test(
    "WebhookStore: the sweep forgets the oldest dead letters of a webhook that has too many",
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const webhooks = yield* WebhookStore
      yield* addVerified(webhooks, webhook)
      yield* addVerified(webhooks, { ...webhook, id: "whk_b" })
      yield* webhooks.offer(
        Array.from({ length: deadLettersMax + 2 }, (_, index) => message(String(index).padStart(5, "0")))
      )
      yield* sql`UPDATE webhook_messages SET dead_at = (SELECT max(queued_at) FROM webhook_messages), reason = '' WHERE webhook_id = 'whk_a' AND id <> '00003'`
      yield* sql`UPDATE webhook_messages SET dead_at = dead_at + 1 WHERE id = '00000'`
      yield* webhooks.sweep
      const rows = yield* sql<{ webhook_id: string; id: string }>`
        SELECT webhook_id, id FROM webhook_messages ORDER BY webhook_id, id`
      const left = rows.filter(({ webhook_id }) => webhook_id === "whk_a").map(({ id }) => id)
      expect(left).toHaveLength(deadLettersMax + 1)
      expect(left.slice(0, 3)).toEqual(["00000", "00002", "00003"])
      expect(rows).toHaveLength(2 * deadLettersMax + 3)
    })
  )

  test(
    "WebhookStore: the sweep keeps no more bytes of a webhook's dead letters than allowed, and forgets what was joined in those that go",
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const webhooks = yield* WebhookStore
      yield* addVerified(webhooks, webhook)
      yield* webhooks.offer(["a", "b", "c", "d"].map(message))
      const join = { events: 2, bytes: 10_000 }
      const joined = yield* webhooks.claim(claimOf({ join }))
      expect(joined).toHaveLength(2)
      const failure = { reason: "for the test", retryIn_ms: null, pause_ms: 0 }
      yield* Effect.forEach(joined, (delivery) => webhooks.failed(delivery, failure))
      yield* sql`UPDATE webhook_messages SET bytes = ${deadLettersBytesMax}, dead_at = (SELECT max(queued_at) FROM webhook_messages)`
      yield* sql`UPDATE webhook_messages SET dead_at = dead_at + 1 WHERE id = ${joined[0]!.id}`
      yield* webhooks.sweep
      expect(yield* webhooks.deadLetters("whk_a", 10, null)).toMatchObject([{ id: joined[0]!.id }])
      const left = yield* sql<{ message_id: string }>`SELECT DISTINCT message_id FROM webhook_joined`
      expect(left).toEqual([{ message_id: joined[0]!.id }])
    })
  )

  test(
    "WebhookStore: the sweep counts anew what waits, where that is wrong",
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const webhooks = yield* WebhookStore
      const counts = sql`SELECT id, CAST(waiting AS INTEGER) AS waiting, CAST(bytes AS INTEGER) AS bytes FROM webhooks ORDER BY id`
      yield* addVerified(webhooks, webhook)
      yield* addVerified(webhooks, { ...webhook, id: "whk_b" })
      yield* webhooks.add({ ...webhook, id: "whk_c" }, challengeOf("whk_c"), 10)
      yield* webhooks.offer(["a", "b", "c"].map(message))
      const right = [
        { id: "whk_a", waiting: 3, bytes: 6 },
        { id: "whk_b", waiting: 3, bytes: 6 },
        { id: "whk_c", waiting: 0, bytes: 0 }
      ]
      expect(yield* counts).toEqual(right)
      yield* webhooks.sweep
      expect(yield* counts).toEqual(right)
      yield* sql`UPDATE webhooks SET waiting = 7, bytes = 70 WHERE id <> 'whk_b'`
      yield* webhooks.sweep
      expect(yield* counts).toEqual(right)
    })
  )

  test(
    "WebhookStore: what waits is counted as it is, whatever is done with it",
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const webhooks = yield* WebhookStore
      yield* addVerified(webhooks, webhook)
      yield* addVerified(webhooks, { ...webhook, id: "whk_b" })
      const wrong = sql`
        SELECT w.id FROM webhooks w LEFT JOIN webhook_messages m ON m.webhook_id = w.id AND m.dead_at IS NULL
        GROUP BY w.id, w.waiting, w.bytes
        HAVING w.waiting <> COALESCE(SUM(m.events), 0) OR w.bytes <> COALESCE(SUM(m.bytes), 0)`
      const failure = { reason: "for the test", retryIn_ms: 0, pause_ms: 0 }
      const steps = [
        webhooks.delivered,
        (one: Delivery) => webhooks.failed(one, failure),
        (one: Delivery) => webhooks.failed(one, { ...failure, retryIn_ms: null }),
        (one: Delivery) => webhooks.release(one, 0),
        (one: Delivery) =>
          Effect.zipRight(
            webhooks.failed(one, { ...failure, retryIn_ms: null }),
            webhooks.revive(one.webhookId, one.id)
          )
      ]
      for (let round = 0; round < 40; round++) {
        yield* webhooks.offer(
          Array.from({ length: round % 7 }, (_, index) => message(`${round % 11}-${index}`))
        )
        const join = { events: 1 + (round % 3), bytes: 100_000 }
        for (const [index, one] of (yield* webhooks.claim(claimOf({ join }))).entries()) {
          yield* steps[(round + index) % steps.length]!(one)
          expect(yield* wrong).toEqual([])
        }
      }
      expect(yield* webhooks.list("usr_a")).not.toMatchObject([{ deadLetters: 0 }, { deadLetters: 0 }])
    })
  )

  test(
    "WebhookStore: the sweep forgets webhooks that ended long ago, and what was queued for them at the last moment",
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const webhooks = yield* WebhookStore
      const accounts = yield* AccountStore
      yield* accounts.addKey(keyOf("key_1", "usr_a"), 10)
      for (const id of ["whk_a", "whk_b"]) yield* addVerified(webhooks, { ...webhook, id, keyId: "key_1" })
      yield* webhooks.offer([message("m")])
      yield* accounts.removeKey("key_1", null)
      expect(yield* webhooks.lapse(null)).toBe(2)
      yield* sql`UPDATE webhooks SET ended_at = ended_at - ${endedFor_ms - 60_000} WHERE id = 'whk_a'`
      yield* sql`UPDATE webhooks SET ended_at = ended_at - ${endedFor_ms + 1_000} WHERE id = 'whk_b'`
      yield* sql`INSERT INTO webhook_messages (webhook_id, id, event, body, queued_at, due_at)
        VALUES ('whk_a', 'late', 'link.created', '{}', 0, 0)`
      yield* webhooks.sweep
      expect((yield* webhooks.list("usr_a")).map(({ id }) => id)).toEqual(["whk_a"])
      expect(yield* sql`SELECT id FROM webhook_messages`).toEqual([])
    })
  )
})
