import { SqlClient } from "@effect/sql"
import type { SqlError } from "@effect/sql/SqlError"
import { Effect, Layer } from "effect"
import { DatabaseMark, type Identity, type Mark, type Regression, toldMax } from "./DatabaseMark.ts"
import * as RegressionsSql from "./RegressionsSql.ts"
import { databaseNow, forUpdate } from "../sql/SqlDialect.ts"
import { sqlPort } from "../sql/SqlPort.ts"
import { transactional } from "../sql/SqlTransaction.ts"
import type { Testimony } from "./Witness.ts"

/** A role may not ask for the system's identifier. */
const notAllowed = (cause: unknown) =>
  typeof cause === "object" && cause !== null && "code" in cause && cause.code === "42501"

interface MarkRow extends Omit<Mark, "timeline"> {
  readonly timeline: string
}

/** A timeline as PostgreSQL writes it: eight hexadecimal digits. */
const digitsOf = (timeline: number): string => timeline.toString(16).toUpperCase().padStart(8, "0")

/** `DatabaseMark` on SQLite and PostgreSQL. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const now = databaseNow(sql)
  const { begin, dropReady, lock, record } = RegressionsSql.make(sql)

  const timeline = sql.onDialectOrElse({
    orElse: () => sql.literal(`'${digitsOf(0)}'`),
    pg: () => sql.literal("left(pg_walfile_name(pg_current_wal_lsn()), 8)")
  })
  const timelineNow = Effect.map(sql<Pick<MarkRow, "timeline">>`SELECT ${timeline} AS timeline`, ([row]) =>
    Number.parseInt(row!.timeline, 16)
  )

  /** Gives how many numbers were skipped. */
  const raiseWatermarks = Effect.fnUntraced(function* (witnessed: Testimony["watermarks"]) {
    let skipped = 0
    for (const { length, next, range } of witnessed) {
      const [row] = yield* sql<{ next: number }>`
        SELECT next FROM key_ranges WHERE length = ${length} AND range = ${range} ${forUpdate(sql)}`
      skipped += Math.max(0, next - (row?.next ?? 0))
      yield* sql`
        INSERT INTO key_ranges (length, range, next) VALUES (${length}, ${range}, ${next})
        ON CONFLICT (length, range) DO UPDATE SET next = excluded.next WHERE key_ranges.next < excluded.next`
    }
    return skipped
  })

  const system = sql<{
    system: string
  }>`SELECT system_identifier::text AS system FROM pg_control_system()`.pipe(
    Effect.map(([row]): string | undefined => row!.system),
    Effect.catchAll((error) => (notAllowed(error.cause) ? Effect.succeed(undefined) : error))
  )
  const markOf = ({ lineage, mark, timeline }: MarkRow): Mark => ({
    mark,
    lineage,
    timeline: Number.parseInt(timeline, 16)
  })

  return sqlPort(DatabaseMark, {
    move: ({ floor, timeline: expected }) =>
      Effect.map(
        sql<MarkRow>`
          UPDATE database_mark SET mark = mark + 1, moved_at = ${now} WHERE id = 1 AND mark >= ${floor} AND ${timeline} = ${digitsOf(expected)}
          RETURNING mark, lineage, ${timeline} AS timeline`,
        ([moved]) => moved && markOf(moved)
      ),

    look: Effect.map(
      sql<MarkRow>`SELECT mark, lineage, ${timeline} AS timeline FROM database_mark WHERE id = 1`,
      ([found]) => markOf(found!)
    ),

    recover: Effect.fnUntraced(function* ({ mark: witnessed, timeline, watermarks }) {
      const found = yield* lock
      if (found.mark >= witnessed || (yield* timelineNow) !== timeline) return undefined
      const regression: Regression = {
        at: found.now,
        since: found.moved_at,
        mark: found.mark,
        witnessed,
        skipped: yield* raiseWatermarks(watermarks),
        dropped: yield* dropReady
      }
      yield* record(witnessed + 1, regression)
      yield* begin(witnessed + 1)
      return regression
    }, transactional(sql)),

    regressions: sql<Regression>`
      SELECT noticed_at AS at, since, mark, witnessed, skipped, dropped FROM database_regressions
      ORDER BY lineage DESC LIMIT ${toldMax}`,

    identity: sql.onDialectOrElse({
      orElse: (): Effect.Effect<Identity, SqlError> => Effect.succeed({ system: undefined, timeline: 0 }),
      pg: () => Effect.zipWith(system, timelineNow, (system, timeline): Identity => ({ system, timeline }))
    })
  })
})

/** `DatabaseMark` of whatever database the SQL client speaks to. The schema must be migrated. */
export const layer: Layer.Layer<DatabaseMark, never, SqlClient.SqlClient> = Layer.effect(DatabaseMark, make)
