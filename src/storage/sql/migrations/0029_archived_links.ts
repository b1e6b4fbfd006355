import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * What finds archived links, and tells at once that there are none: `links_of_owner` and `links_by_age` for them alone. A link that is not archived takes no place in them.
 *
 * Writers wait while PostgreSQL reads the table once. It sorts nothing, since no link is archived yet.
 */
export const archivedLinks = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const isArchived = sql.onDialectOrElse({
    orElse: () => sql.literal("deleted_at IS NULL AND (extras ->> 'archived') IS NOT NULL"),
    pg: () => sql.literal("deleted_at IS NULL AND (extras::jsonb ->> 'archived') IS NOT NULL")
  })
  yield* sql`CREATE INDEX archived_links_of_owner ON links (owner, created_at, key) WHERE owner IS NOT NULL AND ${isArchived}`
  yield* sql`CREATE INDEX archived_links_by_age ON links (created_at, key) WHERE ${isArchived}`
})
