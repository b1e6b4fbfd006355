import type { SqlClient, Statement } from "@effect/sql"
import { type Dimension, dimensions, valuesMax } from "../../model/Visit.ts"
import type { ValueCount } from "./VisitStore.ts"

const numberOf = Object.fromEntries(dimensions.map((dimension, index) => [dimension, index])) as Readonly<
  Record<Dimension, number>
>

/**
 * Visits by value, as the text in the row of their period: a JSON object of visits, by the dimension's number (one digit) followed by the value.
 * `{"0news.example":3,"2Firefox":3}`
 */
export const textOf = (values: ReadonlyArray<ValueCount>): string => {
  let text = ""
  for (const { dimension, value, visits } of values) {
    text += `${text === "" ? "{" : ","}${JSON.stringify(numberOf[dimension] + value)}:${visits}`
  }
  return text === "" ? "{}" : `${text}}`
}

/** An entry of such a text. */
export interface Entry {
  readonly key: string
  readonly visits: number
}

/** The value and visits of an entry. */
export const valueOf = ({ key, visits }: Entry): ValueCount => ({
  dimension: dimensions[Number(key[0])]!,
  value: key.slice(1),
  visits
})

/** SQL that reads such texts, and makes new ones. The names of columns and tables are constants of this program. */
export const make = (sql: SqlClient.SqlClient) => {
  /** A column with texts, and its rows, unless the surrounding statement has them. */
  interface Source {
    readonly text: string
    readonly rows?: Statement.Fragment
  }

  /** The entries of texts: `key`, `visits` and `is_kept`, which is 1 for those that take precedence. */
  const entriesOf = ({ rows, text }: Source, isKept: "0" | "1" = "0") => {
    const from = rows === undefined ? sql`` : sql`${rows}, `
    return sql.onDialectOrElse({
      orElse: () => sql`
        SELECT entry.key, entry.value AS visits, ${sql.literal(isKept)} AS is_kept
        FROM ${from} json_each(${sql.literal(text)}) AS entry`,
      pg: () => sql`
        SELECT entry.key COLLATE "C" AS key, entry.value::bigint AS visits, ${sql.literal(isKept)} AS is_kept
        FROM ${from} json_each_text(${sql.literal(text)}::json) AS entry`
    })
  }

  /** Entries added up, each with its place in its dimension: kept ones first, then the most frequent, equal ones in the order of their characters. */
  const ranked = (entries: Statement.Fragment) => sql`
    SELECT key, sum(visits) AS visits, row_number() OVER (
      PARTITION BY substr(key, 1, 1) ORDER BY max(is_kept) DESC, sum(visits) DESC, key
    ) AS place
    FROM (${entries}) AS entries GROUP BY key`

  const objectOf = sql.onDialectOrElse({
    orElse: () => sql.literal("json_group_object(key, visits)"),
    pg: () => sql.literal("jsonb_object_agg(key, visits)::text")
  })

  /** A text of the entries together: at most `valuesMax` of a dimension. */
  const textFrom = (entries: Statement.Fragment) => sql`
    coalesce((SELECT ${objectOf} FROM (${ranked(entries)}) AS ranked WHERE place <= ${valuesMax}), '{}')`

  return {
    /** The text of an hour that a batch adds to, from two columns: new values are added while there is room. */
    added: (kept: string, added: string) =>
      textFrom(sql`${entriesOf({ text: kept }, "1")} UNION ALL ${entriesOf({ text: added })}`),
    /** The text of a period that consists of rows. */
    together: (source: Source) => textFrom(entriesOf(source)),
    /** The `max` most frequent values of each dimension in rows. */
    top: (source: Source, max: number) => sql<Entry>`
      SELECT key, visits FROM (${ranked(entriesOf(source))}) AS ranked
      WHERE place <= ${max} ORDER BY substr(key, 1, 1), place`
  }
}
