import { SqlClient } from "@effect/sql"
import { expect, it } from "@effect/vitest"
import { Effect, Layer, TestClock } from "effect"
import { inTransaction } from "../../src/storage/SqlTransaction.ts"
import {
  deadLettersFor_ms,
  deadLettersMax,
  pendingFor_ms,
  WebhookStore
} from "../../src/storage/WebhookStore.ts"
import * as WebhookStoreMemory from "../../src/storage/WebhookStoreMemory.ts"
import * as WebhookStoreSql from "../../src/storage/WebhookStoreSql.ts"
import { onEveryBackend, onEveryDatabase } from "./stores.ts"
import { webhookStoreLaws } from "./WebhookStoreLaws.ts"

onEveryBackend(WebhookStore, { memory: WebhookStoreMemory.layer, sql: WebhookStoreSql.layer }, (open) =>
  webhookStoreLaws("WebhookStore", open)
)

const webhook = {
  id: "whk_a",
  owner: "usr_a",
  url: "https://a.example/",
  events: ["link.created"],
  secret: "whsec_c2VjcmV0",
  createdAt: 1_000
} as const
const message = (id: string) => ({ id, owner: "usr_a", event: "link.created", body: "{}" }) as const

it.scoped("WebhookStore in memory: the sweep keeps the same as on a database", () =>
  Effect.gen(function* () {
    const webhooks = yield* WebhookStoreMemory.make
    yield* webhooks.add(webhook, 10)
    yield* webhooks.offer(Array.from({ length: deadLettersMax + 2 }, (_, index) => message(String(index))))
    const claim = { max: 2_000, perWebhook: 2_000, busy: [], lease_ms: 1_000 }
    const failure = { reason: "", retryIn_ms: null, pause_ms: 0 }
    const [waits, ...dead] = yield* webhooks.claim(claim)
    yield* Effect.forEach(dead, (delivery) => webhooks.failed(delivery, failure))
    yield* webhooks.sweep
    expect(yield* webhooks.find("whk_a")).toMatchObject({ pending: 1, deadLetters: deadLettersMax })
    yield* webhooks.release(waits!)
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
  const test = (title: string, body: Effect.Effect<void, unknown, SqlClient.SqlClient | WebhookStore>) =>
    it.scopedLive(title, () => Effect.provide(body, Layer.provideMerge(WebhookStoreSql.layer, client)))

  test(
    "WebhookStore: messages that are offered in a transaction are part of it",
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const webhooks = yield* WebhookStore
      yield* webhooks.add(webhook, 10)
      yield* inTransaction(
        sql,
        Effect.zipRight(webhooks.offer([message("undone")]), Effect.fail("undo"))
      ).pipe(Effect.flip)
      yield* inTransaction(sql, webhooks.offer([message("done")]))
      expect(
        (yield* webhooks.claim({ max: 9, perWebhook: 9, busy: [], lease_ms: 1_000 })).map(({ id }) => id)
      ).toEqual(["done"])
    })
  )

  test(
    "WebhookStore: the sweep gives up what waits for too long, and forgets what died long ago or has no webhook",
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const webhooks = yield* WebhookStore
      yield* webhooks.add(webhook, 10)
      yield* webhooks.offer(["old", "young", "dead", "buried", "orphan"].map(message))
      yield* sql`UPDATE webhook_messages SET queued_at = queued_at - ${pendingFor_ms + 1_000} WHERE id = 'old'`
      yield* sql`UPDATE webhook_messages SET queued_at = queued_at - ${pendingFor_ms - 60_000} WHERE id = 'young'`
      const dead = (ago_ms: number) => sql`dead_at = queued_at - ${ago_ms}, reason = 'for the test'`
      yield* sql`UPDATE webhook_messages SET ${dead(deadLettersFor_ms - 60_000)} WHERE id = 'dead'`
      yield* sql`UPDATE webhook_messages SET ${dead(deadLettersFor_ms + 1_000)} WHERE id = 'buried'`
      yield* sql`UPDATE webhook_messages SET webhook_id = 'whk_z' WHERE id = 'orphan'`
      yield* webhooks.sweep
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
      yield* webhooks.add(webhook, 10)
      yield* webhooks.add({ ...webhook, id: "whk_b" }, 10)
      yield* webhooks.offer(
        Array.from({ length: deadLettersMax + 2 }, (_, index) => message(String(index).padStart(5, "0")))
      )
      yield* sql`UPDATE webhook_messages SET dead_at = queued_at, reason = '' WHERE webhook_id = 'whk_a' AND id <> '00003'`
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
})
