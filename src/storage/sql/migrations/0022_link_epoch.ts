import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/** How often buckets have left this database: see `LinkEpoch`. */
export const linkEpoch = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE link_epoch (
    id INTEGER NOT NULL PRIMARY KEY,
    epoch BIGINT NOT NULL
  )`
  yield* sql`INSERT INTO link_epoch (id, epoch) VALUES (1, 0)`
})
