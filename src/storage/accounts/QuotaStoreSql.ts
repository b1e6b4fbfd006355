import { SqlClient, type Statement } from "@effect/sql"
import { Clock, Effect, Layer } from "effect"
import { type Ask, grant, QuotaStore } from "./QuotaStore.ts"
import { databaseNow, isOneOfFree } from "../sql/SqlDialect.ts"
import { sqlPort } from "../sql/SqlPort.ts"
import { rowsOf } from "../sql/SqlRows.ts"
import { transactional } from "../sql/SqlTransaction.ts"

interface QuotaRow {
  readonly id: string
  readonly available: number
  readonly at: number
  readonly now: number
}

/** A quota as a lease has left it. */
interface Written extends Omit<QuotaRow, "now"> {
  readonly fullAt: number
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

    const lockRows = (asks: ReadonlyArray<Ask>) =>
      Effect.flatMap(now, (now) => {
        // A statement inserts a row once.
        const limits = new Map(asks.map(({ id, limit }) => [id, limit]))
        const fresh = rowsOf(sql, {
          id: ["text", [...limits.keys()]],
          available: ["float8", [...limits.values()]]
        })
        return sql<QuotaRow>`
          INSERT INTO quotas (id, available, at, full_at)
          SELECT id, available, CAST(${now} AS bigint), 0 FROM ${fresh} AS fresh WHERE true ORDER BY id
          ON CONFLICT (id) DO UPDATE SET id = excluded.id
          RETURNING id, available, at, CAST(${now} AS bigint) AS now`
      })

    const write = (rows: ReadonlyArray<Written>) => {
      const written = rowsOf(sql, {
        id: ["text", rows.map(({ id }) => id)],
        available: ["float8", rows.map(({ available }) => available)],
        at: ["bigint", rows.map(({ at }) => at)],
        full_at: ["bigint", rows.map(({ fullAt }) => fullAt)]
      })
      return sql`
        UPDATE quotas SET available = q.available, at = q.at, full_at = q.full_at
        FROM ${written} AS q WHERE quotas.id = q.id`
    }

    return sqlPort(QuotaStore, {
      leaseMany: Effect.fnUntraced(function* (asks) {
        const rows = new Map((yield* lockRows(asks)).map((row) => [row.id, row]))
        const written = new Map<string, Written>()
        const leases = asks.map((ask) => {
          const { id } = ask
          const row = rows.get(id)!
          const { at, available, fullAt, lease } = grant(ask, written.get(id) ?? row, row.now)
          written.set(id, { id, available, at, fullAt })
          return lease
        })
        yield* write([...written.values()])
        return leases
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
