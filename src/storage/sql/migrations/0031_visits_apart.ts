import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * For visits in other databases than their links.
 *
 * `visit_removals` (in a database of links) has the subjects of links that are no more, whose visits are still to be forgotten: see `VisitRemovals`. `visits_leaving` has rows of `visit_periods` that are
 * on their way to a database of visits, of one chunk at a time: see `VisitMover`.
 */
export const visitsApart = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const text = sql.onDialectOrElse({
    orElse: () => sql.literal("TEXT"),
    pg: () => sql.literal(`TEXT COLLATE "C"`)
  })
  yield* sql`CREATE TABLE visit_removals (
    bucket SMALLINT NOT NULL,
    subject ${text} NOT NULL,
    PRIMARY KEY (bucket, subject)
  )`
  yield* sql`CREATE TABLE visits_leaving (
    chunk BIGINT NOT NULL,
    subject ${text} NOT NULL,
    grain SMALLINT NOT NULL,
    hour INTEGER NOT NULL,
    non_bots BIGINT NOT NULL,
    bots BIGINT NOT NULL,
    by_value TEXT NOT NULL,
    PRIMARY KEY (subject, grain, hour)
  )`
})
