import type { Webhook, WebhookEvent } from "../Webhook.ts"
import type { DeadLetter, WebhookStatus } from "./WebhookStore.ts"

/** A row of `webhooks`. BIGINT comes as a string from `pg` and as a number from libSQL. */
export interface WebhookRow {
  readonly id: string
  readonly owner: string
  readonly url: string
  readonly events: string
  readonly secret: string
  readonly created_at: string | number
  readonly failures: number
  readonly dropped: string | number
  readonly pending: string | number
  readonly dead: string | number
}

/** The events of a row. */
export const eventsOf = ({ events }: { readonly events: string }): ReadonlyArray<WebhookEvent> =>
  JSON.parse(events) as ReadonlyArray<WebhookEvent>

/** A webhook as a row's values. */
export const valuesOf = ({ createdAt, events, id, owner, secret, url }: Webhook) => ({
  id,
  owner,
  url,
  events: JSON.stringify(events),
  secret,
  created_at: createdAt
})

/** The webhook of a row. */
export const webhookOf = (row: WebhookRow): WebhookStatus => ({
  id: row.id,
  owner: row.owner,
  url: row.url,
  events: eventsOf(row),
  secret: row.secret,
  createdAt: Number(row.created_at),
  failures: row.failures,
  dropped: Number(row.dropped),
  pending: Number(row.pending),
  deadLetters: Number(row.dead)
})

/** A row of `webhook_messages` that is dead. */
export interface DeadLetterRow {
  readonly id: string
  readonly event: WebhookEvent
  readonly queued_at: string | number
  readonly dead_at: string | number
  readonly attempts: number
  readonly reason: string
}

/** The dead letter of a row. */
export const deadLetterOf = (row: DeadLetterRow): DeadLetter => ({
  id: row.id,
  event: row.event,
  queuedAt: Number(row.queued_at),
  failedAt: Number(row.dead_at),
  attempts: row.attempts,
  reason: row.reason
})
