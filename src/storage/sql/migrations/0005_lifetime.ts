import { SqlClient } from "@effect/sql"
import { Effect } from "effect"
import { databaseNow } from "../SqlDialect.ts"

/**
 * When a link became a tombstone, by the database's own clock, and the indices by which the sweep finds what is due. A tombstone of before counts
 * from this migration.
 */
export const lifetime = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE links ADD COLUMN ended_at BIGINT`
  yield* sql`UPDATE links SET ended_at = ${databaseNow(sql)} WHERE deleted_at IS NOT NULL`
  yield* sql`CREATE INDEX links_by_expiry ON links (expires_at) WHERE expires_at IS NOT NULL AND deleted_at IS NULL`
  yield* sql`CREATE INDEX links_by_end ON links (ended_at) WHERE ended_at IS NOT NULL`
})
