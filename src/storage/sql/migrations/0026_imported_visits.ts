import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/** What was counted of a link before it came here: see `Link.importedVisits`. Links of nodes of the former version have none. */
export const importedVisits = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE links ADD COLUMN imported_visits TEXT`
})
