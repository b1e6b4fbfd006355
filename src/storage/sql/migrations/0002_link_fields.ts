import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * What owners say of their links, and the indices by which links are listed and found again.
 *
 * `tags` is a JSON array. `title_folded` is the title in lower case, for searches: the databases fold other letters than ASCII differently, or not
 * at all. `url_hash` is that of `urlHash`, by which an owner's link of a URL is found. `update_ids` is a JSON array of the newest changes' ids,
 * `visit_takes` one of the newest takes of visits.
 */
export const linkFields = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const json = sql.onDialectOrElse({ orElse: () => sql.literal("TEXT"), pg: () => sql.literal("JSONB") })
  const bytewise = sql.onDialectOrElse({
    orElse: () => sql.literal("TEXT"),
    pg: () => sql.literal(`TEXT COLLATE "C"`)
  })
  const columns = [
    sql`owner ${bytewise}`,
    sql`title TEXT`,
    sql`title_folded TEXT`,
    sql`tags ${json} NOT NULL DEFAULT '[]'`,
    sql`valid_since BIGINT`,
    sql`max_visits BIGINT`,
    sql`visits_left BIGINT`,
    sql`password_hash TEXT`,
    sql`redirect_status SMALLINT NOT NULL DEFAULT 302`,
    sql`forward_query BOOLEAN NOT NULL DEFAULT FALSE`,
    sql`crawlable BOOLEAN NOT NULL DEFAULT FALSE`,
    sql`url_hash ${bytewise}`,
    sql`update_ids ${json} NOT NULL DEFAULT '[]'`,
    sql`visit_takes ${json} NOT NULL DEFAULT '[]'`
  ]
  yield* Effect.forEach(columns, (column) => sql`ALTER TABLE links ADD COLUMN ${column}`, { discard: true })

  // Anonymous links, which are the many, cost the second index alone.
  yield* sql`CREATE INDEX links_of_owner ON links (owner, created_at, key) WHERE owner IS NOT NULL AND deleted_at IS NULL`
  yield* sql`CREATE INDEX links_by_age ON links (created_at, key) WHERE deleted_at IS NULL`
  yield* sql`CREATE INDEX links_for_crawlers ON links (created_at, key) WHERE crawlable AND deleted_at IS NULL`
  yield* sql`CREATE INDEX links_by_url ON links (url_hash) WHERE url_hash IS NOT NULL AND deleted_at IS NULL`
})
