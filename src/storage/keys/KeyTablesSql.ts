import type { SqlClient } from "@effect/sql"
import type { SqlError } from "@effect/sql/SqlError"
import { Effect } from "effect"
import { isOneOfFree } from "../sql/SqlDialect.ts"

/** Keys in tables of the database. Rows that another transaction holds are passed over by `take`. */
export interface KeyTable {
  /** Puts keys in that the table does not know; gives how many. */
  readonly put: (keys: ReadonlyArray<string>) => Effect.Effect<number, SqlError>
  /** Takes up to `count` keys, inside a transaction: they are out when it is committed. */
  readonly take: (count: number) => Effect.Effect<ReadonlyArray<string>, SqlError>
  readonly size: Effect.Effect<number, SqlError>
  /** Forgets all keys that could be taken. */
  readonly clear: Effect.Effect<unknown, SqlError>
}

/**
 * The tables that stocks are made of: `free`, whose rows are deleted when they are taken; `status`, whose rows say whether they are used; and `two-table`, whose
 * rows move from the unused to the used ones.
 */
export const make = (
  sql: SqlClient.SqlClient
): { readonly free: KeyTable; readonly status: KeyTable; readonly "two-table": KeyTable } => {
  /** Rows `(key)`. In one order everywhere, so that two who put the same keys in do not wait for each other in a circle. */
  const rowsOf = (keys: ReadonlyArray<string>) => {
    const json = JSON.stringify(keys.toSorted())
    return sql.onDialectOrElse({
      orElse: () => sql`SELECT value AS key FROM json_each(${json}) WHERE true`,
      pg: () => sql`SELECT value AS key FROM jsonb_array_elements_text(${json}::jsonb) AS value`
    })
  }
  const keysOf = Effect.map((rows: ReadonlyArray<{ readonly key: string }>) => rows.map(({ key }) => key))
  const countOf = Effect.map((rows: ReadonlyArray<unknown>) => rows.length)
  const sizeOf = Effect.map((rows: ReadonlyArray<{ readonly size: number | string }>) =>
    Number(rows[0]!.size)
  )

  return {
    free: {
      put: (keys) =>
        countOf(sql`INSERT INTO keys (key) ${rowsOf(keys)} ON CONFLICT (key) DO NOTHING RETURNING 1`),
      take: (count) =>
        keysOf(
          sql`DELETE FROM keys WHERE ${isOneOfFree(sql, "key", sql`SELECT key FROM keys LIMIT ${count}`)} RETURNING key`
        ),
      size: sizeOf(sql`SELECT count(*) AS size FROM keys`),
      clear: sql`DELETE FROM keys`
    },
    status: {
      put: (keys) =>
        countOf(sql`INSERT INTO stocked_keys (key) ${rowsOf(keys)} ON CONFLICT (key) DO NOTHING RETURNING 1`),
      take: (count) =>
        keysOf(
          sql`UPDATE stocked_keys SET used = true
              WHERE ${isOneOfFree(sql, "key", sql`SELECT key FROM stocked_keys WHERE NOT used LIMIT ${count}`)}
              RETURNING key`
        ),
      size: sizeOf(sql`SELECT count(*) AS size FROM stocked_keys WHERE NOT used`),
      clear: sql`DELETE FROM stocked_keys WHERE NOT used`
    },
    "two-table": {
      put: (keys) =>
        countOf(
          sql`INSERT INTO unused_keys (key)
              SELECT key FROM (${rowsOf(keys)}) AS minted
              WHERE NOT EXISTS (SELECT 1 FROM used_keys WHERE used_keys.key = minted.key)
              ON CONFLICT (key) DO NOTHING RETURNING 1`
        ),
      take: (count) =>
        Effect.gen(function* () {
          const some = isOneOfFree(sql, "key", sql`SELECT key FROM unused_keys LIMIT ${count}`)
          const gone = yield* keysOf(sql`DELETE FROM unused_keys WHERE ${some} RETURNING key`)
          // A key that was put in once more, just while it moved, is out of both: it is in use already.
          return yield* keysOf(
            sql`INSERT INTO used_keys (key) ${rowsOf(gone)} ON CONFLICT (key) DO NOTHING RETURNING key`
          )
        }),
      size: sizeOf(sql`SELECT count(*) AS size FROM unused_keys`),
      clear: sql`DELETE FROM unused_keys`
    }
  }
}
