import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * Moves of buckets between databases: see `BucketMover`.
 *
 * `bucket_moves` (in the control database) has all of them, at most one of which is not over. `bucket_marks` is replicated with a move's rows and shows how far the target has come.
 * A row of `bucket_leftovers` lets a move delete its rows from the database that it is in.
 */
export const bucketMoves = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE bucket_moves (
    id BIGINT NOT NULL PRIMARY KEY,
    home_from SMALLINT NOT NULL,
    home_to SMALLINT NOT NULL,
    buckets TEXT NOT NULL,
    step TEXT NOT NULL,
    rolled_day INTEGER NOT NULL DEFAULT 0,
    rolled_month INTEGER NOT NULL DEFAULT 0,
    snapshot TEXT,
    begun_at BIGINT NOT NULL,
    ended_at BIGINT
  )`
  yield* sql`CREATE TABLE bucket_marks (move BIGINT NOT NULL PRIMARY KEY, mark BIGINT NOT NULL)`
  yield* sql`CREATE TABLE bucket_leftovers (move BIGINT NOT NULL PRIMARY KEY)`
})
