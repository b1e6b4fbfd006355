import { SqlClient, Statement } from "@effect/sql"
import { expect, it } from "@effect/vitest"
import { Duration, Effect, Layer } from "effect"
import { describe } from "vitest"
import { VisitStore } from "../../../src/storage/visits/VisitStore.ts"
import * as VisitStoreSql from "../../../src/storage/visits/VisitStoreSql.ts"
import { dayHours, hour_ms } from "../../../src/model/Visit.ts"
import { onEveryDatabase } from "../../support/Stores.ts"

const link = "hot@m1"
const visits = 10_000_000
const firstHour = Date.parse("2024-10-10T00:00Z") / hour_ms
const days = 730
const end = firstHour + days * dayHours
/** From here on there are hours still. */
const firstKeptHour = end - 35 * dayHours
/** Months, the days before and after them, and the last two days' hours. */
const range = { subject: link, from: firstHour, to: end }

/** Different values that a period of the link has in each dimension, and of how many: many referrers, from all over the world. */
const values = [
  { dimension: 0, kept: 50, all: 3_000 },
  { dimension: 1, kept: 50, all: 180 },
  { dimension: 2, kept: 15, all: 20 },
  { dimension: 3, kept: 9, all: 10 },
  { dimension: 4, kept: 4, all: 4 }
]

/** The days of two years but the last two, which are hours only, and the hours of the last weeks; of 100 other links hours and months. */
const fill = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const store = yield* VisitStore
  const numbers = (count: number) =>
    `WITH RECURSIVE counted (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM counted WHERE n + 1 < ${count})`
  const perHour = Math.floor(visits / (days * dayHours))
  const rolledUp = end - 2 * dayHours
  yield* sql.unsafe(`CREATE TEMPORARY TABLE filled (grain INTEGER, hour INTEGER, visits INTEGER)`)
  yield* sql.unsafe(`INSERT INTO filled ${numbers(days - 2)}
    SELECT 1, ${firstHour} + n * 24, ${perHour * dayHours} FROM counted`)
  yield* sql.unsafe(`INSERT INTO filled ${numbers(end - firstKeptHour)}
    SELECT 0, ${firstKeptHour} + n, ${perHour} FROM counted`)
  yield* sql.unsafe(`CREATE TEMPORARY TABLE kinds (dimension INTEGER, n INTEGER, all_values INTEGER)`)
  for (const { all, dimension, kept } of values) {
    yield* sql.unsafe(`INSERT INTO kinds ${numbers(kept)} SELECT ${dimension}, n, ${all} FROM counted`)
  }
  const object = sql.onDialectOrElse({ orElse: () => "json_group_object", pg: () => "jsonb_object_agg" })
  yield* sql.unsafe(`INSERT INTO visit_periods (subject, grain, hour, non_bots, bots, by_value)
    SELECT '${link}', grain, hour, visits - visits / 4, visits / 4, (
      SELECT ${object}(dimension || 'value-' || ((hour * 31 + n * n) % all_values) || '-' || n || '.example',
                       visits / (n + 3) + 1) FROM kinds)
    FROM filled`)
  yield* sql.unsafe(`INSERT INTO visit_periods (subject, grain, hour, non_bots, bots, by_value)
    ${numbers(100)}
    SELECT 'other' || n || '@m1', grain, hour, 3, 0, '{"0direct":3,"1SE":3,"2Firefox":3,"3Linux":3,"4desktop":3}'
    FROM filled CROSS JOIN counted WHERE hour >= ${firstKeptHour}`)
  yield* sql.unsafe(`INSERT INTO visit_periods (subject, grain, hour, non_bots, bots)
    ${numbers(100)}
    SELECT 'other' || n || '@m1', 2, hour, 3, 0
    FROM filled CROSS JOIN counted WHERE grain = 1 AND (hour - ${firstHour}) % ${30 * dayHours} = 0`)
  yield* sql`INSERT INTO visit_rolled VALUES (1, ${rolledUp}, ${rolledUp}, '')`
  yield* Effect.repeat(store.rollUp(rolledUp, 1_000), { until: (more) => !more })
  yield* sql.onDialectOrElse({ orElse: () => Effect.void, pg: () => sql`ANALYZE` })
})

/** The plans of all statements that an effect runs, as text. */
const plansOf = (sql: SqlClient.SqlClient, effect: Effect.Effect<unknown, unknown>) =>
  Effect.gen(function* () {
    const plans: Array<string> = []
    let explaining = false
    const explained = Statement.withTransformer(effect, (statement) =>
      explaining
        ? Effect.succeed(statement)
        : Effect.gen(function* () {
            explaining = true
            const rows = yield* sql.onDialectOrElse({
              orElse: () => sql`EXPLAIN QUERY PLAN ${statement}`,
              pg: () => sql`EXPLAIN ${statement}`
            })
            explaining = false
            plans.push(...rows.flatMap((row) => Object.values(row).map(String)))
            return statement
          }).pipe(Effect.orDie)
    )
    yield* explained
    return plans
  })

/** The answer is to come within 100 ms; this is for a machine that does other things as well. */
const answerMax_ms = 1_000
const tries = 5

onEveryDatabase((client) => {
  describe("visits of a link with 10 million of them over two years", () => {
    it.live(
      "are told within 100 ms, by the index of the primary key",
      () =>
        Effect.gen(function* () {
          yield* fill
          const sql = yield* SqlClient.SqlClient
          const store = yield* VisitStore
          const ask = Effect.all([store.series(range, "day"), store.top(range, 20)])

          const [series, top] = yield* ask
          expect(series).toHaveLength(days)
          expect(series.reduce((sum, { bots, nonBots }) => sum + bots + nonBots, 0)).toBeGreaterThan(
            9_900_000
          )
          expect(top).toHaveLength(4 * 20 + 16)

          const times = yield* Effect.replicateEffect(Effect.timed(ask), tries)
          const fastest_ms = Math.min(...times.map(([duration]) => Duration.toMillis(duration)))
          expect(fastest_ms).toBeLessThan(answerMax_ms)

          const plans = yield* plansOf(sql, ask)
          const isIndexed = sql.onDialectOrElse({
            orElse: () => /^SEARCH .* PRIMARY KEY \(subject=\? AND grain=\? AND hour>\? AND hour<\?\)$/,
            pg: () => /(?:using|Bitmap Index Scan on) visit_\w+_pkey|Bitmap Heap Scan on visit_/
          })
          const reads = plans.filter((line) => /(?:SCAN|SEARCH|Scan).* visit_periods/.test(line))
          expect(reads.length).toBeGreaterThanOrEqual(4)
          for (const line of reads) expect(line).toMatch(isIndexed)
        }).pipe(Effect.provide(Layer.provideMerge(VisitStoreSql.layer, client))),
      120_000
    )
  })
})
