import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * What tells PostgreSQL how many links are archived. Without it, it takes 99.5 % of all links for archived, whatever their index says, and may look for an owner's few among all that the owner has.
 *
 * Reads a sample of the table, as each ANALYZE does, and nobody waits for it. A table without links is left alone: PostgreSQL plans for some growth as long as it has never looked.
 */
export const archivedStatistics = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const statistics = Effect.gen(function* () {
    yield* sql`CREATE STATISTICS archived_links ON (extras::jsonb ->> 'archived') FROM links`
    const some = yield* sql`SELECT 1 FROM links LIMIT 1`
    if (some.length > 0) yield* sql`ANALYZE links`
  })
  yield* sql.onDialectOrElse({ orElse: () => Effect.void, pg: () => statistics })
})
