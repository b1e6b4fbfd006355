import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * Sessions tell when they were used, and by what browser. A password that its user did not choose is temporary; and of the webhooks that were made in a session, those that are no newer
 * than `webhooks_since` do not stand.
 */
export const sessions = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const no = sql.onDialectOrElse({ orElse: () => sql.literal("0"), pg: () => sql.literal("FALSE") })
  yield* sql`ALTER TABLE users ADD COLUMN password_temporary BOOLEAN NOT NULL DEFAULT ${no}`
  yield* sql`ALTER TABLE users ADD COLUMN webhooks_since BIGINT NOT NULL DEFAULT 0`
  yield* sql`ALTER TABLE sessions ADD COLUMN last_used_at BIGINT NOT NULL DEFAULT 0`
  yield* sql`ALTER TABLE sessions ADD COLUMN browser TEXT NOT NULL DEFAULT 'unknown'`
  yield* sql`ALTER TABLE sessions ADD COLUMN os TEXT NOT NULL DEFAULT 'unknown'`
  yield* sql`UPDATE sessions SET last_used_at = created_at`
})
