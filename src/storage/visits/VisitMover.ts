import type { SqlClient } from "@effect/sql"
import type { SqlError } from "@effect/sql/SqlError"
import { Data, Effect, type Scope } from "effect"
import { camelRows } from "../sql/SqlPort.ts"
import { rowsOf } from "../sql/SqlRows.ts"
import { inTransaction } from "../sql/SqlTransaction.ts"
import { beginning } from "./VisitRanksSql.ts"
import { aligned, type NotNow, soon } from "./VisitUpkeepPause.ts"
import * as VisitorsSql from "./VisitorsSql.ts"
import * as VisitValuesSql from "./VisitValuesSql.ts"

/** Another process has gone on with the move. */
export class TakenOver extends Data.TaggedError("TakenOver")<{ readonly number: number }> {
  override get message() {
    return `Another process moves the visits of database ${this.number}.`
  }
}

/** The primary key of a row of `visit_periods`. */
interface Place {
  readonly subject: string
  readonly grain: number
  readonly hour: number
}

interface Row extends Place {
  readonly nonBots: number
  readonly bots: number
  readonly byValue: string
  readonly visitors: ReadonlyArray<number>
}

/** A database of links that has visits. */
export interface Source {
  /** See `ListedDatabase`. */
  readonly number: number
  readonly sql: SqlClient.SqlClient
}

/** Where visits are moved from and to. */
export interface VisitMove {
  readonly sources: ReadonlyArray<Source>
  /** The databases of visits, in their order. */
  readonly targets: ReadonlyArray<SqlClient.SqlClient>
  /** The place of the target that has a subject's visits. */
  readonly placeOf: (subject: string) => number
  /** Rows that are moved at a time: each can have some kilobytes. */
  readonly chunkMax?: number
}

/** What is told of a move while it happens. */
export interface Watcher<E = never> {
  /** Something has been done, by its name. Tests end the mover here. */
  readonly at: (place: "left" | "arrived" | "cleared") => Effect.Effect<void, E>
  /** Rows that have been moved, of about `all`. */
  readonly progress: (rows: number, all: number) => Effect.Effect<void>
}

const writers = "move-visits/"

/** By what targets know the last chunk of a source. */
const writerOf = ({ number }: Source) => `${writers}${number}`

/** How a source counts its chunks. */
const counter = "move-visits"

/** The moment at which such writers wrote: no node forgets them (`VisitStore.dropWriters`). */
const never_ms = Number.MAX_SAFE_INTEGER

/** How often it is tried again to find a moment in which nodes do not roll up visits. */
const triesMax = 300

/** Adds rows to those that are there. In the order of their keys, so that nodes and this do not deadlock. */
const add = (sql: SqlClient.SqlClient, rows: ReadonlyArray<Row>) => {
  const inOrder = rows.toSorted((a, b) =>
    a.subject < b.subject ? -1 : a.subject > b.subject ? 1 : a.grain - b.grain || a.hour - b.hour
  )
  const visitors = VisitorsSql.make(sql)
  const given = rowsOf(sql, {
    subject: ["text", inOrder.map(({ subject }) => subject)],
    grain: ["smallint", inOrder.map(({ grain }) => grain)],
    hour: ["integer", inOrder.map(({ hour }) => hour)],
    non_bots: ["bigint", inOrder.map(({ nonBots }) => nonBots)],
    bots: ["bigint", inOrder.map(({ bots }) => bots)],
    by_value: ["text", inOrder.map(({ byValue }) => byValue)],
    visitors: ["text", inOrder.map((row) => visitors.textOf(row.visitors))]
  })
  return sql`
    INSERT INTO visit_periods (subject, grain, hour, non_bots, bots, by_value, visitors)
    SELECT subject, grain, hour, non_bots, bots, by_value, visitors${visitors.cast} FROM ${given} AS given WHERE true
    ON CONFLICT (subject, grain, hour) DO UPDATE
    SET non_bots = visit_periods.non_bots + excluded.non_bots, bots = visit_periods.bots + excluded.bots,
        by_value = ${VisitValuesSql.make(sql).added("visit_periods.by_value", "excluded.by_value")},
        -- Those of days have no union: the day that was there first stays.
        visitors = CASE WHEN excluded.grain = 0 THEN ${visitors.added("visit_periods.visitors", "excluded.visitors")}
                        WHEN visit_periods.visitors = ${visitors.none} THEN excluded.visitors
                        ELSE visit_periods.visitors END`
}

/** Counts one chunk more in a source: no earlier process takes any from then on. Gives the number. */
const claim = (sql: SqlClient.SqlClient) =>
  Effect.map(
    sql<{ sequence: number }>`
      INSERT INTO visit_writers (writer, sequence, written_at) VALUES (${counter}, 1, ${never_ms})
      ON CONFLICT (writer) DO UPDATE SET sequence = visit_writers.sequence + 1 RETURNING sequence`,
    ([row]) => row!.sequence
  )

const isBehind = (one: Place, other: Place) =>
  one.subject === other.subject
    ? one.grain === other.grain
      ? one.hour > other.hour
      : one.grain > other.grain
    : one.subject > other.subject

/** Takes the next rows after a primary key out of the visits of a source, where the last chunk is still `last`. Gives them in no order; none where there are no more. */
const takeChunk = ({ number, sql }: Source, after: Place, last: number, chunkMax: number) =>
  inTransaction(
    sql,
    Effect.gen(function* () {
      const counted = yield* sql`
        UPDATE visit_writers SET sequence = sequence + 1 WHERE writer = ${counter} AND sequence = ${last} RETURNING sequence`
      if (counted.length === 0) return yield* new TakenOver({ number })
      return yield* camelRows(sql<Row>`
        WITH chosen AS MATERIALIZED (
          SELECT subject, grain, hour FROM visit_periods
          WHERE (subject, grain, hour) > (${after.subject}, ${after.grain}::smallint, ${after.hour}::integer)
          ORDER BY subject, grain, hour LIMIT ${chunkMax} FOR UPDATE),
        gone AS (
          DELETE FROM visit_periods t USING chosen
          WHERE t.subject = chosen.subject AND t.grain = chosen.grain AND t.hour = chosen.hour RETURNING t.*)
        INSERT INTO visits_leaving (chunk, subject, grain, hour, non_bots, bots, by_value, visitors)
        SELECT ${last + 1}::bigint, subject, grain, hour, non_bots, bots, by_value, visitors FROM gone RETURNING *`)
    })
  )

/** Whether a target has not had a chunk, or a later one, of a writer: from then on it has, and takes no such one any more. */
const isFirst = (target: SqlClient.SqlClient, writer: string, chunk: number) =>
  Effect.map(
    target`
      INSERT INTO visit_writers (writer, sequence, written_at) VALUES (${writer}, ${chunk}, ${never_ms})
      ON CONFLICT (writer) DO UPDATE SET sequence = excluded.sequence WHERE visit_writers.sequence < excluded.sequence
      RETURNING writer`,
    (rows) => rows.length > 0
  )

/** Adds the part of a chunk that is a target's, once. */
const arrive = (target: SqlClient.SqlClient, writer: string, chunk: number, rows: ReadonlyArray<Row>) =>
  inTransaction(target, Effect.whenEffect(add(target, rows), isFirst(target, writer, chunk)))

/**
 * Has nodes rank the links of a target once more, if visits have arrived there by a move: these may be of hours that were ranked there without them, or nowhere yet. It overtakes a node that is at it: that notes
 * how far it is only where it stands as it was. Ranks that nodes have handed on never fall, so no link is out of its place meanwhile.
 */
const rankAgain = (target: SqlClient.SqlClient) =>
  target`UPDATE visit_ranked SET grain = ${beginning.grain}, hour = ${beginning.hour}, subject = ${beginning.subject}
    WHERE EXISTS (SELECT 1 FROM visit_writers WHERE starts_with(writer, ${writers}))`

/**
 * Moves the visits that are in databases of links to those of visits, while nodes write to the latter: gives how many rows. One process of a deployment may do it at a time; nodes that still write to the
 * former add rows, which are moved as well.
 *
 * A chunk leaves a source in one transaction, waits in `visits_leaving` there, and is added to the targets by its number, which each of them remembers: so it is counted once, wherever the process ends.
 * What had not arrived then goes back at the next start, before the databases are rolled up to the same hour. A process that was believed dead can take and bring nothing more.
 */
export const move = <E = never>(
  { chunkMax = 1_000, placeOf, sources, targets }: VisitMove,
  { at, progress }: Watcher<E>
): Effect.Effect<number, E | NotNow | SqlError | TakenOver, Scope.Scope> =>
  Effect.gen(function* () {
    const placed = (rows: ReadonlyArray<Row>) =>
      targets.map((target, place) => ({ target, rows: rows.filter((row) => placeOf(row.subject) === place) }))

    /** Begins with a source, where rows go back that a run which ended had taken, and not brought to their target. Gives the number of the last chunk. */
    const begin = (source: Source) =>
      Effect.gen(function* () {
        const last = yield* claim(source.sql)
        const rows = yield* camelRows(
          source.sql<Row & { readonly chunk: number }>`SELECT * FROM visits_leaving`
        )
        const missing: Array<Row> = []
        for (const part of placed(rows)) {
          if (part.rows.length === 0) continue
          // So that a process that was believed dead brings them no more.
          if (yield* isFirst(part.target, writerOf(source), rows[0]!.chunk)) missing.push(...part.rows)
        }
        yield* inTransaction(
          source.sql,
          Effect.gen(function* () {
            if (missing.length > 0) yield* add(source.sql, missing)
            yield* source.sql`DELETE FROM visits_leaving`
          })
        )
        return { ...source, last }
      })

    const estimates = yield* Effect.forEach(sources, ({ sql }) =>
      Effect.map(
        sql<{ rows: number }>`
          SELECT greatest(reltuples, 0)::float8 AS rows FROM pg_class WHERE oid = 'visit_periods'::regclass`,
        ([row]) => row!.rows
      )
    )
    const all = Math.ceil(estimates.reduce((sum, rows) => sum + rows, 0))
    let done = 0

    /** One pass over a source; gives whether there was anything. */
    const pass = (source: Effect.Effect.Success<ReturnType<typeof begin>>) =>
      Effect.gen(function* () {
        let after: Place = { subject: "", grain: 0, hour: 0 }
        let isAny = false
        while (true) {
          const rows = yield* takeChunk(source, after, source.last, chunkMax)
          const chunk = ++source.last
          if (rows.length === 0) return isAny
          yield* at("left")
          for (const part of placed(rows)) {
            if (part.rows.length === 0) continue
            yield* arrive(part.target, writerOf(source), chunk, part.rows)
            yield* at("arrived")
          }
          yield* source.sql`DELETE FROM visits_leaving WHERE chunk = ${chunk}`
          yield* at("cleared")
          isAny = true
          after = rows.reduce((one, other) => (isBehind(one, other) ? one : other))
          done += rows.length
          yield* progress(done, Math.max(all, done))
        }
      })

    const begun = yield* Effect.forEach(sources, begin)
    yield* soon(aligned([...sources.map(({ sql }) => sql), ...targets]), triesMax)
    // What nodes wrote behind it meanwhile is found by another pass.
    yield* Effect.forEach(begun, (source) => Effect.repeat(pass(source), { while: (isAny) => isAny }), {
      discard: true
    })
    // Also where a run before this one brought the last.
    yield* Effect.forEach(targets, rankAgain, { discard: true })
    return done
  })
