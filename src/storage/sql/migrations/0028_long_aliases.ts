import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/** The numbers of the domains that may have aliases of several segments, in JSON. None is ever taken away. Their change raises the version. */
export const longAliases = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE domain_version ADD COLUMN long_aliases_in TEXT NOT NULL DEFAULT '[]'`
})
