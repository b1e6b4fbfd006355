import type { SqlClient, Statement } from "@effect/sql"
import { adminKeyPrefix, hostOf, type Webhook, type WebhookEvent } from "../../model/Webhook.ts"
import { databaseMoment } from "../sql/SqlDialect.ts"
import type { WebhookStatus } from "./WebhookStore.ts"

/** A row of `webhooks`, its status, and how many dead letters it has. */
export interface WebhookRow extends Omit<WebhookStatus, "deadLetters" | "events" | "pending"> {
  readonly events: string
  readonly waiting: number
  readonly dead: number
}

/** The events of a row. */
export const eventsOf = ({ events }: { readonly events: string }): ReadonlyArray<WebhookEvent> =>
  JSON.parse(events) as ReadonlyArray<WebhookEvent>

/** A webhook as a row's values. */
export const valuesOf = ({ createdAt, events, keyId, ...webhook }: Webhook) => ({
  ...webhook,
  key_id: keyId,
  host: hostOf(webhook.url),
  events: JSON.stringify(events),
  created_at: createdAt
})

/** The webhook of a row. What waits for one that has ended counts as dropped: it is going to be. */
export const webhookOf = ({ dead, dropped, waiting, ...row }: WebhookRow): WebhookStatus => {
  const hasEnded = row.status === "ended"
  return {
    ...row,
    events: eventsOf(row),
    dropped: dropped + (hasEnded ? waiting : 0),
    pending: hasEnded ? 0 : waiting,
    deadLetters: dead
  }
}

/**
 * Whether a row `w` of `webhooks` has not ended: its user exists and is not disabled, and so does the API key that made it, which has not expired; or, where a session made it, the user's
 * keys have not all been revoked since. Every statement that queues or sends asks this, so that it does not matter who ends a key, and how.
 */
export const notEnded = (sql: SqlClient.SqlClient): Statement.Fragment => sql`
  (w.ended_at IS NULL
    AND EXISTS (
      SELECT 1 FROM users u
      WHERE u.id = w.owner AND u.disabled_at IS NULL
        AND (w.key_id IS NOT NULL OR w.created_at > u.webhooks_since))
    AND (w.key_id IS NULL OR w.key_id LIKE ${`${adminKeyPrefix}%`} OR EXISTS (
      SELECT 1 FROM api_keys k
      WHERE k.id = w.key_id AND (k.expires_at IS NULL OR k.expires_at > ${databaseMoment(sql)}))))`
