import { SqlClient } from "@effect/sql"
import { Effect } from "effect"
import { verificationType, type WebhookMessage } from "../../model/Webhook.ts"
import { databaseNow, forUpdate, isOneOf } from "../sql/SqlDialect.ts"
import type { SqlOperations } from "../sql/SqlPort.ts"
import { rowsOf } from "../sql/SqlRows.ts"
import { transactional } from "../sql/SqlTransaction.ts"
import * as WebhookClaimSql from "./WebhookClaimSql.ts"
import { type Recipient, route, type Weighed } from "./WebhookRouting.ts"
import { eventsOf, notEnded } from "./WebhookRows.ts"
import { type Delivery, pendingBytesMax, pendingMax, type WebhookStore } from "./WebhookStore.ts"

/** Rows that one statement inserts. */
const insertMax = 1_000

interface RecipientRow extends Omit<Recipient, "events"> {
  readonly events: string
}

interface CountedRow {
  readonly events: number
  readonly bytes: number
}

/** A change of a webhook's counts. */
interface Change {
  readonly id: string
  readonly waiting: number
  readonly bytes: number
  readonly dropped: number
}

const byId = (one: WebhookMessage, other: WebhookMessage) => (one.id < other.id ? -1 : 1)

/** Adds (1) or subtracts (-1) a message. */
const counted = (id: string, { bytes, events }: CountedRow, sign: 1 | -1): Change => ({
  id,
  waiting: sign * events,
  bytes: sign * bytes,
  dropped: 0
})

/**
 * The part of `WebhookStore` that is a queue. Every transaction locks messages first and then the rows of their webhooks, in the order of their ids, so that they do not
 * deadlock.
 */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const now = databaseNow(sql)
  const inOneTransaction = transactional(sql)

  const insert = (messages: ReadonlyArray<{ webhookId: string } & Weighed>) => {
    const rows = rowsOf(sql, {
      webhook_id: ["text", messages.map(({ webhookId }) => webhookId)],
      id: ["text", messages.map(({ id }) => id)],
      event: ["text", messages.map(({ event }) => event)],
      body: ["text", messages.map(({ body }) => body)],
      bytes: ["integer", messages.map(({ bytes }) => bytes)]
    })
    return sql<{ webhook_id: string; bytes: number }>`
      INSERT INTO webhook_messages (webhook_id, id, event, body, bytes, queued_at, due_at)
      SELECT webhook_id, id, event, body, bytes, ${now}, ${now} FROM ${rows} AS m
      WHERE NOT EXISTS (SELECT 1 FROM webhook_joined j WHERE j.webhook_id = m.webhook_id AND j.id = m.id)
      ON CONFLICT DO NOTHING RETURNING webhook_id, bytes`
  }

  /** Updates the counts, after the messages have been written. */
  const count = Effect.fnUntraced(function* (changes: ReadonlyArray<Change>) {
    const ids = changes.map(({ id }) => id)
    yield* sql`SELECT id FROM webhooks WHERE ${isOneOf(sql, "id", ids)} ORDER BY id ${forUpdate(sql)}`
    const rows = rowsOf(sql, {
      id: ["text", ids],
      waiting: ["bigint", changes.map(({ waiting }) => waiting)],
      bytes: ["bigint", changes.map(({ bytes }) => bytes)],
      dropped: ["bigint", changes.map(({ dropped }) => dropped)]
    })
    yield* sql`
      UPDATE webhooks SET waiting = webhooks.waiting + c.waiting, bytes = webhooks.bytes + c.bytes,
        dropped = webhooks.dropped + c.dropped
      FROM ${rows} AS c WHERE webhooks.id = c.id`
  })

  const recipientsOf = (owners: ReadonlyArray<string>) =>
    Effect.map(
      sql<RecipientRow>`
        SELECT id, owner, events, waiting AS pending, bytes FROM webhooks w
        WHERE ${isOneOf(sql, "w.owner", owners)} AND w.verified_at IS NOT NULL AND ${notEnded(sql)} ORDER BY id`,
      (rows) => rows.map((row) => ({ ...row, events: eventsOf(row) }))
    )

  const held = ({ id, lease, webhookId }: Delivery) =>
    sql`webhook_id = ${webhookId} AND id = ${id} AND lease = ${lease}`

  const forgetMembers = ({ id, webhookId }: Pick<Delivery, "webhookId" | "id">) =>
    sql`DELETE FROM webhook_joined WHERE webhook_id = ${webhookId} AND message_id = ${id}`

  return {
    claim: yield* WebhookClaimSql.make,

    offer: Effect.fnUntraced(function* (messages) {
      if (messages.length === 0) return 0
      const owners = [...new Set(messages.map(({ owner }) => owner))]
      // In the same order in every offer, so that concurrent ones do not deadlock.
      const routed = route(yield* recipientsOf(owners), messages.toSorted(byId))
      const changes = new Map(
        routed.map(({ dropped, recipient: { id } }) => [id, { id, waiting: 0, bytes: 0, dropped }])
      )
      const queued = routed.flatMap(({ messages, recipient: { id } }) =>
        messages.map((message) => ({ ...message, webhookId: id }))
      )
      for (let from = 0; from < queued.length; from += insertMax) {
        for (const { bytes, webhook_id } of yield* insert(queued.slice(from, from + insertMax))) {
          const change = changes.get(webhook_id)!
          change.waiting++
          change.bytes += bytes
        }
      }
      const changed = [...changes.values()].filter(({ dropped, waiting }) => waiting > 0 || dropped > 0)
      if (changed.length > 0) yield* count(changed)
      return changed.reduce((sum, { dropped }) => sum + dropped, 0)
    }, inOneTransaction),

    delivered: Effect.fnUntraced(function* (delivery) {
      const { failures, webhookId } = delivery
      const [row] = yield* sql<CountedRow>`
        DELETE FROM webhook_messages WHERE ${held(delivery)} RETURNING events, bytes`
      if (row !== undefined) {
        yield* forgetMembers(delivery)
        yield* count([counted(webhookId, row, -1)])
      }
      if (failures === 0) return
      yield* sql`UPDATE webhooks SET failures = 0, paused_until = 0, last_failure = NULL WHERE id = ${webhookId}`
    }, inOneTransaction),

    failed: Effect.fnUntraced(function* (delivery, { pause_ms, reason, retryIn_ms }) {
      const { event, webhookId } = delivery
      if (retryIn_ms !== null) {
        yield* sql`UPDATE webhook_messages SET lease = NULL, due_at = ${now} + ${retryIn_ms} WHERE ${held(delivery)}`
      } else if (event === verificationType) {
        yield* sql`DELETE FROM webhook_messages WHERE ${held(delivery)}`
      } else {
        const [row] = yield* sql<CountedRow>`
          UPDATE webhook_messages SET lease = NULL, dead_at = ${now}, reason = ${reason} WHERE ${held(delivery)}
          RETURNING events, bytes`
        if (row !== undefined) yield* count([counted(webhookId, row, -1)])
      }
      yield* sql`
        UPDATE webhooks SET failures = failures + 1, paused_until = ${now} + ${pause_ms}, last_failure = ${reason}
        WHERE id = ${webhookId}`
    }, inOneTransaction),

    release: (delivery, in_ms) =>
      Effect.asVoid(sql`
        UPDATE webhook_messages SET lease = NULL, due_at = ${now} + ${in_ms}, attempts = attempts - 1
        WHERE ${held(delivery)}`),

    revive: Effect.fnUntraced(function* (webhookId, id) {
      const isDead = sql`webhook_id = ${webhookId} AND id = ${id} AND dead_at IS NOT NULL`
      // What waits for the webhook, and the bytes of what waits for all webhooks of its owner.
      const [load] = yield* sql<{ waiting: number; bytes: number }>`
        SELECT w.waiting, (SELECT SUM(o.bytes) FROM webhooks o WHERE o.owner = w.owner) AS bytes
        FROM webhooks w WHERE w.id = ${webhookId} AND ${notEnded(sql)}`
      const [letter] = yield* sql<CountedRow>`SELECT events, bytes FROM webhook_messages WHERE ${isDead}`
      if (load === undefined || letter === undefined) return "none"
      if (load.waiting + letter.events > pendingMax || load.bytes + letter.bytes > pendingBytesMax)
        return "full"
      const [row] = yield* sql<CountedRow>`
        UPDATE webhook_messages SET dead_at = NULL, reason = NULL, lease = NULL, attempts = 0, queued_at = ${now}, due_at = ${now}
        WHERE ${isDead} RETURNING events, bytes`
      if (row === undefined) return "none"
      yield* count([counted(webhookId, row, 1)])
      return "queued"
    }, inOneTransaction)
  } satisfies Partial<SqlOperations<typeof WebhookStore.Service>>
})
