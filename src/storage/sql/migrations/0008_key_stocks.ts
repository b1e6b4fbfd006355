import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/** The tables of the stocks that keep used keys: one with a column that says so, and a pair. They are empty unless `KEY_STOCK` names them. */
export const keyStocks = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const key = sql.onDialectOrElse({
    orElse: () => sql.literal("TEXT"),
    pg: () => sql.literal(`TEXT COLLATE "C"`)
  })
  const table = sql.onDialectOrElse({ orElse: () => sql.literal("WITHOUT ROWID"), pg: () => sql.literal("") })
  yield* sql`CREATE TABLE stocked_keys (
    key ${key} NOT NULL PRIMARY KEY,
    used BOOLEAN NOT NULL DEFAULT false
  ) ${table}`
  yield* sql`CREATE INDEX stocked_keys_unused ON stocked_keys (key) WHERE NOT used`
  yield* sql`CREATE TABLE unused_keys (key ${key} NOT NULL PRIMARY KEY) ${table}`
  yield* sql`CREATE TABLE used_keys (key ${key} NOT NULL PRIMARY KEY) ${table}`
})
