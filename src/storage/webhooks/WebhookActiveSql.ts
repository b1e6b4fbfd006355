import type { SqlClient, Statement } from "@effect/sql"
import { adminKeyPrefix } from "../../model/Webhook.ts"
import { databaseNow } from "../sql/SqlDialect.ts"

/**
 * Whether a row `w` of `webhooks` stands: its user is there and not disabled, and the API key that made it is, too, and has not expired; or, where a session made it, the user's keys have not been
 * revoked since, all at once. Asked whenever something is queued or sent, so that it does
 * not matter who ends a key, and how.
 */
export const stands = (sql: SqlClient.SqlClient): Statement.Fragment => sql`
  (w.ended_at IS NULL
    AND EXISTS (
      SELECT 1 FROM users u
      WHERE u.id = w.owner AND u.disabled_at IS NULL
        AND (w.key_id IS NOT NULL OR w.created_at > u.webhooks_since))
    AND (w.key_id IS NULL OR w.key_id LIKE ${`${adminKeyPrefix}%`} OR EXISTS (
      SELECT 1 FROM api_keys k
      WHERE k.id = w.key_id AND (k.expires_at IS NULL OR k.expires_at > (SELECT ${databaseNow(sql)})))))`
