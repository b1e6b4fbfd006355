import { type SqlClient, Statement } from "@effect/sql"

/** Where a statement to SQLite has the time at which it is sent. */
export interface NowSegment extends Statement.Custom<"Now", void, void> {}

const nowSegment = Statement.custom<NowSegment>("Now")(undefined, undefined, undefined)

/**
 * What time it is, in milliseconds since the Unix epoch: by the database's own clock on PostgreSQL, which all nodes have in common, and on SQLite by the
 * clock of this process, when the statement is sent.
 */
export const databaseNow = (sql: SqlClient.SqlClient): Statement.Fragment =>
  sql.onDialectOrElse({
    orElse: () => nowSegment,
    pg: () => sql`(extract(epoch FROM clock_timestamp()) * 1000)::bigint`
  })

/** The same throughout a statement, which reckons it once: only by such a value PostgreSQL finds the rows of before in an index. By {@link databaseNow} it looks at each row. */
export const databaseMoment = (sql: SqlClient.SqlClient): Statement.Fragment =>
  sql`(SELECT ${databaseNow(sql)})`

/** How a statement begins that is to be prepared; its kind and the end of the comment follow. */
export const preparedMark = "/* prepared "

/**
 * Begins a statement that each connection to PostgreSQL is to parse once, and plan once or a few times: for statements that are sent all the time, since both can take longer than
 * the statement itself.
 *
 * PostgreSQL keeps one plan for all parameters when plans made for single ones have not been cheaper by its own estimate: not for statements whose best plan depends on their parameters.
 *
 * A connection keeps so many statements of a kind at most. A statement whose text depends on what callers ask for has a kind of its own, so that it leaves room for the others.
 */
export const prepared = (sql: SqlClient.SqlClient, kind = "fixed"): Statement.Fragment =>
  sql.onDialectOrElse({ orElse: () => sql``, pg: () => sql.literal(`${preparedMark}${kind} */ `) })

/** Locks the rows that a `SELECT` gives until the transaction ends. On SQLite a transaction has the whole database. */
export const forUpdate = (sql: SqlClient.SqlClient): Statement.Fragment =>
  sql.onDialectOrElse({ orElse: () => sql``, pg: () => sql`FOR UPDATE` })

/** Whether a row's `column` is one of `values`, however many these are. */
export const isOneOf = (
  sql: SqlClient.SqlClient,
  column: string,
  values: ReadonlyArray<string>
): Statement.Fragment =>
  sql.onDialectOrElse({
    orElse: () => sql`${sql(column)} IN (SELECT value FROM json_each(${JSON.stringify(values)}))`,
    pg: () => sql`${sql(column)} = ANY(${values}::text[])`
  })

/**
 * Whether a row's `column` is one that `select` gives, which may have a limit. Rows that another transaction holds are passed over; the others are locked.
 *
 * On PostgreSQL an array: a planner that runs the sub-select more than once would take more rows than its limit.
 */
export const isOneOfFree = (
  sql: SqlClient.SqlClient,
  column: string,
  select: Statement.Fragment
): Statement.Fragment =>
  sql.onDialectOrElse({
    orElse: () => sql`${sql(column)} IN (${select})`,
    pg: () => sql`${sql(column)} = ANY(ARRAY(${select} FOR UPDATE SKIP LOCKED))`
  })
