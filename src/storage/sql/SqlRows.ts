import type { SqlClient, Statement } from "@effect/sql"

type Value = string | number | boolean | null

/** Rows as columns: of each its SQL type on PostgreSQL, and the rows' values in order, or the one value that all rows have. The first column has values: it carries the number of rows. */
export type Columns = Readonly<Record<string, readonly [type: string, values: ReadonlyArray<Value> | Value]>>

/** What JSON escapes in another way than arrays of PostgreSQL do. */
const escapedOtherwise = /\\[^"\\]/

/** An array of PostgreSQL: as a text that is made at once, where JSON says the same, since `pg` takes it apart to make one. */
const arrayOf = <A>(values: ReadonlyArray<A>): ReadonlyArray<A> | string => {
  const json = JSON.stringify(values)
  return escapedOtherwise.test(json) ? values : `{${json.slice(1, -1)}}`
}

const isList = (values: ReadonlyArray<Value> | Value): values is ReadonlyArray<Value> => Array.isArray(values)

/** Columns, by whether their rows have one value. The text of a statement that selects from them depends on the names of `varying` alone. */
export interface Given {
  readonly varying: ReadonlyArray<{
    readonly name: string
    readonly type: string
    readonly values: ReadonlyArray<Value>
  }>
  readonly same: ReadonlyArray<{ readonly name: string; readonly type: string; readonly value: Value }>
}

/** Sorts columns by whether their rows have one value. */
export const givenOf = (columns: Columns): Given => {
  const varying: Array<Given["varying"][number]> = []
  const same: Array<Given["same"][number]> = []
  for (const [name, [type, values]] of Object.entries(columns)) {
    if (!isList(values)) same.push({ name, type, value: values })
    else if (varying.length === 0 || values.some((value) => value !== values[0])) {
      varying.push({ name, type, values })
    } else same.push({ name, type, value: values[0] ?? null })
  }
  return { varying, same }
}

const jsonOf = (varying: Given["varying"]): string =>
  JSON.stringify(varying[0]!.values.map((_, row) => varying.map(({ values }) => values[row])))

/** What a statement that selects from {@link tableOf}, and has no other parameters, is sent with. */
export const parametersOf = (sql: SqlClient.SqlClient, { same, varying }: Given): ReadonlyArray<unknown> => {
  const fixed: ReadonlyArray<unknown> = same.map(({ value }) => value)
  return sql.onDialectOrElse({
    orElse: () => [...fixed, jsonOf(varying)],
    pg: () => [...fixed, ...varying.map(({ values }) => arrayOf(values))]
  })
}

/**
 * Rows as a table expression that a statement selects from, whatever their number: JSON on SQLite, arrays on PostgreSQL. A column in which all
 * rows have one value is sent as that value: of a bulk of links these are most, and the databases take longer to read rows than to write them.
 */
export const rowsOf = (sql: SqlClient.SqlClient, columns: Columns): Statement.Fragment =>
  tableOf(sql, givenOf(columns))

/** {@link rowsOf} of what it is given. */
export const tableOf = (sql: SqlClient.SqlClient, { same, varying }: Given): Statement.Fragment =>
  sql.onDialectOrElse({
    orElse: () => {
      const selected = varying.map(({ name }, index) => sql.literal(`value ->> ${index} AS ${name}`))
      const fixed = same.map(({ name, value }) => sql`${value} AS ${sql.literal(name)}`)
      return sql`(SELECT ${sql.csv([...selected, ...fixed])} FROM json_each(${jsonOf(varying)}))`
    },
    pg: () => {
      const arrays = varying.map(({ type, values }) => sql`${arrayOf(values)}::${sql.literal(type)}[]`)
      const names = varying.map(({ name }) => name).join(", ")
      const fixed = same.map(
        ({ name, type, value }) => sql`${value}::${sql.literal(type)} AS ${sql.literal(name)}`
      )
      return sql`(SELECT ${sql.csv([sql.literal("given.*"), ...fixed])}
                  FROM unnest(${sql.csv(arrays)}) AS given (${sql.literal(names)}))`
    }
  })
