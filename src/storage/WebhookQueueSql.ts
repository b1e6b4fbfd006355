import { SqlClient, type Statement } from "@effect/sql"
import { Effect } from "effect"
import * as Secret from "../Secret.ts"
import type { WebhookEvent, WebhookMessage } from "../Webhook.ts"
import { databaseNow, isOneOf } from "./SqlDialect.ts"
import { asStorageError, inTransaction } from "./SqlTransaction.ts"
import { route } from "./WebhookRouting.ts"
import { eventsOf } from "./WebhookRows.ts"
import {
  type Claim,
  deadLettersFor_ms,
  deadLettersMax,
  type Delivery,
  type Failure,
  pendingFor_ms,
  type WebhookStore
} from "./WebhookStore.ts"

/** Rows that one statement inserts. */
const insertMax = 1_000

interface RecipientRow {
  readonly id: string
  readonly owner: string
  readonly events: string
  readonly pending: string | number
}

interface ClaimedRow {
  readonly webhook_id: string
  readonly id: string
  readonly event: WebhookEvent
  readonly body: string
  readonly attempts: number
}

interface EndpointRow {
  readonly id: string
  readonly url: string
  readonly secret: string
  readonly failures: number
}

/** The part of `WebhookStore` that is a queue. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const now = databaseNow(sql)

  const insert = (messages: ReadonlyArray<{ webhookId: string } & WebhookMessage>) =>
    sql.onDialectOrElse({
      orElse: () => sql`
        INSERT INTO webhook_messages (webhook_id, id, event, body, queued_at, due_at)
        SELECT value ->> 'webhookId', value ->> 'id', value ->> 'event', value ->> 'body', ${now}, ${now}
        FROM json_each(${JSON.stringify(messages)}) WHERE true ON CONFLICT DO NOTHING`,
      pg: () => sql`
        INSERT INTO webhook_messages (webhook_id, id, event, body, queued_at, due_at)
        SELECT "webhookId", id, event, body, ${now}, ${now}
        FROM json_to_recordset(${JSON.stringify(messages)}::json)
          AS m ("webhookId" text, id text, event text, body text)
        ON CONFLICT DO NOTHING`
    })

  const offer = Effect.fnUntraced(function* (messages: ReadonlyArray<WebhookMessage>) {
    if (messages.length === 0) return 0
    const owners = [...new Set(messages.map(({ owner }) => owner))]
    const rows = yield* sql<RecipientRow>`
      SELECT id, owner, events,
        (SELECT COUNT(*) FROM webhook_messages m WHERE m.webhook_id = webhooks.id AND m.dead_at IS NULL) AS pending
      FROM webhooks WHERE ${isOneOf(sql, "owner", owners)} ORDER BY id`
    const recipients = rows.map((row) => ({
      id: row.id,
      owner: row.owner,
      events: eventsOf(row),
      pending: Number(row.pending)
    }))
    const routed = route(recipients, messages)
    const queued = routed.flatMap(({ messages, recipient: { id } }) =>
      messages.map((message) => ({ ...message, webhookId: id }))
    )
    for (let from = 0; from < queued.length; from += insertMax) {
      yield* insert(queued.slice(from, from + insertMax))
    }
    // In the order of their ids, so that two that overlap wait for each other and never deadlock.
    const full = routed.filter(({ dropped }) => dropped > 0)
    for (const { dropped, recipient } of full) {
      yield* sql`UPDATE webhooks SET dropped = dropped + ${dropped} WHERE id = ${recipient.id}`
    }
    return full.reduce((sum, { dropped }) => sum + dropped, 0)
  })

  /** Once for a whole statement, so that an index on time can be used. */
  const moment = sql`(SELECT ${now})`

  /** The first webhook of those behind another that has messages which are not dead. */
  const nextWaiting = (behind: Statement.Fragment) => sql`
    (SELECT webhook_id FROM webhook_messages WHERE dead_at IS NULL AND webhook_id > ${behind} ORDER BY webhook_id LIMIT 1)`

  /** Messages of the webhook `w` that are due. */
  const due = sql`
    SELECT m.webhook_id, m.id, m.due_at FROM webhook_messages m
    WHERE m.webhook_id = w.id AND m.dead_at IS NULL AND m.due_at <= ${moment} ORDER BY m.due_at`

  const chosen = ({ max, perWebhook }: Claim) =>
    sql.onDialectOrElse({
      // A limit cannot depend on the row here.
      orElse: () => sql`
        SELECT m.webhook_id, m.id FROM free w CROSS JOIN webhook_messages m
        WHERE m.webhook_id = w.id
          AND m.id IN (SELECT id FROM (
            SELECT id, row_number() OVER (ORDER BY due_at) AS place FROM (${due} LIMIT ${perWebhook})) WHERE place <= w.wanted)
        ORDER BY m.due_at LIMIT ${max}`,
      pg: () => sql`
        SELECT m.webhook_id, m.id FROM free w CROSS JOIN LATERAL (${due} LIMIT w.wanted FOR UPDATE SKIP LOCKED) AS m
        ORDER BY m.due_at LIMIT ${max}`
    })

  /** Steps from webhook to webhook through the index of those that have messages: what it costs does not grow with how many wait for each. */
  const lease = (claim: Claim, token: string) => sql<ClaimedRow>`
    WITH RECURSIVE waiting (webhook_id) AS (
      SELECT ${nextWaiting(sql`''`)}
      UNION ALL
      SELECT ${nextWaiting(sql`waiting.webhook_id`)} FROM waiting WHERE waiting.webhook_id IS NOT NULL
    ), free AS (
      SELECT id, CASE WHEN failures > 0 THEN 1 ELSE ${claim.perWebhook} END AS wanted
      FROM waiting JOIN webhooks ON webhooks.id = waiting.webhook_id
      WHERE paused_until <= ${moment} AND NOT ${isOneOf(sql, "id", claim.busy)}
    ), chosen AS (${chosen(claim)})
    UPDATE webhook_messages SET lease = ${token}, due_at = ${now} + ${claim.lease_ms}, attempts = attempts + 1
    WHERE (webhook_id, id) IN (SELECT webhook_id, id FROM chosen)
    RETURNING webhook_id, id, event, body, attempts`

  const held = ({ id, lease, webhookId }: Delivery) =>
    sql`webhook_id = ${webhookId} AND id = ${id} AND lease = ${lease}`

  const fail = Effect.fnUntraced(function* (delivery: Delivery, { pause_ms, reason, retryIn_ms }: Failure) {
    // The webhook first: whoever removes it does so, too.
    yield* sql`
      UPDATE webhooks SET failures = failures + 1, paused_until = ${now} + ${pause_ms} WHERE id = ${delivery.webhookId}`
    yield* retryIn_ms === null
      ? sql`UPDATE webhook_messages SET lease = NULL, dead_at = ${now}, reason = ${reason} WHERE ${held(delivery)}`
      : sql`UPDATE webhook_messages SET lease = NULL, due_at = ${now} + ${retryIn_ms} WHERE ${held(delivery)}`
  })

  const sweep = Effect.gen(function* () {
    yield* sql`
      UPDATE webhook_messages SET lease = NULL, dead_at = ${now}, reason = 'It was not delivered in time.'
      WHERE dead_at IS NULL AND queued_at < ${now} - ${pendingFor_ms}`
    yield* sql`DELETE FROM webhook_messages WHERE dead_at < ${now} - ${deadLettersFor_ms}`
    yield* sql`
      DELETE FROM webhook_messages WHERE (webhook_id, id) IN (
        SELECT webhook_id, id FROM (
          SELECT webhook_id, id, row_number() OVER (PARTITION BY webhook_id ORDER BY dead_at DESC, id DESC) AS place
          FROM webhook_messages WHERE dead_at IS NOT NULL
        ) AS ranked WHERE place > ${deadLettersMax})`
    // Of a webhook that was removed while they were queued.
    yield* sql`DELETE FROM webhook_messages WHERE webhook_id NOT IN (SELECT id FROM webhooks)`
  })

  return {
    offer: Effect.fn("WebhookStore.offer")(
      (messages) => inTransaction(sql, offer(messages)),
      asStorageError("WebhookStore.offer")
    ),

    claim: Effect.fn("WebhookStore.claim")(function* (claim) {
      const token = (yield* Secret.draw(16)).toString("hex")
      const rows = yield* lease(claim, token)
      if (rows.length === 0) return []
      const ids = [...new Set(rows.map((row) => row.webhook_id))]
      const endpoints = yield* sql<EndpointRow>`
        SELECT id, url, secret, failures FROM webhooks WHERE ${isOneOf(sql, "id", ids)}`
      const byId = new Map(endpoints.map((endpoint) => [endpoint.id, endpoint]))
      return rows.flatMap(({ attempts, body, event, id, webhook_id }) => {
        const endpoint = byId.get(webhook_id)
        if (endpoint === undefined) return []
        const { failures, secret, url } = endpoint
        return [
          { id, webhookId: webhook_id, event, body, attempt: attempts, url, secret, failures, lease: token }
        ]
      })
    }, asStorageError("WebhookStore.claim")),

    delivered: Effect.fn("WebhookStore.delivered")(function* (delivery) {
      yield* sql`DELETE FROM webhook_messages WHERE ${held(delivery)}`
      if (delivery.failures === 0) return
      yield* sql`UPDATE webhooks SET failures = 0, paused_until = 0 WHERE id = ${delivery.webhookId}`
    }, asStorageError("WebhookStore.delivered")),

    failed: Effect.fn("WebhookStore.failed")(
      (delivery, failure) => inTransaction(sql, fail(delivery, failure)),
      asStorageError("WebhookStore.failed")
    ),

    release: Effect.fn("WebhookStore.release")(function* (delivery) {
      yield* sql`
        UPDATE webhook_messages SET lease = NULL, due_at = ${now}, attempts = attempts - 1 WHERE ${held(delivery)}`
    }, asStorageError("WebhookStore.release")),

    sweep: sweep.pipe(asStorageError("WebhookStore.sweep"), Effect.withSpan("WebhookStore.sweep"))
  } satisfies Partial<typeof WebhookStore.Service>
})
