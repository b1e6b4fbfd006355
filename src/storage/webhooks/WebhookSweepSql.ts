import type { SqlClient } from "@effect/sql"
import { Effect } from "effect"
import { verificationType } from "../../model/Webhook.ts"
import * as Metered from "../../telemetry/Metered.ts"
import { databaseMoment, databaseNow, forUpdate } from "../sql/SqlDialect.ts"
import { transactional } from "../sql/SqlTransaction.ts"
import { messagesExpired } from "./WebhookMetrics.ts"
import {
  deadLettersBytesMax,
  deadLettersFor_ms,
  deadLettersMax,
  endedFor_ms,
  notInTime,
  pendingFor_ms
} from "./WebhookStore.ts"

/** `WebhookStore.sweep`. */
export const make = (sql: SqlClient.SqlClient) => {
  const now = databaseNow(sql)
  const moment = databaseMoment(sql)

  /** Counted at once: the rest of the sweep may fail. */
  const giveUp = Effect.map(
    sql`
      UPDATE webhook_messages SET lease = NULL, dead_at = ${now}, reason = ${notInTime}
      WHERE dead_at IS NULL AND event <> ${verificationType} AND queued_at < ${moment} - ${pendingFor_ms}
      RETURNING 1`,
    ({ length }) => Metered.add(messagesExpired, length)
  )

  const forget = Effect.gen(function* () {
    yield* sql`DELETE FROM webhook_messages WHERE dead_at < ${moment} - ${deadLettersFor_ms}`
    yield* sql`
      DELETE FROM webhook_messages WHERE (webhook_id, id) IN (
        SELECT webhook_id, id FROM (
          SELECT webhook_id, id,
            row_number() OVER (PARTITION BY webhook_id ORDER BY dead_at DESC, id DESC) AS place,
            SUM(bytes) OVER (PARTITION BY webhook_id ORDER BY dead_at DESC, id DESC) AS sum
          FROM webhook_messages WHERE dead_at IS NOT NULL
        ) AS ranked WHERE place > ${deadLettersMax} OR sum > ${deadLettersBytesMax})`
    yield* sql`DELETE FROM webhooks WHERE ended_at < ${moment} - ${endedFor_ms}`
    // Messages that were queued while their webhook was removed or ended.
    yield* sql`DELETE FROM webhook_messages WHERE webhook_id NOT IN (SELECT id FROM webhooks WHERE ended_at IS NULL)`
    yield* sql`
      DELETE FROM webhook_joined WHERE NOT EXISTS (
        SELECT 1 FROM webhook_messages m
        WHERE m.webhook_id = webhook_joined.webhook_id AND m.id = webhook_joined.message_id)`
  })

  /** The stored and the actual counts of what waits for a webhook. */
  const actual = sql`
    SELECT w.id, w.waiting, w.bytes, COALESCE(SUM(m.events), 0) AS events, COALESCE(SUM(m.bytes), 0) AS size
    FROM webhooks w LEFT JOIN webhook_messages m
      ON m.webhook_id = w.id AND m.dead_at IS NULL AND m.event <> ${verificationType}`

  /** Locks the webhook's row: transactions that change the count are over by then, and what they did is counted. */
  const countAgain = Effect.fnUntraced(function* (id: string) {
    yield* sql`SELECT id FROM webhooks WHERE id = ${id} ${forUpdate(sql)}`
    const [row] = yield* sql<{ events: number; size: number }>`
      ${actual} WHERE w.id = ${id} GROUP BY w.id, w.waiting, w.bytes`
    if (row === undefined) return
    yield* sql`UPDATE webhooks SET waiting = ${row.events}, bytes = ${row.size} WHERE id = ${id}`
  }, transactional(sql))

  const countWhereWrong = Effect.gen(function* () {
    const rows = yield* sql<{ id: string }>`
      SELECT id FROM (${actual} GROUP BY w.id, w.waiting, w.bytes) AS a WHERE waiting <> events OR bytes <> size`
    yield* Effect.forEach(rows, ({ id }) => countAgain(id), { discard: true })
  })

  return Effect.gen(function* () {
    yield* giveUp
    yield* forget
    yield* countWhereWrong
  })
}
