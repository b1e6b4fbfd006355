import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * What is counted of the visitors of an hour and of a day, beside their visits: see `VisitorsSql`. The default is that of nothing, so that rows stay as they are; nodes of the former version count no visitors.
 */
export const visitors = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const column = sql.onDialectOrElse({
    orElse: () => sql.literal("TEXT NOT NULL DEFAULT '[]'"),
    pg: () => sql.literal("INTEGER[] NOT NULL DEFAULT '{}'")
  })
  yield* sql`ALTER TABLE visit_periods ADD COLUMN visitors ${column}`
  yield* sql`ALTER TABLE visits_leaving ADD COLUMN visitors ${column}`
})
