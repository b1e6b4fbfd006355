import type { SqlClient, Statement } from "@effect/sql"
import { rankFactor } from "./VisitorSketch.ts"

/**
 * SQL that reads and makes the column `visitors` of periods. That of an hour has the entries of its sketch (`VisitorSketch.entryOf`). That of a day has the number of registers with each rank alone, as
 * `VisitorSketch.estimate` takes it, since a day is over when it is made: years of days are read as fast as a few hours. A month has none. PostgreSQL has arrays, SQLite JSON. The names of columns and tables are constants of this
 * program.
 */
export const make = (sql: SqlClient.SqlClient) => {
  const factor = sql.literal(String(rankFactor))
  const [opening, closing] = sql.onDialectOrElse({ orElse: () => "[]", pg: () => "{}" })
  const none = sql.literal(`'${opening}${closing}'`)

  /** The rows of `FROM` with the entries of a column of each, as `entry.value`. */
  const withEntries = (rows: Statement.Fragment, column: string) =>
    sql.onDialectOrElse({
      orElse: () => sql`${rows}, json_each(${sql.literal(column)}) AS entry`,
      pg: () => sql`${rows}, unnest(${sql.literal(column)}) AS entry (value)`
    })

  /** Values of one column that rows give, as a value of the column `visitors`. */
  const listOf = (rows: Statement.Fragment) =>
    sql.onDialectOrElse({
      orElse: () => sql`(SELECT json_group_array(value) FROM (${rows}))`,
      pg: () => sql`ARRAY(${rows})`
    })

  /** The number of registers with each rank of the union of what rows have in `column`, by `by`, where it is given: an expression over the rows. */
  const counted = (rows: Statement.Fragment, column: string, by = "0") => sql`
    SELECT part, CAST(count(*) * ${factor} + rank AS INTEGER) AS value
    FROM (SELECT ${sql.literal(by)} AS part, max(entry.value) % ${factor} AS rank
          FROM ${withEntries(rows, column)} GROUP BY 1, entry.value / ${factor}) AS registers
    GROUP BY part, rank`

  return {
    none,
    /** What the column has of an hour, as a text; `cast` makes that the column's type. */
    textOf: (entries: ReadonlyArray<number> = []): string => `${opening}${entries.join(",")}${closing}`,
    cast: sql.onDialectOrElse({ orElse: () => sql``, pg: () => sql.literal("::integer[]") }),
    /** The union of two columns of a row of hours. */
    added: (kept: string, added: string) => {
      const both = sql.onDialectOrElse({
        orElse: () => sql`(SELECT value FROM json_each(${sql.literal(kept)})
                           UNION ALL SELECT value FROM json_each(${sql.literal(added)})) AS entry`,
        pg: () => sql`unnest(${sql.literal(kept)} || ${sql.literal(added)}) AS entry (value)`
      })
      const union = sql`SELECT max(entry.value) AS value FROM ${both} GROUP BY entry.value / ${factor} ORDER BY 1`
      return sql`CASE WHEN ${sql.literal(added)} = ${none} THEN ${sql.literal(kept)} ELSE ${listOf(union)} END`
    },
    /** The column of a day that consists of rows of hours. */
    together: (rows: Statement.Fragment, column: string) =>
      listOf(sql`SELECT value FROM (${counted(rows, column)}) AS counts ORDER BY value`),
    /** The entries of days, for `VisitorSketch.estimate`, from rows of hours (`hour`, `visitors`). */
    ofHours: (rows: Statement.Fragment) => sql<{ hour: number; value: number }>`
      SELECT part AS hour, value FROM (${counted(sql`(${rows}) AS periods`, "periods.visitors", "periods.hour - periods.hour % 24")}) AS counts`,
    /** The same from rows of days. */
    ofDays: (rows: Statement.Fragment) => sql<{ hour: number; value: number }>`
      SELECT periods.hour AS hour, entry.value AS value FROM ${withEntries(sql`(${rows}) AS periods`, "periods.visitors")}`
  }
}
