import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/** How far the database has come, to be compared with what is remembered outside of it, and when it was found to have forgotten something. */
export const databaseMark = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE database_mark (
    id INTEGER NOT NULL PRIMARY KEY,
    mark BIGINT NOT NULL,
    lineage BIGINT NOT NULL,
    moved_at BIGINT NOT NULL
  )`
  yield* sql`INSERT INTO database_mark (id, mark, lineage, moved_at) VALUES (1, 0, 0, 0)`
  yield* sql`CREATE TABLE database_regressions (
    lineage BIGINT NOT NULL PRIMARY KEY,
    noticed_at BIGINT NOT NULL,
    since BIGINT NOT NULL,
    mark BIGINT NOT NULL,
    witnessed BIGINT NOT NULL,
    skipped BIGINT NOT NULL,
    dropped BIGINT NOT NULL
  )`
})
