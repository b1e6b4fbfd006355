import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * Hashes without a key, from which passwords and addresses could be found, go. Quotas begin again. Guards of creates stay, since without them a repeat would make a second
 * link: their fingerprint is empty, which matches any body.
 */
export const keyedHashes = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DELETE FROM quotas`
  yield* sql`UPDATE create_guards SET fingerprint = ''`
})
