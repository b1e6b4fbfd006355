import type { SqlClient, Statement } from "@effect/sql"

/** The database's own clock, in milliseconds since the Unix epoch. */
export const databaseNow = (sql: SqlClient.SqlClient): Statement.Fragment =>
  sql.onDialectOrElse({
    orElse: () => sql`CAST(unixepoch('subsec') * 1000 AS INTEGER)`,
    pg: () => sql`(extract(epoch FROM clock_timestamp()) * 1000)::bigint`
  })

/** Whether a row's key is one of `keys`. */
export const keysIn = (sql: SqlClient.SqlClient, keys: ReadonlyArray<string>): Statement.Fragment =>
  sql.onDialectOrElse({
    orElse: () => sql`key IN (SELECT value FROM json_each(${JSON.stringify(keys)}))`,
    pg: () => sql`key = ANY(${keys}::text[])`
  })
