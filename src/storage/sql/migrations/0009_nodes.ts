import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/** What nodes tell of themselves: written about once a second by each, and worth nothing after a restart, so that PostgreSQL logs none of it. */
export const nodes = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const unlogged = sql.onDialectOrElse({ orElse: () => sql.literal(""), pg: () => sql.literal("UNLOGGED") })
  const bytewise = sql.onDialectOrElse({
    orElse: () => sql.literal("TEXT"),
    pg: () => sql.literal(`TEXT COLLATE "C"`)
  })
  yield* sql`CREATE ${unlogged} TABLE nodes (
    id ${bytewise} NOT NULL PRIMARY KEY,
    report TEXT NOT NULL,
    told_at BIGINT NOT NULL
  )`
})
