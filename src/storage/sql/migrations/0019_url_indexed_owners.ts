import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * Owners who look for their links by URL (`reuse`): only their links have a `url_hash`, and with it a place in `links_by_url`. Once an owner is here, new links of theirs get
 * one; those that were there before get theirs in the order of `links_of_owner`, which has come to `seen_at` and `seen_key`, or to its end where `filled`.
 */
export const urlIndexedOwners = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const bytewise = sql.onDialectOrElse({
    orElse: () => sql.literal("TEXT"),
    pg: () => sql.literal(`TEXT COLLATE "C"`)
  })
  yield* sql`CREATE TABLE url_indexed_owners (
    owner ${bytewise} NOT NULL PRIMARY KEY,
    filled BOOLEAN NOT NULL,
    seen_at BIGINT,
    seen_key ${bytewise}
  )`
})
