import { SqlClient } from "@effect/sql"
import { Effect, Layer } from "effect"
import type { Webhook, WebhookEvent } from "../Webhook.ts"
import { databaseNow } from "./SqlDialect.ts"
import { asStorageError, inTransaction } from "./SqlTransaction.ts"
import {
  deadLetterOf,
  type DeadLetterRow,
  eventsOf,
  valuesOf,
  webhookOf,
  type WebhookRow
} from "./WebhookRows.ts"
import { WebhookStore } from "./WebhookStore.ts"
import * as WebhookQueueSql from "./WebhookQueueSql.ts"

/** `WebhookStore` on SQLite and PostgreSQL: the webhooks and their dead letters here, the queue in `WebhookQueueSql`. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const now = databaseNow(sql)
  const queue = yield* WebhookQueueSql.make

  const status = sql`
    SELECT w.*,
      (SELECT COUNT(*) FROM webhook_messages m WHERE m.webhook_id = w.id AND m.dead_at IS NULL) AS pending,
      (SELECT COUNT(*) FROM webhook_messages m WHERE m.webhook_id = w.id AND m.dead_at IS NOT NULL) AS dead
    FROM webhooks w`

  /** Lets one change at a time happen: the others wait for its row. */
  const nextVersion = sql`UPDATE webhook_changes SET version = version + 1`

  const add = Effect.fnUntraced(function* (webhook: Webhook, max: number) {
    yield* nextVersion
    const [row] = yield* sql<{ count: string | number }>`
      SELECT COUNT(*) AS count FROM webhooks WHERE owner = ${webhook.owner}`
    if (Number(row!.count) >= max) return false
    yield* sql`INSERT INTO webhooks ${sql.insert(valuesOf(webhook))}`
    return true
  })

  const remove = Effect.fnUntraced(function* (id: string) {
    yield* nextVersion
    const removed = yield* sql`DELETE FROM webhooks WHERE id = ${id} RETURNING id`
    yield* sql`DELETE FROM webhook_messages WHERE webhook_id = ${id}`
    return removed.length > 0
  })

  return WebhookStore.of({
    ...queue,
    add: Effect.fn("WebhookStore.add")(
      (webhook, max) => inTransaction(sql, add(webhook, max)),
      asStorageError("WebhookStore.add")
    ),

    list: Effect.fn("WebhookStore.list")(function* (owner) {
      const rows = yield* sql<WebhookRow>`${status} WHERE w.owner = ${owner} ORDER BY w.created_at, w.id`
      return rows.map(webhookOf)
    }, asStorageError("WebhookStore.list")),

    find: Effect.fn("WebhookStore.find")(function* (id) {
      const [row] = yield* sql<WebhookRow>`${status} WHERE w.id = ${id}`
      return row === undefined ? null : webhookOf(row)
    }, asStorageError("WebhookStore.find")),

    remove: Effect.fn("WebhookStore.remove")(
      (id) => inTransaction(sql, remove(id)),
      asStorageError("WebhookStore.remove")
    ),

    listeners: Effect.fn("WebhookStore.listeners")(function* (known) {
      // Before the webhooks, so that one that comes in between is seen again under its own version.
      const [change] = yield* sql<{ version: string | number }>`SELECT version FROM webhook_changes`
      const version = Number(change!.version)
      if (version === known) return null
      const rows = yield* sql<{ owner: string; events: string }>`SELECT DISTINCT owner, events FROM webhooks`
      const byOwner = new Map<string, Set<WebhookEvent>>()
      for (const row of rows) {
        byOwner.set(row.owner, new Set([...(byOwner.get(row.owner) ?? []), ...eventsOf(row)]))
      }
      return { version, byOwner }
    }, asStorageError("WebhookStore.listeners")),

    deadLetters: Effect.fn("WebhookStore.deadLetters")(function* (webhookId, limit, after) {
      const behind = after === null ? sql`` : sql`AND (dead_at, id) < (${after.failedAt}, ${after.id})`
      const rows = yield* sql<DeadLetterRow>`
        SELECT id, event, queued_at, dead_at, attempts, reason FROM webhook_messages
        WHERE webhook_id = ${webhookId} AND dead_at IS NOT NULL ${behind}
        ORDER BY dead_at DESC, id DESC LIMIT ${limit}`
      return rows.map(deadLetterOf)
    }, asStorageError("WebhookStore.deadLetters")),

    revive: Effect.fn("WebhookStore.revive")(function* (webhookId, id) {
      const revived = yield* sql`
        UPDATE webhook_messages SET dead_at = NULL, reason = NULL, lease = NULL, attempts = 0, queued_at = ${now}, due_at = ${now}
        WHERE webhook_id = ${webhookId} AND id = ${id} AND dead_at IS NOT NULL RETURNING id`
      return revived.length > 0
    }, asStorageError("WebhookStore.revive"))
  })
})

/** `WebhookStore` over whatever database the SQL client speaks to. The schema must be migrated. */
export const layer: Layer.Layer<WebhookStore, never, SqlClient.SqlClient> = Layer.effect(WebhookStore, make)
