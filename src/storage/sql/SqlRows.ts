import type { SqlClient, Statement } from "@effect/sql"

/** Rows as columns: of each its SQL type on PostgreSQL, and the rows' values in order. */
export type Columns = Readonly<
  Record<string, readonly [type: string, values: ReadonlyArray<string | number | boolean | null>]>
>

/** What JSON escapes in another way than arrays of PostgreSQL do. */
const escapedOtherwise = /\\[^"\\]/

/** An array of PostgreSQL: as a text that is made at once, where JSON says the same, since `pg` takes it apart to make one. */
const arrayOf = <A>(values: ReadonlyArray<A>): ReadonlyArray<A> | string => {
  const json = JSON.stringify(values)
  return escapedOtherwise.test(json) ? values : `{${json.slice(1, -1)}}`
}

/**
 * Rows as a table expression that a statement selects from, whatever their number: JSON on SQLite, arrays on PostgreSQL. A column in which all
 * rows have one value is sent as that value: of a bulk of links these are most, and the databases take longer to read rows than to write them.
 */
export const rowsOf = (sql: SqlClient.SqlClient, columns: Columns): Statement.Fragment => {
  const all = Object.entries(columns).map(([name, [type, values]]) => ({ name, type, values }))
  // At least one column must vary: it carries the number of rows.
  const varying = all.filter(
    ({ values }, index) => index === 0 || values.some((value) => value !== values[0])
  )
  const names = varying.map(({ name }) => name)
  const same = all.filter(({ name }) => !names.includes(name))
  return sql.onDialectOrElse({
    orElse: () => {
      const rows = varying[0]!.values.map((_, row) => varying.map(({ values }) => values[row]))
      const selected = names.map((name, index) => sql.literal(`value ->> ${index} AS ${name}`))
      const fixed = same.map(({ name, values }) => sql`${values[0] ?? null} AS ${sql.literal(name)}`)
      return sql`(SELECT ${sql.csv([...selected, ...fixed])} FROM json_each(${JSON.stringify(rows)}))`
    },
    pg: () => {
      const arrays = varying.map(({ type, values }) => sql`${arrayOf(values)}::${sql.literal(type)}[]`)
      const fixed = same.map(
        ({ name, type, values }) => sql`${values[0] ?? null}::${sql.literal(type)} AS ${sql.literal(name)}`
      )
      return sql`(SELECT ${sql.csv([sql.literal("given.*"), ...fixed])}
                  FROM unnest(${sql.csv(arrays)}) AS given (${sql.literal(names.join(", "))}))`
    }
  })
}
