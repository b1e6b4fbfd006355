import { SqlClient, type Statement } from "@effect/sql"
import { Effect, Layer } from "effect"
import {
  adminKeyPrefix,
  type Challenge,
  verificationType,
  type WebhookEvent,
  type WebhookState
} from "../../model/Webhook.ts"
import { camelRows, sqlPort } from "../sql/SqlPort.ts"
import { together } from "../sql/DirectSql.ts"
import { databaseNow, forUpdate, isOneOf, prepared } from "../sql/SqlDialect.ts"
import { inTransaction, transactional } from "../sql/SqlTransaction.ts"
import { eventsOf, notEnded, valuesOf, webhookOf, type WebhookRow } from "./WebhookRows.ts"
import { type DeadLetter, WebhookStore } from "./WebhookStore.ts"
import * as WebhookQueueSql from "./WebhookQueueSql.ts"
import * as WebhookSweepSql from "./WebhookSweepSql.ts"

/** Webhooks that end in one transaction. */
const lapseMax = 100

/** `WebhookStore` on SQLite and PostgreSQL: the webhooks and their dead letters here, the queue in `WebhookQueueSql`. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const now = databaseNow(sql)
  const queue = yield* WebhookQueueSql.make
  const inOneTransaction = transactional(sql)

  /** Asked again and again: the number of changes so far, and whether messages wait. */
  const changes = sql`${prepared(sql)}SELECT version,
    CASE WHEN EXISTS (SELECT 1 FROM webhook_messages WHERE dead_at IS NULL) THEN 1 ELSE 0 END FROM webhook_changes`.compile()

  const state = sql`
    CASE WHEN NOT ${notEnded(sql)} THEN 'ended' WHEN w.verified_at IS NULL THEN 'unverified' ELSE 'active' END`

  const webhooks = (which: Statement.Fragment) =>
    Effect.map(
      camelRows(sql<WebhookRow>`
        SELECT w.id, w.owner, w.key_id, w.url, w.events, w.secret, w.created_at, w.failures, w.last_failure, w.dropped,
          w.waiting, ${state} AS status,
          (SELECT COUNT(*) FROM webhook_messages m WHERE m.webhook_id = w.id AND m.dead_at IS NOT NULL) AS dead
        FROM webhooks w WHERE ${which}`),
      (rows) => rows.map(webhookOf)
    )

  /** Serializes changes of the listeners: concurrent ones wait for this row. */
  const nextVersion = sql`UPDATE webhook_changes SET version = version + 1`

  /** Removes the messages of webhooks; gives how many events waited, by webhook. */
  const removeMessages = Effect.fnUntraced(function* (ids: ReadonlyArray<string>) {
    const rows = yield* sql<{ webhook_id: string; events: number; dead_at: number | null; event: string }>`
      DELETE FROM webhook_messages WHERE ${isOneOf(sql, "webhook_id", ids)} RETURNING webhook_id, events, dead_at, event`
    yield* sql`DELETE FROM webhook_joined WHERE ${isOneOf(sql, "webhook_id", ids)}`
    const waited = new Map(ids.map((id) => [id, 0]))
    for (const { dead_at, event, events, webhook_id } of rows) {
      if (dead_at === null && event !== verificationType)
        waited.set(webhook_id, waited.get(webhook_id)! + events)
    }
    return waited
  })

  const removeAll = Effect.fnUntraced(function* (ids: ReadonlyArray<string>) {
    if (ids.length === 0) return 0
    yield* removeMessages(ids)
    const removed = yield* sql<{ verified_at: number | null }>`
      DELETE FROM webhooks WHERE ${isOneOf(sql, "id", ids)} RETURNING verified_at`
    if (removed.some(({ verified_at }) => verified_at !== null)) yield* nextVersion
    return removed.length
  })

  /** Queues a challenge, which does not count as an event. */
  const ask = (webhookId: string, { body, id }: Challenge) => sql`
    INSERT INTO webhook_messages (webhook_id, id, event, body, events, queued_at, due_at)
    VALUES (${webhookId}, ${id}, ${verificationType}, ${body}, 0, ${now}, ${now})`

  const reset = (id: string) =>
    sql`UPDATE webhooks SET failures = 0, paused_until = 0, last_failure = NULL WHERE id = ${id}`

  const lapsedOf = (adminKeyId: string | null) => {
    const another =
      adminKeyId === null
        ? sql``
        : sql`OR (w.key_id LIKE ${`${adminKeyPrefix}%`} AND w.key_id <> ${adminKeyId})`
    return sql<{ id: string }>`
      SELECT id FROM webhooks w WHERE w.ended_at IS NULL AND (NOT ${notEnded(sql)} ${another}) LIMIT ${lapseMax}`
  }

  const end = Effect.fnUntraced(function* (ids: ReadonlyArray<string>) {
    const waited = yield* removeMessages(ids)
    for (const [id, events] of [...waited].toSorted(([one], [other]) => (one < other ? -1 : 1))) {
      yield* sql`
        UPDATE webhooks SET ended_at = ${now}, dropped = dropped + ${events}, waiting = 0, bytes = 0
        WHERE id = ${id} AND ended_at IS NULL`
    }
    yield* nextVersion
    return [...waited.values()].reduce((sum, events) => sum + events, 0)
  })

  return sqlPort(WebhookStore, {
    ...queue,
    sweep: WebhookSweepSql.make(sql),

    add: Effect.fnUntraced(function* (webhook, challenge, max) {
      const users = yield* sql`
        SELECT id FROM users WHERE id = ${webhook.owner} AND disabled_at IS NULL ${forUpdate(sql)}`
      if (users.length === 0) return false
      const rows = yield* sql<{ id: string; status: WebhookState }>`
        SELECT id, ${state} AS status FROM webhooks w WHERE w.owner = ${webhook.owner} ORDER BY w.created_at, w.id`
      const ended = rows.filter(({ status }) => status === "ended")
      if (rows.length - ended.length >= max) return false
      yield* removeAll(ended.slice(0, Math.max(0, rows.length - max + 1)).map(({ id }) => id))
      yield* sql`INSERT INTO webhooks ${sql.insert(valuesOf(webhook))}`
      yield* ask(webhook.id, challenge)
      return true
    }, inOneTransaction),

    challenge: Effect.fnUntraced(function* (id, challenge) {
      const [row] = yield* sql<{ status: WebhookState }>`
        SELECT ${state} AS status FROM webhooks w WHERE w.id = ${id}`
      if (row?.status !== "unverified") return row?.status ?? null
      yield* sql`DELETE FROM webhook_messages WHERE webhook_id = ${id} AND event = ${verificationType}`
      yield* ask(id, challenge)
      yield* reset(id)
      return row.status
    }, inOneTransaction),

    verify: Effect.fnUntraced(function* (id, challengeId) {
      const answered = yield* sql`
        DELETE FROM webhook_messages WHERE webhook_id = ${id} AND id = ${challengeId} AND event = ${verificationType}
        RETURNING id`
      if (answered.length === 0) return false
      yield* reset(id)
      const verified = yield* sql`
        UPDATE webhooks SET verified_at = ${now} WHERE id = ${id} AND verified_at IS NULL RETURNING id`
      yield* nextVersion
      return verified.length > 0
    }, inOneTransaction),

    list: (owner) => webhooks(sql`w.owner = ${owner} ORDER BY w.created_at, w.id`),

    find: (id) => Effect.map(webhooks(sql`w.id = ${id}`), ([webhook = null]) => webhook),

    remove: (id) => Effect.map(inTransaction(sql, removeAll([id])), (removed) => removed > 0),

    removeAllOf: Effect.fnUntraced(function* (owner) {
      const rows = yield* sql<{ id: string }>`SELECT id FROM webhooks WHERE owner = ${owner}`
      return yield* removeAll(rows.map(({ id }) => id))
    }, inOneTransaction),

    lapse: Effect.fnUntraced(function* (adminKeyId) {
      let dropped = 0
      while (true) {
        const rows = yield* lapsedOf(adminKeyId)
        if (rows.length === 0) return dropped
        dropped += yield* inTransaction(sql, end(rows.map(({ id }) => id)))
      }
    }),

    look: Effect.fnUntraced(function* (known) {
      // Read before the webhooks, so that one that is added in between is read again under its own version.
      const [change] = yield* together(sql, "WebhookStore.look", changes)
      const [version, isWaiting] = [Number(change![0]), Number(change![1]) !== 0]
      if (version === known) return { listeners: null, isWaiting }
      const rows = yield* sql<{ owner: string; events: string }>`
        SELECT DISTINCT owner, events FROM webhooks WHERE verified_at IS NOT NULL AND ended_at IS NULL`
      const byOwner = new Map<string, Set<WebhookEvent>>()
      for (const row of rows) {
        byOwner.set(row.owner, new Set([...(byOwner.get(row.owner) ?? []), ...eventsOf(row)]))
      }
      return { listeners: { version, byOwner }, isWaiting }
    }),

    deadLetters: (webhookId, limit, after) => {
      const behind = after === null ? sql`` : sql`AND (dead_at, id) < (${after.failedAt}, ${after.id})`
      return camelRows(sql<DeadLetter>`
        SELECT id, event, events, queued_at, dead_at AS failed_at, attempts, reason FROM webhook_messages
        WHERE webhook_id = ${webhookId} AND dead_at IS NOT NULL ${behind}
        ORDER BY dead_at DESC, id DESC LIMIT ${limit}`)
    }
  })
})

/** `WebhookStore` over whatever database the SQL client speaks to. The schema must be migrated. */
export const layer: Layer.Layer<WebhookStore, never, SqlClient.SqlClient> = Layer.effect(WebhookStore, make)
