import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/** Which database has which links, by bucket. A bucket without a row is in database 0, and a database without a row has epoch 0. */
export const bucketPlacement = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE bucket_placement (
    bucket SMALLINT NOT NULL PRIMARY KEY,
    home SMALLINT NOT NULL,
    moving_to SMALLINT
  )`
  yield* sql`CREATE TABLE bucket_homes (
    home SMALLINT NOT NULL PRIMARY KEY,
    epoch BIGINT NOT NULL
  )`
})
