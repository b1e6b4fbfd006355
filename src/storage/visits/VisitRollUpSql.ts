import type { SqlClient } from "@effect/sql"
import type { SqlError } from "@effect/sql/SqlError"
import { Effect } from "effect"
import { bucketOfSubjectRow } from "../links/buckets/LinkBucketsSql.ts"
import { andAtHome, LinkTenure } from "../links/buckets/LinkTenure.ts"
import { forUpdate, prepared } from "../sql/SqlDialect.ts"
import { rowsOf } from "../sql/SqlRows.ts"
import { inTransaction } from "../sql/SqlTransaction.ts"
import { endOf, finerThan, grains, type RolledUp, startOf } from "./VisitPeriods.ts"
import * as VisitorsSql from "./VisitorsSql.ts"
import * as VisitValuesSql from "./VisitValuesSql.ts"

/** The advisory lock of the node that rolls up or drops. An arbitrary fixed number, which no other lock has: nodes hold that of `DatabasePresence` all the time. */
export const upkeepLock = 5_012_704_419

type Coarse = keyof typeof finerThan

/** Identifies a subject's period. */
interface Row {
  readonly subject: string
  readonly hour: number
}

/** Up to which hour a grain is rolled up, and the last row of the finer grain that was read. */
interface Progress {
  readonly hour: number
  readonly seenHour: number
  readonly seenSubject: string
}

const numberOf = (grain: (typeof grains)[number]) => grains.indexOf(grain)

/**
 * Rolls visits up, and drops old ones. A period is computed from the finer ones, which stay as they are, and written as a whole:
 * repeating it changes nothing.
 */
export const make = (sql: SqlClient.SqlClient) => {
  const texts = VisitValuesSql.make(sql)
  const visitors = VisitorsSql.make(sql)
  const forShare = sql.onDialectOrElse({ orElse: () => sql``, pg: () => sql`FOR SHARE` })

  /** Locked until the transaction ends: see `dayProgress`. */
  const progressOf = (grain: Coarse) =>
    Effect.map(
      sql<Progress>`SELECT hour, seen_hour AS "seenHour", seen_subject AS "seenSubject"
        FROM visit_rolled WHERE grain = ${numberOf(grain)} ${forUpdate(sql)}`,
      ([row]) => row ?? { hour: 0, seenHour: 0, seenSubject: "" }
    )

  const setProgress = (grain: Coarse, { hour, seenHour, seenSubject }: Progress) => sql`
    INSERT INTO visit_rolled (grain, hour, seen_hour, seen_subject)
    VALUES (${numberOf(grain)}, ${hour}, ${seenHour}, ${seenSubject})
    ON CONFLICT (grain) DO UPDATE
    SET hour = excluded.hour, seen_hour = excluded.seen_hour, seen_subject = excluded.seen_subject`

  const rolledUp: Effect.Effect<RolledUp, SqlError> = Effect.map(
    sql<{ grain: number; hour: number }>`SELECT grain, hour FROM visit_rolled`,
    (rows) => {
      const hourOf = (grain: Coarse) => rows.find((row) => row.grain === numberOf(grain))?.hour ?? 0
      return { day: hourOf("day"), month: hourOf("month") }
    }
  )

  /** Runs an effect in a transaction while no other node's upkeep runs; gives `false` where one does. */
  const alone = <E, R>(effect: Effect.Effect<boolean, E, R>) =>
    inTransaction(
      sql,
      sql.onDialectOrElse({
        orElse: () => effect,
        pg: () =>
          Effect.flatMap(
            sql<{ locked: boolean }>`SELECT pg_try_advisory_xact_lock(${upkeepLock}) AS locked`,
            ([row]) => (row!.locked ? effect : Effect.succeed(false))
          )
      })
    )

  /** The next rows of a grain before an hour, in order. */
  const rowsAfter = ({ seenHour, seenSubject }: Progress, grain: number, before: number, max: number) =>
    sql<Row>`SELECT hour, subject FROM visit_periods
      WHERE grain = ${grain} AND (hour, subject) > (${seenHour}, ${seenSubject}) AND hour < ${before}
      ORDER BY hour, subject LIMIT ${max}`

  /** Makes the rows of a period that subjects do not have yet, and gives those whose row was made: another may be made by somebody else at the same moment. */
  const makeRows = (grain: Coarse, from: number, subjects: ReadonlyArray<string>) => {
    const to = endOf(grain, from)
    const isPart = sql`grain = ${numberOf(finerThan[grain])} AND hour >= ${from} AND hour < ${to}`
    const parts = sql`(SELECT by_value, visitors FROM visit_periods AS finer WHERE finer.subject = whole.subject AND ${isPart}) AS parts`
    return sql<{ readonly subject: string }>`
      INSERT INTO visit_periods (subject, grain, hour, non_bots, bots, by_value, visitors)
      SELECT subject, ${sql.literal(String(numberOf(grain)))}, ${sql.literal(String(from))}, sum(non_bots), sum(bots),
             ${texts.together({ text: "parts.by_value", rows: parts })},
             ${grain === "day" ? visitors.together(parts, "parts.visitors") : visitors.none}
      FROM visit_periods AS whole
      WHERE ${isPart} AND subject IN (SELECT subject FROM ${rowsOf(sql, { subject: ["text", subjects] })} AS chosen)
      GROUP BY subject
      ON CONFLICT (subject, grain, hour) DO NOTHING RETURNING subject`
  }

  /** Of rows of finer periods the subjects whose period `from` is not made yet: each is met again at every row of its own. */
  const notYetMade = (grain: Coarse, from: number, rows: ReadonlyArray<Row>) => {
    const subjects = [...new Set(rows.map(({ subject }) => subject))]
    return Effect.map(
      sql<{ subject: string }>`
        SELECT subject FROM ${rowsOf(sql, { subject: ["text", subjects] })} AS chosen
        WHERE NOT EXISTS (SELECT 1 FROM visit_periods AS made WHERE made.subject = chosen.subject
                          AND made.grain = ${numberOf(grain)} AND made.hour = ${from})`,
      (found) => found.map(({ subject }) => subject).toSorted()
    )
  }

  /** One step within the first period that has visits and is not rolled up completely. Periods without visits are skipped. */
  const rollUpGrain = Effect.fn(function* (grain: Coarse, until: number, max: number) {
    const end = startOf(grain, until)
    const progress = yield* progressOf(grain)
    if (progress.hour >= end) return false
    const rows = yield* rowsAfter(progress, numberOf(finerThan[grain]), end, max)
    const from = rows[0] === undefined ? end : startOf(grain, rows[0].hour)
    const inPeriod = rows.filter(({ hour }) => startOf(grain, hour) === from)
    const last = inPeriod.at(-1)
    if (last === undefined) {
      yield* setProgress(grain, { hour: end, seenHour: end, seenSubject: "" })
      return false
    }
    const subjects = yield* notYetMade(grain, from, inPeriod)
    if (subjects.length > 0) yield* makeRows(grain, from, subjects)
    yield* setProgress(grain, { hour: from, seenHour: last.hour, seenSubject: last.subject })
    return true
  })

  const dropGrain = Effect.fn(function* (grain: "hour" | "day", before: number, max: number) {
    const oldest = yield* sql<Row>`
      SELECT subject, hour FROM visit_periods WHERE grain = ${numberOf(grain)} AND hour < ${before}
        ${andAtHome(sql, yield* LinkTenure, bucketOfSubjectRow)}
      ORDER BY hour LIMIT ${max}`
    if (oldest.length === 0) return false
    const chosen = rowsOf(sql, {
      subject: ["text", oldest.map(({ subject }) => subject)],
      hour: ["integer", oldest.map(({ hour }) => hour)]
    })
    const dropped = yield* sql`DELETE FROM visit_periods WHERE grain = ${numberOf(grain)}
               AND (subject, hour) IN (SELECT subject, hour FROM ${chosen} AS chosen) RETURNING hour`
    return dropped.length === max
  })

  /**
   * Up to which hour all visits are there as days, and whether the day that begins then is being rolled up: some of its rows are made. Where such days are written to, none is
   * rolled up until the transaction ends (`holds`).
   */
  const dayProgress = (holds: boolean) =>
    Effect.map(
      sql<{ hour: number; seen_subject: string }>`${prepared(sql)}
        SELECT hour, seen_subject FROM visit_rolled WHERE grain = ${numberOf("day")} ${holds ? forShare : sql``}`,
      ([row]) => ({ hour: row?.hour ?? 0, isUnderWay: row !== undefined && row.seen_subject !== "" })
    )

  return {
    dayProgress,
    makeRows,
    rolledUp,
    /** Months are made of days: they wait until all days are rolled up. */
    rollUp: (until: number, max: number) =>
      alone(
        Effect.gen(function* () {
          if (yield* rollUpGrain("day", until, max)) return true
          return yield* rollUpGrain("month", until, max)
        })
      ),
    drop: (before: { readonly hours: number; readonly days: number }, max: number) =>
      alone(
        Effect.gen(function* () {
          const { day, month } = yield* rolledUp
          const hours = yield* dropGrain("hour", Math.min(before.hours, day), max)
          const days = yield* dropGrain("day", Math.min(before.days, month), max)
          return hours || days
        })
      )
  }
}

/** What {@link make} gives. */
export type VisitRollUp = ReturnType<typeof make>
