import { SqlClient } from "@effect/sql"
import { Array, Effect, Layer } from "effect"
import { type Dimension, dimensions, valuesMax } from "../Visit.ts"
import { isOneOf } from "./SqlDialect.ts"
import { rowsOf } from "./SqlRows.ts"
import { asStorageError, inTransaction } from "./SqlTransaction.ts"
import { grains, type Segment, segmentsOf } from "./VisitPeriods.ts"
import * as VisitRollUpSql from "./VisitRollUpSql.ts"
import { type HourCount, type VisitBatch, VisitStore } from "./VisitStore.ts"

/** BIGINT and sums come as strings from `pg` and as numbers from libSQL. */
type Count = number | string

const numberOf = Object.fromEntries(dimensions.map((dimension, index) => [dimension, index])) as Readonly<
  Record<Dimension, number>
>

const inOrder = (hours: ReadonlyArray<HourCount>) =>
  hours.toSorted((a, b) => (a.subject === b.subject ? a.hour - b.hour : a.subject < b.subject ? -1 : 1))

const totalsOf = (hours: ReadonlyArray<HourCount>) => {
  const totals = new Map<string, { subject: string; nonBots: number; bots: number }>()
  for (const { bots, nonBots, subject } of hours) {
    const total = totals.get(subject) ?? { subject, nonBots: 0, bots: 0 }
    totals.set(subject, { subject, nonBots: total.nonBots + nonBots, bots: total.bots + bots })
  }
  return [...totals.values()]
}

const subjectColumn = (rows: ReadonlyArray<{ readonly subject: string }>) =>
  ["text", rows.map(({ subject }) => subject)] as const

const hourColumn = (rows: ReadonlyArray<{ readonly hour: number }>) =>
  ["integer", rows.map(({ hour }) => hour)] as const

const countColumns = (rows: ReadonlyArray<{ readonly nonBots: number; readonly bots: number }>) => ({
  non_bots: ["bigint", rows.map(({ nonBots }) => nonBots)] as const,
  bots: ["bigint", rows.map(({ bots }) => bots)] as const
})

/** Adds a batch's hours, one statement a table, each in the order of the rows' keys, so that two nodes wait for each other and never deadlock. */
const makeAdd = (sql: SqlClient.SqlClient) => {
  const totals = (hours: ReadonlyArray<HourCount>) => {
    const rows = totalsOf(hours)
    return sql`
      INSERT INTO visit_totals (subject, non_bots, bots)
      SELECT subject, non_bots, bots
      FROM ${rowsOf(sql, { subject: subjectColumn(rows), ...countColumns(rows) })} AS added WHERE true
      ON CONFLICT (subject) DO UPDATE
      SET non_bots = visit_totals.non_bots + excluded.non_bots, bots = visit_totals.bots + excluded.bots`
  }

  const periods = (hours: ReadonlyArray<HourCount>) => {
    const added = { subject: subjectColumn(hours), hour: hourColumn(hours), ...countColumns(hours) }
    return sql`
      INSERT INTO visit_periods (subject, grain, hour, non_bots, bots)
      SELECT subject, 0, hour, non_bots, bots FROM ${rowsOf(sql, added)} AS added WHERE true
      ON CONFLICT (subject, grain, hour) DO UPDATE
      SET non_bots = visit_periods.non_bots + excluded.non_bots, bots = visit_periods.bots + excluded.bots`
  }

  /** Values that an hour does not have yet come in while there is room, the most frequent first. */
  const values = (hours: ReadonlyArray<HourCount>) => {
    const rows = hours.flatMap(({ hour, subject, values }) =>
      values.map((value) => ({ ...value, subject, hour }))
    )
    const added = rowsOf(sql, {
      subject: subjectColumn(rows),
      hour: hourColumn(rows),
      dimension: ["smallint", rows.map(({ dimension }) => numberOf[dimension])],
      value: ["text", rows.map(({ value }) => value)],
      visits: ["bigint", rows.map(({ visits }) => visits)]
    })
    return sql`
      INSERT INTO visit_values (subject, grain, hour, dimension, value, visits)
      SELECT subject, 0, hour, dimension, value, visits FROM (
        SELECT added.subject, added.hour, added.dimension, added.value, added.visits,
               kept.visits IS NOT NULL AS is_kept,
               row_number() OVER (PARTITION BY added.subject, added.hour, added.dimension, kept.visits IS NULL
                                  ORDER BY added.visits DESC, added.value) AS place
        FROM ${added} AS added
        LEFT JOIN visit_values AS kept
          ON kept.subject = added.subject AND kept.grain = 0 AND kept.hour = added.hour
          AND kept.dimension = added.dimension AND kept.value = added.value
      ) AS ranked
      WHERE is_kept OR place + (
        SELECT count(*) FROM visit_values AS present
        WHERE present.subject = ranked.subject AND present.grain = 0 AND present.hour = ranked.hour
          AND present.dimension = ranked.dimension
      ) <= ${valuesMax}
      ORDER BY subject, hour, dimension, value
      ON CONFLICT (subject, grain, hour, dimension, value) DO UPDATE
      SET visits = visit_values.visits + excluded.visits`
  }

  return (hours: ReadonlyArray<HourCount>) =>
    Effect.gen(function* () {
      yield* totals(hours)
      yield* periods(hours)
      if (hours.some(({ values }) => values.length > 0)) yield* values(hours)
    })
}

/** Subjects that are forgotten in one transaction: each can have thousands of rows. */
const forgottenAtOnceMax = 20

/** `VisitStore` on SQLite and PostgreSQL. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const add = makeAdd(sql)
  const { drop, rolledUp, rollUp } = VisitRollUpSql.make(sql)

  const subjectsIn = (subjects: ReadonlyArray<string>) => isOneOf(sql, "subject", subjects)

  /** Takes note of the batch, unless its writer has written it before. The note is locked until the transaction ends. */
  const isNew = ({ at, sequence, writer }: VisitBatch) =>
    Effect.map(
      sql`INSERT INTO visit_writers (writer, sequence, written_at) VALUES (${writer}, ${sequence}, ${at})
          ON CONFLICT (writer) DO UPDATE SET sequence = excluded.sequence, written_at = excluded.written_at
          WHERE visit_writers.sequence < excluded.sequence RETURNING writer`,
      (rows) => rows.length > 0
    )

  /** The rows of a subject in segments. Each is a range of the primary key, which a condition that joins them by OR would not be to the planner. */
  const within = (table: string, columns: string, subject: string, segments: ReadonlyArray<Segment>) =>
    sql.join(
      " UNION ALL ",
      false
    )(
      segments.map(
        ({ from, grain, to }) => sql`SELECT ${sql.literal(columns)} FROM ${sql(table)}
          WHERE subject = ${subject} AND grain = ${grains.indexOf(grain)} AND hour >= ${from} AND hour < ${to}`
      )
    )

  return VisitStore.of({
    write: Effect.fn("VisitStore.write")(function* (batch) {
      const hours = inOrder(batch.hours)
      yield* inTransaction(sql, Effect.whenEffect(add(hours), isNew(batch)))
    }, asStorageError("VisitStore.write")),
    totals: Effect.fn("VisitStore.totals")(function* (subjects) {
      const rows = yield* sql<{ subject: string; non_bots: Count; bots: Count }>`
        SELECT subject, non_bots, bots FROM visit_totals WHERE ${subjectsIn(subjects)}`
      const totals = new Map(
        rows.map((row) => [row.subject, { nonBots: Number(row.non_bots), bots: Number(row.bots) }])
      )
      return subjects.map((subject) => totals.get(subject) ?? { nonBots: 0, bots: 0 })
    }, asStorageError("VisitStore.totals")),
    series: Effect.fn("VisitStore.series")(function* ({ from, subject, to }, interval) {
      const segments = segmentsOf(interval, from, to, yield* rolledUp)
      if (segments.length === 0) return []
      const point = sql.literal(interval === "hour" ? "hour" : "hour - hour % 24")
      const rows = yield* sql<{ point: number; non_bots: Count; bots: Count }>`
        SELECT ${point} AS point, sum(non_bots) AS non_bots, sum(bots) AS bots
        FROM (${within("visit_periods", "hour, non_bots, bots", subject, segments)}) AS periods
        GROUP BY 1 ORDER BY 1`
      return rows.map((row) => ({
        hour: row.point,
        nonBots: Number(row.non_bots),
        bots: Number(row.bots)
      }))
    }, asStorageError("VisitStore.series")),
    top: Effect.fn("VisitStore.top")(function* ({ from, subject, to }, max) {
      const segments = segmentsOf("month", from, to, yield* rolledUp)
      if (segments.length === 0) return []
      const rows = yield* sql<{ dimension: number; value: string; visits: Count }>`
        SELECT dimension, value, visits FROM (
          SELECT dimension, value, sum(visits) AS visits,
                 row_number() OVER (PARTITION BY dimension ORDER BY sum(visits) DESC, value) AS place
          FROM (${within("visit_values", "dimension, value, visits", subject, segments)}) AS periods
          GROUP BY dimension, value
        ) AS ranked WHERE place <= ${max} ORDER BY dimension, place`
      return rows.map(({ dimension, value, visits }) => ({
        dimension: dimensions[dimension]!,
        value,
        visits: Number(visits)
      }))
    }, asStorageError("VisitStore.top")),
    rollUp: Effect.fn("VisitStore.rollUp")(rollUp, asStorageError("VisitStore.rollUp")),
    drop: Effect.fn("VisitStore.drop")(drop, asStorageError("VisitStore.drop")),
    dropWriters: Effect.fn("VisitStore.dropWriters")(function* (before) {
      yield* sql`DELETE FROM visit_writers WHERE written_at < ${before}`
    }, asStorageError("VisitStore.dropWriters")),
    forget: Effect.fn("VisitStore.forget")(function* (subjects) {
      const tables = ["visit_totals", "visit_periods", "visit_values"]
      const forgetSome = (some: ReadonlyArray<string>) =>
        inTransaction(
          sql,
          Effect.forEach(tables, (table) => sql`DELETE FROM ${sql(table)} WHERE ${subjectsIn(some)}`)
        )
      yield* Effect.forEach(Array.chunksOf(subjects, forgottenAtOnceMax), forgetSome, { discard: true })
    }, asStorageError("VisitStore.forget"))
  })
})

/** `VisitStore` over whatever database the SQL client speaks to. The schema must be migrated. */
export const layer: Layer.Layer<VisitStore, never, SqlClient.SqlClient> = Layer.effect(VisitStore, make)
