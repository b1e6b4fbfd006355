import { SqlClient } from "@effect/sql"
import { Effect } from "effect"
import { grains, segmentsOf } from "../../visits/VisitPeriods.ts"

/** The number that such rows have for a grain, as in `VisitStoreSql`. */
const late = 3

/**
 * Totals are the sums of periods. What a subject's total has beyond that, which was written to days that were rolled up, goes into a row of its own.
 *
 * On PostgreSQL `visit_totals` stays, which nodes of the former version write and read as long as there are any; a later migration may drop it. The order of their transactions does not
 * matter here, since each of them writes the same to both tables.
 */
export const totalsFromPeriods = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rolled = yield* sql<{ grain: number; hour: number }>`SELECT grain, hour FROM visit_rolled`
  const hourOf = (grain: (typeof grains)[number]) =>
    rolled.find((row) => row.grain === grains.indexOf(grain))?.hour ?? 0
  const segments = segmentsOf("month", 0, 2 ** 31 - 1, { day: hourOf("day"), month: hourOf("month") })
  const periods = sql.join(
    " UNION ALL ",
    false
  )(
    segments.map(
      ({ from, grain, to }) => sql`SELECT subject, non_bots, bots FROM visit_periods
        WHERE grain = ${grains.indexOf(grain)} AND hour >= ${from} AND hour < ${to}`
    )
  )
  yield* sql`
    INSERT INTO visit_periods (subject, grain, hour, non_bots, bots)
    SELECT subject, ${sql.literal(String(late))}, 0, CAST(sum(non_bots) AS BIGINT), CAST(sum(bots) AS BIGINT)
    FROM (SELECT subject, non_bots, bots FROM visit_totals
          UNION ALL SELECT subject, -non_bots, -bots FROM (${periods}) AS periods) AS counts
    GROUP BY subject HAVING sum(non_bots) > 0 OR sum(bots) > 0`

  // Whoever writes to a day that is over locks this row, which has to be there.
  yield* sql`INSERT INTO visit_rolled (grain, hour, seen_hour, seen_subject) VALUES (1, 0, 0, '') ON CONFLICT DO NOTHING`
  yield* sql.onDialectOrElse({ orElse: () => sql`DROP TABLE visit_totals`, pg: () => Effect.void })
})
