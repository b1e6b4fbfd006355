import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * Visits of subjects: in all, by period, and by period and value of a dimension. A period is of a grain (0 hour, 1 day, 2 month) and begins at an
 * hour, in whole hours since the Unix epoch. Days are made of hours and months of days once they are over: `visit_rolled` tells up
 * to which hour that is done, and which row of the finer grain was the last one seen.
 *
 * `visit_writers` has the last batch that each process wrote, so that none is counted twice.
 */
export const visits = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const text = sql.onDialectOrElse({
    orElse: () => sql.literal("TEXT"),
    pg: () => sql.literal(`TEXT COLLATE "C"`)
  })
  const table = sql.onDialectOrElse({ orElse: () => sql.literal("WITHOUT ROWID"), pg: () => sql.literal("") })

  yield* sql`CREATE TABLE visit_totals (
    subject ${text} NOT NULL PRIMARY KEY,
    non_bots BIGINT NOT NULL,
    bots BIGINT NOT NULL
  ) ${table}`

  yield* sql`CREATE TABLE visit_periods (
    subject ${text} NOT NULL,
    grain SMALLINT NOT NULL,
    hour INTEGER NOT NULL,
    non_bots BIGINT NOT NULL,
    bots BIGINT NOT NULL,
    PRIMARY KEY (subject, grain, hour)
  ) ${table}`
  // All subjects of a period, for what is done when it is over or too old.
  yield* sql`CREATE INDEX visit_periods_by_time ON visit_periods (grain, hour, subject)`

  yield* sql`CREATE TABLE visit_values (
    subject ${text} NOT NULL,
    grain SMALLINT NOT NULL,
    hour INTEGER NOT NULL,
    dimension SMALLINT NOT NULL,
    value ${text} NOT NULL,
    visits BIGINT NOT NULL,
    PRIMARY KEY (subject, grain, hour, dimension, value)
  ) ${table}`

  yield* sql`CREATE TABLE visit_rolled (
    grain SMALLINT NOT NULL PRIMARY KEY,
    hour INTEGER NOT NULL,
    seen_hour INTEGER NOT NULL,
    seen_subject ${text} NOT NULL
  ) ${table}`

  yield* sql`CREATE TABLE visit_writers (
    writer ${text} NOT NULL PRIMARY KEY,
    sequence BIGINT NOT NULL,
    written_at BIGINT NOT NULL
  ) ${table}`
})
