import type { SqlClient } from "@effect/sql"
import type { SqlError } from "@effect/sql/SqlError"
import { Data, Effect, Schedule } from "effect"
import * as BucketBarrier from "./BucketBarrier.ts"
import { isIn, type MovedTable } from "./MovedTables.ts"

/** Rows that are compared, and deleted, at once. */
const atOnce = { compared: 5_000, deleted: 1_000 } as const

/** Differing rows that an error names. */
const namedMax = 5

/** The rows of a move's buckets differ in its two databases. */
export class RowsDiffer extends Data.TaggedError("RowsDiffer")<{
  readonly table: string
  /** Their primary keys, of the first ones in order. */
  readonly keys: ReadonlyArray<string>
}> {
  override get message() {
    return `Rows of ${this.table} differ in the two databases: ${this.keys.join(", ")}`
  }
}

/** A row as it is compared. */
interface Row {
  /** Its primary key, as JSON. */
  readonly id: string
  readonly hash: string
  /** See `MovedTable.mayEnd`. */
  readonly mayEnd: boolean
  readonly isNew: boolean
}

/** Rows after one primary key, up to another; `null` is the first, or the last. */
interface Range {
  readonly after: string | null
  readonly upTo: string | null
}

interface Sums {
  readonly count: number
  readonly sum: string
}

/**
 * A 60-bit hash of a row, of all columns, named so that their order does not matter: sums of those of many rows are equal only if the rows are. SHA-256, as MD5 is missing on systems in
 * FIPS mode.
 */
const hashOf = (columns: ReadonlyArray<string>) =>
  `('x' || left(encode(sha256(convert_to(ROW(${columns.map((column) => `t.${column}`).join(", ")})::text, 'UTF8')), 'hex'), 15))::bit(60)::bigint`

/** Reads and deletes the rows of buckets in one database. */
export const make = (sql: SqlClient.SqlClient, table: MovedTable, buckets: ReadonlyArray<number>) => {
  const literal = (text: string) => sql.literal(text)
  const names = table.key.map(([column]) => column)
  const key = `(${names.join(", ")})`
  const id = `json_build_array(${names.join(", ")})::text`
  const whose = literal(isIn(table, buckets))

  /** A primary key as it was given by {@link id}. */
  const keyOf = (text: string) => {
    const values = JSON.parse(text) as ReadonlyArray<string | number>
    return sql`(${sql.csv(table.key.map(([, type], at) => sql`${values[at]!}::${literal(type)}`))})`
  }

  const within = ({ after, upTo }: Range) => {
    const lower = after === null ? sql`` : sql`AND ${literal(key)} > ${keyOf(after)}`
    const upper = upTo === null ? sql`` : sql`AND ${literal(key)} <= ${keyOf(upTo)}`
    return sql`${whose} ${lower} ${upper}`
  }

  const columns = Effect.map(
    sql<{ name: string }>`SELECT attname AS name FROM pg_attribute
      WHERE attrelid = ${table.name}::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attname`,
    (rows) => hashOf(rows.map(({ name }) => name))
  )

  return {
    isEmpty: Effect.map(
      sql`SELECT 1 FROM ${literal(table.name)} WHERE ${whose} LIMIT 1`,
      (rows) => rows.length === 0
    ),

    /** The last primary key of the next rows; `null` where fewer are left. */
    next: (after: string | null) =>
      Effect.map(
        sql<{
          id: string
        }>`SELECT ${literal(id)} AS id FROM ${literal(table.name)} WHERE ${within({ after, upTo: null })}
          ORDER BY ${literal(names.join(", "))} OFFSET ${atOnce.compared - 1} LIMIT 1`,
        ([row]) => row?.id ?? null
      ),

    sums: (range: Range) =>
      Effect.flatMap(columns, (hash) =>
        Effect.map(
          sql<Sums>`SELECT count(*) AS count, coalesce(sum(${literal(hash)}), 0)::text AS sum
            FROM ${literal(table.name)} t WHERE ${within(range)}`,
          ([sums]) => sums!
        )
      ),

    /** With `snapshot`, says which rows have been written since that was taken (`pg_current_snapshot`), in the same database. */
    rows: (range: Range, snapshot: string | null = null) =>
      Effect.flatMap(columns, (hash) => {
        // `xmin` has the lower 32 bits of a transaction's number.
        const isNew =
          snapshot === null
            ? sql`false`
            : sql`NOT pg_visible_in_snapshot((xmin::text::bigint + wraps - CASE WHEN xmin::text::bigint + wraps >= top THEN 4294967296 ELSE 0 END)::text::xid8, ${snapshot}::pg_snapshot)`
        return Effect.map(
          sql<Row>`SELECT ${literal(id)} AS id, ${literal(hash)}::text AS hash, ${literal(table.mayEnd)} AS "mayEnd", ${isNew} AS "isNew"
            FROM ${literal(table.name)} t, (
              SELECT top, (top >> 32) << 32 AS wraps
              FROM (SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS top) AS latest) AS present
            WHERE ${within(range)}`,
          (rows) => new Map(rows.map((row) => [row.id, row]))
        )
      }),

    /**
     * Deletes the next rows of a move after a primary key, as long as `bucket_leftovers` says that they may go: gives the last one's, or `null` where none is left. A mover that was believed dead
     * cannot delete what has come back since.
     */
    deleteSome: (move: number, after: string | null) =>
      BucketBarrier.passing(
        sql,
        move,
        Effect.gen(function* () {
          const allowed = yield* sql`SELECT move FROM bucket_leftovers WHERE move = ${move} FOR SHARE`
          if (allowed.length === 0) return { last: null, count: 0 }
          const [gone] = yield* sql<{ count: number; last: string | null }>`
            WITH gone AS MATERIALIZED (
              SELECT ${literal(names.join(", "))} FROM ${literal(table.name)} WHERE ${within({ after, upTo: null })}
              ORDER BY ${literal(names.join(", "))} LIMIT ${atOnce.deleted}),
            deleted AS (
              DELETE FROM ${literal(table.name)} t USING gone
              WHERE ${literal(names.map((name) => `t.${name} = gone.${name}`).join(" AND "))})
            SELECT (SELECT count(*) FROM gone) AS count,
              (SELECT ${literal(id)} FROM gone ORDER BY ${literal(names.map((name) => `${name} DESC`).join(", "))} LIMIT 1) AS last`
          return { count: gone!.count, last: gone!.count < atOnce.deleted ? null : gone!.last }
        })
      )
  }
}

/** What {@link make} gives. */
export type BucketRows = ReturnType<typeof make>

type Reads = Pick<BucketRows, "next" | "rows" | "sums">

/** How often rows that differ are read again before they are said to differ. */
const readAgain = Schedule.recurs(3)

const all = <A>(one: ReadonlyMap<string, A>, other: ReadonlyMap<string, A>) =>
  new Set([...one.keys(), ...other.keys()])

/** Goes through all rows, some at a time, and calls `differing` for each range whose counts or sums differ in the two databases. */
const compare = <E, R>(
  from: Reads,
  to: Reads,
  compared: (count: number) => Effect.Effect<void>,
  differing: (range: Range) => Effect.Effect<void, E, R>
) =>
  Effect.gen(function* () {
    let after: string | null = null
    do {
      const upTo: string | null = yield* from.next(after)
      const range = { after, upTo }
      const [here, there] = yield* Effect.all([from.sums(range), to.sums(range)], { concurrency: 2 })
      if (here.count !== there.count || here.sum !== there.sum) yield* differing(range)
      yield* compared(here.count)
      after = upTo
    } while (after !== null)
  })

const unlessEqual = (table: string, keys: ReadonlyArray<string>) =>
  keys.length === 0
    ? Effect.void
    : new RowsDiffer({
        table,
        keys: keys
          .toSorted()
          .slice(0, namedMax)
          .map((key) => JSON.parse(key).join(" "))
      })

/**
 * Compares rows while they are written to in `from`, and replicated. A row that was the same in `from` before and after it was read in `to`, which had caught up with what came before, must be
 * the same there.
 */
export const compareLive = <E>(
  table: string,
  from: Reads,
  to: Reads,
  caughtUp: Effect.Effect<void, E>,
  compared: (count: number) => Effect.Effect<void>
): Effect.Effect<void, RowsDiffer | SqlError | E> =>
  compare(from, to, compared, (range) =>
    Effect.gen(function* () {
      const before = yield* from.rows(range)
      yield* caughtUp
      const there = yield* to.rows(range)
      const after = yield* from.rows(range)
      const differ = [...all(before, there)].filter((id) => {
        const hash = before.get(id)?.hash
        return hash === after.get(id)?.hash && hash !== there.get(id)?.hash
      })
      yield* unlessEqual(table, differ)
    }).pipe(Effect.retry({ schedule: readAgain, while: (error) => error instanceof RowsDiffer }))
  )

/**
 * Compares rows that nobody changes any more in `from` with those in `to`, where they may have changed since `snapshot`. A row may be missing there if nodes may have deleted it
 * meanwhile, or if they have deleted its link: `freed` says which of some keys' links were.
 */
export const compareMoved = <E>(
  { linkOf, name }: MovedTable,
  from: Reads,
  to: Reads,
  snapshot: string,
  freed: (keys: ReadonlyArray<string>) => Effect.Effect<ReadonlySet<string>, E>,
  compared: (count: number) => Effect.Effect<void>
): Effect.Effect<void, RowsDiffer | SqlError | E> =>
  compare(from, to, compared, (range) =>
    Effect.gen(function* () {
      const [left, arrived] = yield* Effect.all([from.rows(range), to.rows(range, snapshot)])
      const differ = [...all(left, arrived)].filter((id) => {
        const [here, there] = [left.get(id), arrived.get(id)]
        if (there === undefined) return !here!.mayEnd
        return here?.hash !== there.hash && !there.isNew
      })
      if (differ.length === 0) return
      const missing = new Map<string, string>()
      for (const id of differ) {
        const key = arrived.has(id) ? undefined : linkOf?.(JSON.parse(id))
        if (key !== undefined) missing.set(id, key)
      }
      const gone = yield* freed([...new Set(missing.values())])
      yield* unlessEqual(
        name,
        differ.filter((id) => !gone.has(missing.get(id) ?? ""))
      )
    })
  )
