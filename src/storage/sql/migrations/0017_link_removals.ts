import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/** Owners who are gone, and whose links are to be deleted. */
export const linkRemovals = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE link_removals (owner TEXT NOT NULL PRIMARY KEY, asked_at BIGINT NOT NULL)`
})
