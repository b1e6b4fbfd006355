import { SqlClient } from "@effect/sql"
import { Array, Effect, Layer } from "effect"
import { isOneOf } from "../sql/SqlDialect.ts"
import { rowsOf } from "../sql/SqlRows.ts"
import { asStorageError, inTransaction } from "../sql/SqlTransaction.ts"
import { grains, type Segment, segmentsOf } from "./VisitPeriods.ts"
import * as VisitRollUpSql from "./VisitRollUpSql.ts"
import { type HourCount, type VisitBatch, VisitStore } from "./VisitStore.ts"
import * as VisitValuesSql from "./VisitValuesSql.ts"

/** BIGINT and sums come as strings from `pg` and as numbers from libSQL. */
type Count = number | string

/** Hours of a subject stand together. */
const inOrder = (hours: ReadonlyArray<HourCount>) =>
  hours.toSorted((a, b) => (a.subject === b.subject ? a.hour - b.hour : a.subject < b.subject ? -1 : 1))

/** Of hours in order. */
const totalsOf = (hours: ReadonlyArray<HourCount>) => {
  const totals: Array<{ readonly subject: string; nonBots: number; bots: number }> = []
  let last: (typeof totals)[number] | undefined
  for (const { bots, nonBots, subject } of hours) {
    if (last?.subject === subject) {
      last.nonBots += nonBots
      last.bots += bots
    } else totals.push((last = { subject, nonBots, bots }))
  }
  return totals
}

const subjectAndCounts = (
  rows: ReadonlyArray<{ readonly subject: string; readonly nonBots: number; readonly bots: number }>
) => ({
  subject: ["text", rows.map(({ subject }) => subject)] as const,
  non_bots: ["bigint", rows.map(({ nonBots }) => nonBots)] as const,
  bots: ["bigint", rows.map(({ bots }) => bots)] as const
})

/** Adds a batch's hours, one statement a table, each in the order of the rows' keys, so that two nodes wait for each other and never deadlock. */
const makeAdd = (sql: SqlClient.SqlClient) => {
  const texts = VisitValuesSql.make(sql)

  const totals = (hours: ReadonlyArray<HourCount>) => sql`
    INSERT INTO visit_totals (subject, non_bots, bots)
    SELECT subject, non_bots, bots FROM ${rowsOf(sql, subjectAndCounts(totalsOf(hours)))} AS added WHERE true
    ON CONFLICT (subject) DO UPDATE
    SET non_bots = visit_totals.non_bots + excluded.non_bots, bots = visit_totals.bots + excluded.bots`

  const periods = (hours: ReadonlyArray<HourCount>) => {
    const added = {
      ...subjectAndCounts(hours),
      hour: ["integer", hours.map(({ hour }) => hour)] as const,
      by_value: ["text", hours.map(({ values }) => VisitValuesSql.textOf(values))] as const
    }
    return sql`
      INSERT INTO visit_periods (subject, grain, hour, non_bots, bots, by_value)
      SELECT subject, 0, hour, non_bots, bots, by_value FROM ${rowsOf(sql, added)} AS added WHERE true
      ON CONFLICT (subject, grain, hour) DO UPDATE
      SET non_bots = visit_periods.non_bots + excluded.non_bots, bots = visit_periods.bots + excluded.bots,
          by_value = ${texts.added("visit_periods.by_value", "excluded.by_value")}`
  }

  // Each is put together when its turn comes, so that the event loop does other things in between.
  return (hours: ReadonlyArray<HourCount>) =>
    Effect.zipRight(
      Effect.suspend(() => totals(hours)),
      Effect.suspend(() => periods(hours))
    )
}

/** Subjects that are forgotten in one transaction: each can have thousands of rows. */
const forgottenAtOnceMax = 20

/** `VisitStore` on SQLite and PostgreSQL. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const add = makeAdd(sql)
  const texts = VisitValuesSql.make(sql)
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
  const within = (columns: string, subject: string, segments: ReadonlyArray<Segment>) =>
    sql.join(
      " UNION ALL ",
      false
    )(
      segments.map(
        ({ from, grain, to }) => sql`SELECT ${sql.literal(columns)} FROM visit_periods
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
        FROM (${within("hour, non_bots, bots", subject, segments)}) AS periods
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
      const rows = sql`(${within("by_value", subject, segments)}) AS periods`
      return (yield* texts.top({ text: "periods.by_value", rows }, max)).map(VisitValuesSql.valueOf)
    }, asStorageError("VisitStore.top")),
    rollUp: Effect.fn("VisitStore.rollUp")(rollUp, asStorageError("VisitStore.rollUp")),
    drop: Effect.fn("VisitStore.drop")(drop, asStorageError("VisitStore.drop")),
    dropWriters: Effect.fn("VisitStore.dropWriters")(function* (before) {
      yield* sql`DELETE FROM visit_writers WHERE written_at < ${before}`
    }, asStorageError("VisitStore.dropWriters")),
    forget: Effect.fn("VisitStore.forget")(function* (subjects) {
      const tables = ["visit_totals", "visit_periods"]
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
