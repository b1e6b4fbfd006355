import { SqlClient, type Statement } from "@effect/sql"
import { Clock, Effect, Layer } from "effect"
import { grant, QuotaStore } from "./QuotaStore.ts"
import { databaseNow, isOneOfFree } from "../sql/SqlDialect.ts"
import { sqlPort } from "../sql/SqlPort.ts"
import { transactional } from "../sql/SqlTransaction.ts"

interface QuotaRow {
  readonly id: string
  readonly available: number
  readonly at: number
  readonly now: number
}

/** The present time in milliseconds since the Unix epoch: a number, or SQL. */
type Now = Effect.Effect<number | Statement.Fragment>

/**
 * `QuotaStore` on SQLite and PostgreSQL. A batch is one transaction: one statement inserts missing rows, and locks all in the order of their ids and
 * reads them; another one writes them.
 */
export const make = (now: Now) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const lockRows = (fresh: ReadonlyArray<{ readonly id: string; readonly limit: number }>) =>
      Effect.flatMap(now, (now) =>
        sql.onDialectOrElse({
          orElse: () => sql<QuotaRow>`
            INSERT INTO quotas (id, available, at, full_at)
            SELECT value ->> 'id', value ->> 'limit', ${now}, 0 FROM json_each(${JSON.stringify(fresh)}) WHERE true
            ON CONFLICT (id) DO UPDATE SET id = excluded.id
            RETURNING id, available, at, ${now} AS now`,
          pg: () => sql<QuotaRow>`
            INSERT INTO quotas (id, available, at, full_at)
            SELECT id, available, ${now}::bigint, 0
            FROM unnest(${fresh.map(({ id }) => id)}::text[], ${fresh.map(({ limit }) => limit)}::float8[])
              AS fresh (id, available) ORDER BY id
            ON CONFLICT (id) DO UPDATE SET id = excluded.id
            RETURNING id, available, at, ${now}::bigint AS now`
        })
      )

    const write = (rows: ReadonlyArray<{ id: string; available: number; at: number; fullAt: number }>) =>
      sql.onDialectOrElse({
        orElse: () => sql`
          UPDATE quotas SET available = q.value ->> 'available', at = q.value ->> 'at', full_at = q.value ->> 'fullAt'
          FROM json_each(${JSON.stringify(rows)}) AS q WHERE quotas.id = q.value ->> 'id'`,
        pg: () => sql`
          UPDATE quotas SET available = q.available, at = q.at, full_at = q.full_at
          FROM unnest(${rows.map(({ id }) => id)}::text[], ${rows.map(({ available }) => available)}::float8[],
                      ${rows.map(({ at }) => at)}::bigint[], ${rows.map(({ fullAt }) => fullAt)}::bigint[])
            AS q (id, available, at, full_at)
          WHERE quotas.id = q.id`
      })

    return sqlPort(QuotaStore, {
      leaseMany: Effect.fnUntraced(function* (asks) {
        const rows = new Map((yield* lockRows(asks)).map((row) => [row.id, row]))
        const granted = asks.map((ask) => {
          const { now, ...state } = rows.get(ask.id)!
          return { id: ask.id, ...grant(ask, state, now) }
        })
        yield* write(granted.map(({ at, available, fullAt, id }) => ({ id, available, at, fullAt })))
        return granted.map(({ lease }) => lease)
      }, transactional(sql)),

      sweep: Effect.fnUntraced(function* (max) {
        const moment = yield* now
        const full = sql`SELECT id FROM quotas WHERE full_at <= ${moment} LIMIT ${max}`
        const rows = yield* sql`DELETE FROM quotas WHERE ${isOneOfFree(sql, "id", full)} RETURNING id`
        return rows.length
      })
    })
  })

/** By Effect's clock: for a process alone. The schema must be migrated. */
export const layer: Layer.Layer<QuotaStore, never, SqlClient.SqlClient> = Layer.effect(
  QuotaStore,
  make(Clock.currentTimeMillis)
)

/** By PostgreSQL's clock, which all nodes share. The schema must be migrated. */
export const layerDatabaseClock: Layer.Layer<QuotaStore, never, SqlClient.SqlClient> = Layer.effect(
  QuotaStore,
  Effect.flatMap(SqlClient.SqlClient, (sql) => make(Effect.succeed(databaseNow(sql))))
)
