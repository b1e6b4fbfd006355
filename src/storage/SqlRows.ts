import type { SqlClient, Statement } from "@effect/sql"

/** Rows as columns: of each its SQL type on PostgreSQL, and the rows' values in order. */
export type Columns = Readonly<
  Record<string, readonly [type: string, values: ReadonlyArray<string | number | null>]>
>

/** Rows as a table expression that a statement selects from, whatever their number: JSON on SQLite, arrays on PostgreSQL. */
export const rowsOf = (sql: SqlClient.SqlClient, columns: Columns): Statement.Fragment => {
  const names = Object.keys(columns)
  return sql.onDialectOrElse({
    orElse: () => {
      const rows = columns[names[0]!]![1].map((_, row) => names.map((name) => columns[name]![1][row]))
      const selected = names.map((name, index) => `value ->> ${index} AS ${name}`).join(", ")
      return sql`(SELECT ${sql.literal(selected)} FROM json_each(${JSON.stringify(rows)}))`
    },
    pg: () => {
      const arrays = names.map((name) => {
        const [type, values] = columns[name]!
        return sql`${values}::${sql.literal(type)}[]`
      })
      return sql`(SELECT * FROM unnest(${sql.csv(arrays)}) AS given (${sql.literal(names.join(", "))}))`
    }
  })
}
