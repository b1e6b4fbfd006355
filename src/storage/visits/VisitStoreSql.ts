import { SqlClient } from "@effect/sql"
import { Array, Effect, Layer } from "effect"
import type { VisitCount } from "../../model/Visit.ts"
import { camelRows, sqlPort } from "../sql/SqlPort.ts"
import { isOneOf, prepared } from "../sql/SqlDialect.ts"
import { rowsOf } from "../sql/SqlRows.ts"
import { inTransaction } from "../sql/SqlTransaction.ts"
import { grains, type Segment, segmentsOf } from "./VisitPeriods.ts"
import * as VisitRollUpSql from "./VisitRollUpSql.ts"
import { type HourCount, type Point, type VisitBatch, VisitStore } from "./VisitStore.ts"
import * as VisitValuesSql from "./VisitValuesSql.ts"

/** The order in which rows are written: by subject, then by hour. */
const inOrder = (hours: ReadonlyArray<HourCount>) =>
  hours.toSorted((a, b) => (a.subject === b.subject ? a.hour - b.hour : a.subject < b.subject ? -1 : 1))

/** The totals of hours in that order. */
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

/** Adds a batch's hours, one statement a table, each in the order of the rows' keys, so that nodes do not deadlock. */
const makeAdd = (sql: SqlClient.SqlClient) => {
  const texts = VisitValuesSql.make(sql)

  const totals = (hours: ReadonlyArray<HourCount>) => sql`${prepared(sql)}
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
    return sql`${prepared(sql)}
      INSERT INTO visit_periods (subject, grain, hour, non_bots, bots, by_value)
      SELECT subject, 0, hour, non_bots, bots, by_value FROM ${rowsOf(sql, added)} AS added WHERE true
      ON CONFLICT (subject, grain, hour) DO UPDATE
      SET non_bots = visit_periods.non_bots + excluded.non_bots, bots = visit_periods.bots + excluded.bots,
          by_value = ${texts.added("visit_periods.by_value", "excluded.by_value")}`
  }

  // Each statement is built when its turn comes, so that the event loop can do other things in between.
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

  /** Records the batch's number, unless its writer has written it before. The row is locked until the transaction ends. */
  const isNew = ({ at, sequence, writer }: VisitBatch) =>
    Effect.map(
      sql`${prepared(sql)}
          INSERT INTO visit_writers (writer, sequence, written_at) VALUES (${writer}, ${sequence}, ${at})
          ON CONFLICT (writer) DO UPDATE SET sequence = excluded.sequence, written_at = excluded.written_at
          WHERE visit_writers.sequence < excluded.sequence RETURNING writer`,
      (rows) => rows.length > 0
    )

  /** The rows of a subject in segments. Each is a range of the primary key to the planner; a condition with OR would not be. */
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

  return sqlPort(VisitStore, {
    write: Effect.fnUntraced(function* (batch) {
      const hours = inOrder(batch.hours)
      yield* inTransaction(sql, Effect.whenEffect(add(hours), isNew(batch)))
    }),
    totals: Effect.fnUntraced(function* (subjects) {
      const rows = yield* camelRows(sql<VisitCount & { readonly subject: string }>`
        SELECT subject, non_bots, bots FROM visit_totals WHERE ${subjectsIn(subjects)}`)
      const totals = new Map(rows.map(({ subject, ...counts }) => [subject, counts]))
      return subjects.map((subject) => totals.get(subject) ?? { nonBots: 0, bots: 0 })
    }),
    series: Effect.fnUntraced(function* ({ from, subject, to }, interval) {
      const segments = segmentsOf(interval, from, to, yield* rolledUp)
      if (segments.length === 0) return []
      const point = sql.literal(interval === "hour" ? "hour" : "hour - hour % 24")
      return yield* camelRows(sql<Point>`
        SELECT ${point} AS hour, sum(non_bots) AS non_bots, sum(bots) AS bots
        FROM (${within("hour, non_bots, bots", subject, segments)}) AS periods
        GROUP BY 1 ORDER BY 1`)
    }),
    top: Effect.fnUntraced(function* ({ from, subject, to }, max) {
      const segments = segmentsOf("month", from, to, yield* rolledUp)
      if (segments.length === 0) return []
      const rows = sql`(${within("by_value", subject, segments)}) AS periods`
      return (yield* texts.top({ text: "periods.by_value", rows }, max)).map(VisitValuesSql.valueOf)
    }),
    rollUp,
    drop,
    dropWriters: (before) => Effect.asVoid(sql`DELETE FROM visit_writers WHERE written_at < ${before}`),
    forget: Effect.fnUntraced(function* (subjects) {
      const tables = ["visit_totals", "visit_periods"]
      const forgetSome = (some: ReadonlyArray<string>) =>
        inTransaction(
          sql,
          Effect.forEach(tables, (table) => sql`DELETE FROM ${sql(table)} WHERE ${subjectsIn(some)}`)
        )
      yield* Effect.forEach(Array.chunksOf(subjects, forgottenAtOnceMax), forgetSome, { discard: true })
    })
  })
})

/** `VisitStore` over whatever database the SQL client speaks to. The schema must be migrated. */
export const layer: Layer.Layer<VisitStore, never, SqlClient.SqlClient> = Layer.effect(VisitStore, make)
