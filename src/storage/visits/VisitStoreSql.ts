import { SqlClient, type Statement } from "@effect/sql"
import { Array, Effect, Exit, Layer } from "effect"
import { hourOf } from "../../model/Visit.ts"
import { camelRows, sqlPort } from "../sql/SqlPort.ts"
import { isOneOf, prepared } from "../sql/SqlDialect.ts"
import { direct } from "../sql/DirectSql.ts"
import { isInForce } from "../links/buckets/LinkEpoch.ts"
import { refused, Tenured } from "../links/buckets/LinkTenure.ts"
import { rowsOf } from "../sql/SqlRows.ts"
import { inTransaction } from "../sql/SqlTransaction.ts"
import { endOf, type Grain, grains, type Segment, segmentsOf, startOf } from "./VisitPeriods.ts"
import * as VisitRanksSql from "./VisitRanksSql.ts"
import * as VisitorSketch from "./VisitorSketch.ts"
import * as VisitorsSql from "./VisitorsSql.ts"
import * as VisitRollUpSql from "./VisitRollUpSql.ts"
import { type HourCount, type Point, type VisitBatch, VisitStore } from "./VisitStore.ts"
import * as VisitValuesSql from "./VisitValuesSql.ts"

/** The order in which rows are written: by subject, then by hour. */
const inOrder = (hours: ReadonlyArray<HourCount>) =>
  hours.toSorted((a, b) => (a.subject === b.subject ? a.hour - b.hour : a.subject < b.subject ? -1 : 1))

type Counts = ReadonlyArray<{ readonly subject: string; readonly nonBots: number; readonly bots: number }>

/** Hours in that order as one row for each subject. */
const bySubject = (hours: Counts): Counts => {
  const sums: Array<{ readonly subject: string; nonBots: number; bots: number }> = []
  let last: (typeof sums)[number] | undefined
  for (const { bots, nonBots, subject } of hours) {
    if (last?.subject === subject) {
      last.nonBots += nonBots
      last.bots += bots
    } else sums.push((last = { subject, nonBots, bots }))
  }
  return sums
}

const without = (counts: Counts, rows: ReadonlyArray<{ readonly subject: string }>): Counts => {
  const there = new Set(rows.map(({ subject }) => subject))
  return counts.filter(({ subject }) => !there.has(subject))
}

const subjectAndCounts = (rows: Counts) => ({
  subject: ["text", rows.map(({ subject }) => subject)] as const,
  non_bots: ["bigint", rows.map(({ nonBots }) => nonBots)] as const,
  bots: ["bigint", rows.map(({ bots }) => bots)] as const
})

/** What rows have for a grain whose visits are of hours that had been rolled up before: one for a subject, at hour 0. They count only in the total. */
const late = 3

/** Adds a batch's hours, in the order of the rows' keys, so that nodes do not deadlock. */
const makeAdd = (
  sql: SqlClient.SqlClient,
  { dayProgress, makeRows }: Pick<VisitRollUpSql.VisitRollUp, "dayProgress" | "makeRows">
) => {
  const texts = VisitValuesSql.make(sql)
  const visitors = VisitorsSql.make(sql)

  const periods = (hours: ReadonlyArray<HourCount>) => {
    const added = {
      ...subjectAndCounts(hours),
      hour: ["integer", hours.map(({ hour }) => hour)] as const,
      by_value: ["text", hours.map(({ values }) => VisitValuesSql.textOf(values))] as const,
      visitors: ["text", hours.map((hour) => visitors.textOf(hour.visitors))] as const
    }
    return sql`${prepared(sql)}
      INSERT INTO visit_periods (subject, grain, hour, non_bots, bots, by_value, visitors)
      SELECT subject, 0, hour, non_bots, bots, by_value, visitors${visitors.cast} FROM ${rowsOf(sql, added)} AS added WHERE true
      ON CONFLICT (subject, grain, hour) DO UPDATE
      SET non_bots = visit_periods.non_bots + excluded.non_bots, bots = visit_periods.bots + excluded.bots,
          by_value = ${texts.added("visit_periods.by_value", "excluded.by_value")},
          visitors = ${visitors.added("visit_periods.visitors", "excluded.visitors")}`
  }

  const toTotals = (hours: ReadonlyArray<HourCount>) => sql`
    INSERT INTO visit_periods (subject, grain, hour, non_bots, bots)
    SELECT subject, ${sql.literal(String(late))}, 0, non_bots, bots
    FROM ${rowsOf(sql, subjectAndCounts(bySubject(hours)))} AS added WHERE true
    ON CONFLICT (subject, grain, hour) DO UPDATE
    SET non_bots = visit_periods.non_bots + excluded.non_bots, bots = visit_periods.bots + excluded.bots`

  /** Adds to the rows of a day that are there; gives the others' counts. */
  const addToDay = (day: number, counts: Counts) =>
    Effect.map(
      sql<{ readonly subject: string }>`
        UPDATE visit_periods
        SET non_bots = visit_periods.non_bots + added.non_bots, bots = visit_periods.bots + added.bots
        FROM ${rowsOf(sql, subjectAndCounts(counts))} AS added
        WHERE visit_periods.subject = added.subject AND grain = 1 AND hour = ${day}
        RETURNING visit_periods.subject`,
      (rows) => without(counts, rows)
    )

  /**
   * Adds to the rows of a day that is being rolled up. A subject that has none yet gets one of all that it has, with what is added now: the roll-up may have passed it. Where somebody else has made it at the
   * same moment, that one lacks what is added.
   */
  const toDay = Effect.fnUntraced(function* (day: number, hours: ReadonlyArray<HourCount>) {
    const missing = yield* addToDay(day, bySubject(hours))
    if (missing.length === 0) return
    const made = yield* makeRows(
      "day",
      day,
      missing.map(({ subject }) => subject)
    )
    const others = without(missing, made)
    if (others.length > 0) yield* addToDay(day, others)
  })

  /** Each statement is built when its turn comes, so that the event loop can do other things in between. */
  return Effect.fnUntraced(function* (hours: ReadonlyArray<HourCount>, at: number) {
    // While a day is not over by far, nobody rolls it up.
    const today = startOf("day", hourOf(at))
    const { hour: day, isUnderWay } = yield* dayProgress(hours.some(({ hour }) => hour < today))
    yield* periods(hours)
    const rolled = hours.filter(({ hour }) => hour < day)
    if (rolled.length > 0) yield* toTotals(rolled)
    // The day's rows that are made already count when all of them are.
    const dayEnd = endOf("day", day)
    const made = isUnderWay ? hours.filter(({ hour }) => hour >= day && hour < dayEnd) : []
    if (made.length > 0) yield* toDay(day, made)
  })
}

/** Subjects that are forgotten by one statement: each can have thousands of rows. */
const forgottenAtOnceMax = 20

/** `VisitStore` on SQLite and PostgreSQL. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const texts = VisitValuesSql.make(sql)
  const visitors = VisitorsSql.make(sql)
  const rolling = VisitRollUpSql.make(sql)
  const { drop, rolledUp, rollUp } = rolling
  const add = makeAdd(sql, rolling)

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

  /** The hour up to which a grain is rolled up. */
  const rolledTo = (grain: Grain) =>
    sql`coalesce((SELECT hour FROM visit_rolled WHERE grain = ${sql.literal(String(grains.indexOf(grain)))}), 0)`

  /** The subjects that are asked for: one value, whatever their number. */
  const asked = sql.onDialectOrElse({
    orElse: () => ({
      valueOf: (subjects: ReadonlyArray<string>): unknown => JSON.stringify(subjects),
      rows: sql`SELECT value FROM json_each(${"[]"})`,
      has: sql`subject IN (SELECT value FROM asked)`
    }),
    pg: () => ({
      valueOf: (subjects: ReadonlyArray<string>): unknown => subjects,
      rows: sql`SELECT ${[]}::text[] AS subjects`,
      has: sql`subject = ANY((SELECT subjects FROM asked)::text[])`
    })
  })

  const countsOf = (grain: number, where: Statement.Fragment) => sql`
    SELECT subject, non_bots, bots FROM visit_periods
    WHERE ${asked.has} AND grain = ${sql.literal(String(grain))} AND ${where}`

  const [month, day] = [rolledTo("month"), rolledTo("day")]

  /** The text that asks for all visits of subjects: what is rolled up by months and by days, the hours since then, and what was late for them. One statement sees how far that is and the rows of that moment; it begins with SELECT, so that SQLite runs it on a reading connection. */
  const totalsOfAll = sql`${prepared(sql)}
    SELECT subject, sum(non_bots) AS non_bots, sum(bots) AS bots
    FROM (WITH asked AS (${asked.rows})
          ${countsOf(grains.indexOf("month"), sql`hour < ${month}`)} UNION ALL
          ${countsOf(grains.indexOf("day"), sql`hour >= ${month} AND hour < ${day}`)} UNION ALL
          ${countsOf(grains.indexOf("hour"), sql`hour >= ${day}`)} UNION ALL
          ${countsOf(late, sql`hour = 0`)}) AS counts
    GROUP BY subject`
  const [totalsText] = totalsOfAll.compile()
  /** The same for a caller that knows an epoch of this database, the second parameter: with a row without a subject where it is old. */
  const [totalsTextUnder] =
    sql`${totalsOfAll} UNION ALL SELECT NULL, NULL, NULL WHERE NOT ${isInForce(sql, 0)}`.compile()

  /** Never a part of a transaction. */
  const totals = (subjects: ReadonlyArray<string>) =>
    new Tenured((tenure) =>
      direct(
        sql,
        "VisitStore.totals",
        tenure === undefined
          ? [totalsText, [asked.valueOf(subjects)]]
          : [totalsTextUnder, [asked.valueOf(subjects), tenure.epoch]]
      ).flatMap((rows) => {
        if (rows.at(-1)?.[0] === null) return Exit.fail(refused("VisitStore.totals"))
        const counts = new Map<unknown, { readonly nonBots: number; readonly bots: number }>(
          rows.map(([subject, nonBots, bots]) => [subject, { nonBots: Number(nonBots), bots: Number(bots) }])
        )
        return Exit.succeed(subjects.map((subject) => counts.get(subject) ?? { nonBots: 0, bots: 0 }))
      })
    )

  return sqlPort(
    VisitStore,
    {
      write: Effect.fnUntraced(function* (batch) {
        const hours = inOrder(batch.hours)
        yield* inTransaction(sql, Effect.whenEffect(add(hours, batch.at), isNew(batch)))
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
      visitors: Effect.fnUntraced(function* ({ from, subject, to }, interval) {
        const segments = segmentsOf(interval, from, to, yield* rolledUp)
        const of = (grain: Grain, read: typeof visitors.ofDays) => {
          const some = segments.filter((segment) => segment.grain === grain)
          return some.length === 0 ? Effect.succeed([]) : read(within("hour, visitors", subject, some))
        }
        const rows = [...(yield* of("day", visitors.ofDays)), ...(yield* of("hour", visitors.ofHours))]
        const days = new Map<number, Array<number>>()
        for (const { hour, value } of rows) {
          const present = days.get(hour)
          if (present === undefined) days.set(hour, [value])
          else present.push(value)
        }
        return [...days]
          .toSorted(([one], [other]) => one - other)
          .map(([hour, counts]) => ({ hour, visitors: VisitorSketch.estimate(counts) }))
      }),
      top: Effect.fnUntraced(function* ({ from, subject, to }, max) {
        const segments = segmentsOf("month", from, to, yield* rolledUp)
        if (segments.length === 0) return []
        const rows = sql`(${within("by_value", subject, segments)}) AS periods`
        return (yield* texts.top({ text: "periods.by_value", rows }, max)).map(VisitValuesSql.valueOf)
      }),
      rollUp,
      rank: VisitRanksSql.make(sql, totals),
      drop,
      dropWriters: (before) => Effect.asVoid(sql`DELETE FROM visit_writers WHERE written_at < ${before}`),
      forget: Effect.fnUntraced(function* (subjects) {
        const forgetSome = (some: ReadonlyArray<string>) =>
          sql`DELETE FROM visit_periods WHERE ${subjectsIn(some)}`
        yield* Effect.forEach(Array.chunksOf(subjects, forgottenAtOnceMax), forgetSome, { discard: true })
      })
    },
    { totals }
  )
})

/** `VisitStore` over whatever database the SQL client speaks to. The schema must be migrated. */
export const layer: Layer.Layer<VisitStore, never, SqlClient.SqlClient> = Layer.effect(VisitStore, make)
