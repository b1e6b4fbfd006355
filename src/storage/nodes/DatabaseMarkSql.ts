import { SqlClient } from "@effect/sql"
import { Effect, Layer } from "effect"
import { count } from "../../keys/PackedKeys.ts"
import { DatabaseMark, type Identity, type Regression, toldMax } from "./DatabaseMark.ts"
import { keysOf } from "../keys/KeyStockSql.ts"
import * as KeyTablesSql from "../keys/KeyTablesSql.ts"
import { databaseNow, forUpdate } from "../sql/SqlDialect.ts"
import { asStorageError, inTransaction } from "../sql/SqlTransaction.ts"
import type { Testimony } from "./Witness.ts"

interface MarkRow {
  readonly mark: number | string
  readonly lineage: number | string
  readonly moved_at: number | string
}

type RegressionRow = Readonly<
  Record<"noticed_at" | "since" | "mark" | "witnessed" | "skipped" | "dropped", number | string>
>

const regressionOf = (row: RegressionRow): Regression => ({
  at: Number(row.noticed_at),
  since: Number(row.since),
  mark: Number(row.mark),
  witnessed: Number(row.witnessed),
  skipped: Number(row.skipped),
  dropped: Number(row.dropped)
})

/** A role may not ask for the system's identifier. */
const notAllowed = (cause: unknown) =>
  typeof cause === "object" && cause !== null && "code" in cause && cause.code === "42501"

/** `DatabaseMark` on SQLite and PostgreSQL. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const now = databaseNow(sql)
  const { free, ...ahead } = KeyTablesSql.make(sql)
  // A transaction that moves keys into `free` has taken them from one of the others before.
  const stocks = [...Object.values(ahead), free]

  /** The moment at which it is read, and everything that fenced transactions do waits for its end. */
  const lock = Effect.gen(function* () {
    const [row] = yield* sql<MarkRow & { readonly now: number | string }>`
      SELECT mark, lineage, moved_at, ${now} AS now FROM database_mark WHERE id = 1 ${forUpdate(sql)}`
    yield* sql`SELECT shard FROM pool_shards ORDER BY shard ${forUpdate(sql)}`
    return row!
  })

  /** Gives how many numbers were passed over. */
  const raiseWatermarks = Effect.fnUntraced(function* (witnessed: Testimony["watermarks"]) {
    let skipped = 0
    for (const { length, next, range } of witnessed) {
      const [row] = yield* sql<{ next: number | string }>`
        SELECT next FROM key_ranges WHERE length = ${length} AND range = ${range} ${forUpdate(sql)}`
      skipped += Math.max(0, next - Number(row?.next ?? 0))
      yield* sql`
        INSERT INTO key_ranges (length, range, next) VALUES (${length}, ${range}, ${next})
        ON CONFLICT (length, range) DO UPDATE SET next = excluded.next WHERE key_ranges.next < excluded.next`
    }
    return skipped
  })

  /** Gives how many keys stood ready. */
  const dropReady = Effect.gen(function* () {
    let dropped = 0
    const batches = yield* sql<{ keys: string }>`DELETE FROM pool_batches RETURNING keys`
    for (const { keys } of batches) dropped += count(keysOf(keys))
    for (const table of stocks) {
      dropped += yield* table.size
      yield* table.clear
    }
    yield* sql`UPDATE pool_shards SET epoch = epoch + 1`
    return dropped
  })

  const system = sql<{
    system: string
  }>`SELECT system_identifier::text AS system FROM pg_control_system()`.pipe(
    Effect.map(([row]): string | undefined => row!.system),
    Effect.catchAll((error) => (notAllowed(error.cause) ? Effect.succeed(undefined) : error))
  )
  const timeline = Effect.map(
    sql<{ timeline: string }>`SELECT left(pg_walfile_name(pg_current_wal_lsn()), 8) AS timeline`,
    ([row]) => Number.parseInt(row!.timeline, 16)
  )

  return DatabaseMark.of({
    move: Effect.fn("DatabaseMark.move")(function* (floor) {
      const [row] = yield* sql<MarkRow>`
        UPDATE database_mark SET mark = mark + 1, moved_at = ${now} WHERE id = 1 AND mark >= ${floor}
        RETURNING mark, lineage, moved_at`
      return row === undefined ? undefined : { mark: Number(row.mark), lineage: Number(row.lineage) }
    }, asStorageError("DatabaseMark.move")),

    look: Effect.map(
      sql<MarkRow>`SELECT mark, lineage, moved_at FROM database_mark WHERE id = 1`,
      ([row]) => ({ mark: Number(row!.mark), lineage: Number(row!.lineage) })
    ).pipe(asStorageError("DatabaseMark.look")),

    recover: Effect.fn("DatabaseMark.recover")(function* ({ mark: witnessed, watermarks }) {
      return yield* inTransaction(
        sql,
        Effect.gen(function* () {
          const found = yield* lock
          if (Number(found.mark) >= witnessed) return undefined
          const regression: Regression = {
            at: Number(found.now),
            since: Number(found.moved_at),
            mark: Number(found.mark),
            witnessed,
            skipped: yield* raiseWatermarks(watermarks),
            dropped: yield* dropReady
          }
          const { at, dropped, mark, since, skipped } = regression
          yield* sql`
            INSERT INTO database_regressions (lineage, noticed_at, since, mark, witnessed, skipped, dropped)
            VALUES (${witnessed + 1}, ${at}, ${since}, ${mark}, ${witnessed}, ${skipped}, ${dropped})`
          yield* sql`
            UPDATE database_mark SET mark = ${witnessed + 1}, lineage = ${witnessed + 1}, moved_at = ${now} WHERE id = 1`
          return regression
        })
      )
    }, asStorageError("DatabaseMark.recover")),

    regressions: Effect.map(
      sql<RegressionRow>`
        SELECT noticed_at, since, mark, witnessed, skipped, dropped FROM database_regressions
        ORDER BY lineage DESC LIMIT ${toldMax}`,
      (rows) => rows.map(regressionOf)
    ).pipe(asStorageError("DatabaseMark.regressions")),

    identity: sql
      .onDialectOrElse({
        orElse: (): Effect.Effect<Identity> => Effect.succeed({ system: undefined, timeline: 0 }),
        pg: () => Effect.all({ system, timeline })
      })
      .pipe(asStorageError("DatabaseMark.identity"))
  })
})

/** `DatabaseMark` of whatever database the SQL client speaks to. The schema must be migrated. */
export const layer: Layer.Layer<DatabaseMark, never, SqlClient.SqlClient> = Layer.effect(DatabaseMark, make)
