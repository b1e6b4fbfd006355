import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/** Leaves of each `url_hash` what `urlHash` gives now: the first 64 of its 256 bits. */
export const shortUrlHashes = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE links SET url_hash = substr(url_hash, 1, 16) WHERE url_hash IS NOT NULL`
})
