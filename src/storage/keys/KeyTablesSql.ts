import type { SqlClient, Statement } from "@effect/sql"
import type { SqlError } from "@effect/sql/SqlError"
import { Effect } from "effect"
import { isOneOfFree } from "../sql/SqlDialect.ts"
import { rowsOf } from "../sql/SqlRows.ts"

/** Keys in tables of the database. `take` skips rows that another transaction has locked. */
export interface KeyTable {
  /** Adds keys that the table does not know; gives how many. */
  readonly put: (keys: ReadonlyArray<string>) => Effect.Effect<number, SqlError>
  /** Takes up to `count` keys, inside a transaction: they leave the table when it commits. */
  readonly take: (count: number) => Effect.Effect<ReadonlyArray<string>, SqlError>
  readonly size: Effect.Effect<number, SqlError>
  /** Forgets all keys that could be taken; gives how many. */
  readonly clear: Effect.Effect<number, SqlError>
}

/**
 * The tables that stocks are made of: `free`, whose rows are deleted when they are taken; `status`, whose rows say whether they are used; and `two-table`, whose
 * rows move from the unused to the used ones.
 */
export const make = (
  sql: SqlClient.SqlClient
): { readonly free: KeyTable; readonly status: KeyTable; readonly "two-table": KeyTable } => {
  /** Rows `(key)`, in one order everywhere, so that two transactions that insert the same keys do not deadlock. */
  const keyRows = (keys: ReadonlyArray<string>) =>
    sql`SELECT key FROM ${rowsOf(sql, { key: ["text", keys.toSorted()] })} AS given WHERE true`
  const keysOf = Effect.map((rows: ReadonlyArray<{ readonly key: string }>) => rows.map(({ key }) => key))
  const countOf = Effect.map((rows: ReadonlyArray<unknown>) => rows.length)

  /** What tables have in common whose rows are free where `isFree` holds. */
  const tableOf = (name: string, isFree: Statement.Fragment) => {
    const free = sql`FROM ${sql(name)} WHERE ${isFree}`
    const size = Effect.map(
      sql<{ readonly size: number }>`SELECT count(*) AS size ${free}`,
      ([row]) => row!.size
    )
    return {
      isOneOf: (count: number) => isOneOfFree(sql, "key", sql`SELECT key ${free} LIMIT ${count}`),
      put: (keys: ReadonlyArray<string>) =>
        countOf(
          sql`INSERT INTO ${sql(name)} (key) ${keyRows(keys)} ON CONFLICT (key) DO NOTHING RETURNING 1`
        ),
      size,
      clear: Effect.zipLeft(size, sql`DELETE ${free}`)
    }
  }
  const keys = tableOf("keys", sql`true`)
  const stocked = tableOf("stocked_keys", sql`NOT used`)
  const unused = tableOf("unused_keys", sql`true`)

  return {
    free: {
      ...keys,
      take: (count) => keysOf(sql`DELETE FROM keys WHERE ${keys.isOneOf(count)} RETURNING key`)
    },
    status: {
      ...stocked,
      take: (count) =>
        keysOf(sql`UPDATE stocked_keys SET used = true WHERE ${stocked.isOneOf(count)} RETURNING key`)
    },
    "two-table": {
      ...unused,
      put: (keys) =>
        countOf(
          sql`INSERT INTO unused_keys (key)
              SELECT key FROM (${keyRows(keys)}) AS minted
              WHERE NOT EXISTS (SELECT 1 FROM used_keys WHERE used_keys.key = minted.key)
              ON CONFLICT (key) DO NOTHING RETURNING 1`
        ),
      take: Effect.fnUntraced(function* (count) {
        const gone = yield* keysOf(sql`DELETE FROM unused_keys WHERE ${unused.isOneOf(count)} RETURNING key`)
        // A key that was added again while it moved is left out: it is in use already.
        return yield* keysOf(
          sql`INSERT INTO used_keys (key) ${keyRows(gone)} ON CONFLICT (key) DO NOTHING RETURNING key`
        )
      })
    }
  }
}
