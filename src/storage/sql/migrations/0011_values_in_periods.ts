import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * Visits by value stand in the row of their period, as one text, rather than in a row each: a JSON object of visits, by the dimension's number and the
 * value in one. One statement, which has one row at a time in hand.
 */
export const valuesInPeriods = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const objectOf = sql.onDialectOrElse({
    orElse: () => sql.literal("json_group_object(dimension || value, visits)"),
    pg: () => sql.literal("jsonb_object_agg(dimension::text || value, visits)::text")
  })
  yield* sql`ALTER TABLE visit_periods ADD COLUMN by_value TEXT NOT NULL DEFAULT '{}'`
  yield* sql`UPDATE visit_periods SET by_value = coalesce((
      SELECT ${objectOf} FROM visit_values
      WHERE visit_values.subject = visit_periods.subject AND visit_values.grain = visit_periods.grain
        AND visit_values.hour = visit_periods.hour
    ), '{}')`
  yield* sql`DROP TABLE visit_values`
})
