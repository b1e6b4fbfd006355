import {
  hostOf,
  type MessageType,
  type Webhook,
  type WebhookEvent,
  type WebhookState
} from "../../model/Webhook.ts"
import type { DeadLetter, WebhookStatus } from "./WebhookStore.ts"

/** A row of `webhooks`, and how it stands. BIGINT comes as a string from `pg` and as a number from libSQL. */
export interface WebhookRow {
  readonly id: string
  readonly owner: string
  readonly key_id: string | null
  readonly url: string
  readonly events: string
  readonly secret: string
  readonly created_at: string | number
  readonly status: WebhookState
  readonly failures: number
  readonly last_failure: string | null
  readonly dropped: string | number
  readonly waiting: string | number
  readonly dead: string | number
}

/** The events of a row. */
export const eventsOf = ({ events }: { readonly events: string }): ReadonlyArray<WebhookEvent> =>
  JSON.parse(events) as ReadonlyArray<WebhookEvent>

/** A webhook as a row's values. */
export const valuesOf = ({ createdAt, events, id, keyId, owner, secret, url }: Webhook) => ({
  id,
  owner,
  key_id: keyId,
  url,
  host: hostOf(url),
  events: JSON.stringify(events),
  secret,
  created_at: createdAt
})

/** The webhook of a row. What waits for one that has ended counts as dropped, as it will be. */
export const webhookOf = (row: WebhookRow): WebhookStatus => {
  const waiting = Number(row.waiting)
  const hasEnded = row.status === "ended"
  return {
    id: row.id,
    owner: row.owner,
    keyId: row.key_id,
    url: row.url,
    events: eventsOf(row),
    secret: row.secret,
    createdAt: Number(row.created_at),
    status: row.status,
    failures: row.failures,
    lastFailure: row.last_failure,
    dropped: Number(row.dropped) + (hasEnded ? waiting : 0),
    pending: hasEnded ? 0 : waiting,
    deadLetters: Number(row.dead)
  }
}

/** A row of `webhook_messages` that is dead. */
export interface DeadLetterRow {
  readonly id: string
  readonly event: MessageType
  readonly events: number
  readonly queued_at: string | number
  readonly dead_at: string | number
  readonly attempts: number
  readonly reason: string
}

/** The dead letter of a row. */
export const deadLetterOf = (row: DeadLetterRow): DeadLetter => ({
  id: row.id,
  event: row.event,
  events: row.events,
  queuedAt: Number(row.queued_at),
  failedAt: Number(row.dead_at),
  attempts: row.attempts,
  reason: row.reason
})
