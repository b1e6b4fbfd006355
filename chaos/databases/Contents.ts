// Links, guards and visits that are in the databases before the load, which never changes them, and what is found there afterwards.

import { Effect } from "effect"
import { adminId } from "../../src/accounts/Access.ts"
import {
  bucketOfGuardRow,
  bucketOfRow,
  bucketOfSubjectRow
} from "../../src/storage/links/buckets/LinkBucketsSql.ts"
import type { Unavailable } from "../../test/support/services/Service.ts"
import { coldKeyPrefix, coldUrlPrefix } from "../Load.ts"
import { inDatabase } from "../Stores.ts"
import type { Topology } from "./Topology.ts"

/** Of so many links one has a guard, and one has visits, in two hours. */
const guardEvery = 10
const visitsEvery = 4

/** How old the visits are, in hours: older than those of the run, and not so old that they are dropped. */
const visitsAge_h = [48, 49] as const

const tables = [
  { name: "links", bucket: bucketOfRow, ours: `key LIKE '${coldKeyPrefix}%'` },
  { name: "create_guards", bucket: bucketOfGuardRow, ours: `name LIKE 'idempotency:${coldKeyPrefix}%'` },
  {
    name: "visit_periods",
    bucket: bucketOfSubjectRow,
    ours: `subject LIKE '${coldKeyPrefix}%@0' AND grain = 0`
  }
] as const

const inSql = (buckets: ReadonlyArray<number>) =>
  buckets.length === 0 ? "false" : `bucket IN (${buckets.join(", ")})`

/** Buckets of each database, by its number. Fails where one is being moved. */
export const placement = (
  topology: Topology
): Effect.Effect<ReadonlyArray<ReadonlyArray<number>>, Unavailable> =>
  inDatabase(topology.databases[0]!, (sql) =>
    Effect.map(
      sql<{ bucket: number; home: number }>`
        SELECT all_buckets.bucket, coalesce(home, 0) AS home
        FROM generate_series(0, 255) AS all_buckets (bucket) LEFT JOIN bucket_placement USING (bucket) ORDER BY 1`,
      (rows) =>
        topology.databases.map((_, number) =>
          rows.filter(({ home }) => home === number).map(({ bucket }) => bucket)
        )
    )
  )

/** Writes links 1 … `count` past the nodes, each to where its bucket is, some with guards and visits. */
export const fill = (topology: Topology, count: number): Effect.Effect<void, Unavailable> =>
  Effect.gen(function* () {
    const homes = yield* placement(topology)
    yield* Effect.forEach(
      topology.databases,
      (database, number) =>
        inDatabase(database, (sql) =>
          Effect.gen(function* () {
            const own = inSql(homes[number]!)
            const inserted = (into: string, columns: string, from: string, bucket: string) =>
              sql.unsafe(`INSERT INTO ${into} SELECT ${columns}
                FROM (SELECT given.*, ${bucket} AS bucket FROM (${from}) AS given) AS given WHERE ${own}`)
            const key = `'${coldKeyPrefix}' || n AS key`
            const series = (every: number) => `generate_series(${every}, ${count}, ${every}) AS n`
            // What is lost with a crash here is made again: the run has not begun.
            yield* sql`SET synchronous_commit = off`
            yield* inserted(
              "links (key, url, custom, created_at, updated_at, owner)",
              `key, '${coldUrlPrefix}' || key, true, n, n, '${adminId}'`,
              `SELECT n, ${key} FROM ${series(1)}`,
              bucketOfRow
            )
            yield* inserted(
              "create_guards (name, token, begun_at, fingerprint, key, answer)",
              "name, n, (extract(epoch FROM now()) * 1000)::bigint, '', key, '{}'",
              `SELECT n, ${key}, 'idempotency:${coldKeyPrefix}' || n AS name FROM ${series(guardEvery)}`,
              bucketOfGuardRow
            )
            yield* inserted(
              "visit_periods (subject, grain, hour, non_bots, bots)",
              `subject, 0, extract(epoch FROM now())::bigint / 3600 - age, n % 7 + 1, n % 3`,
              `SELECT n, age, '${coldKeyPrefix}' || n || '@0' AS subject
               FROM ${series(visitsEvery)}, unnest(ARRAY[${visitsAge_h.join(", ")}]) AS age`,
              bucketOfSubjectRow
            )
            for (const { name } of tables) yield* sql.unsafe(`VACUUM (ANALYZE) ${name}`)
            yield* sql`CHECKPOINT`
          })
        ),
      { concurrency: 2, discard: true }
    )
  })

/** How many of the rows that were there before the load are in a table, and the sum of their hashes. */
export interface Counted {
  readonly table: (typeof tables)[number]["name"]
  readonly rows: number
  readonly sum: string
  /** Rows, of the load as well, that are in a database which is not the home of their bucket. */
  readonly misplaced: number
}

/** What each database has, by its number. */
export type Contents = ReadonlyArray<ReadonlyArray<Counted>>

/** Counts and sums all rows, while no bucket is being moved. */
export const read = (topology: Topology): Effect.Effect<Contents, Unavailable> =>
  Effect.flatMap(placement(topology), (homes) =>
    Effect.forEach(topology.databases, (database, number) =>
      inDatabase(database, (sql) =>
        Effect.forEach(tables, ({ bucket, name, ours }) =>
          Effect.map(
            sql.unsafe<{ rows: number; sum: string; misplaced: number }>(`
              SELECT count(*) FILTER (WHERE ${ours})::int AS rows,
                coalesce(sum(hashtextextended(t::text, 0)::numeric) FILTER (WHERE ${ours}), 0)::text AS sum,
                count(*) FILTER (WHERE NOT ${inSql(homes[number]!).replace("bucket", bucket)})::int AS misplaced
              FROM ${name} AS t`),
            ([row]) => ({ table: name, ...row! })
          )
        )
      )
    )
  )

/** Over all databases, by table: rows and the sum of their hashes. */
export const together = (contents: Contents): ReadonlyArray<Omit<Counted, "misplaced">> =>
  tables.map(({ name: table }) => {
    const found = contents.flat().filter((one) => one.table === table)
    return {
      table,
      rows: found.reduce((sum, { rows }) => sum + rows, 0),
      sum: String(found.reduce((total, { sum }) => total + BigInt(sum), 0n))
    }
  })

/** What the run itself has written. */
export interface Written {
  /** Links of all databases; a key that is in two of them is there twice. */
  readonly links: ReadonlyArray<{ readonly key: string; readonly url: string }>
  readonly guards: ReadonlyArray<{ readonly name: string; readonly key: string | null }>
  /** Visits by the key of the link. */
  readonly visits: ReadonlyMap<string, number>
}

/** Reads it, when all nodes have stopped. */
export const readWritten = (topology: Topology): Effect.Effect<Written, Unavailable> =>
  Effect.gen(function* () {
    const found = yield* Effect.forEach(topology.databases, (database) =>
      inDatabase(database, (sql) =>
        Effect.all({
          links: sql<{
            key: string
            url: string
          }>`SELECT key, url FROM links WHERE key NOT LIKE ${`${coldKeyPrefix}%`}`,
          guards: sql<{ name: string; key: string | null }>`
            SELECT name, key FROM create_guards WHERE name NOT LIKE ${`idempotency:${coldKeyPrefix}%`} AND answer IS NOT NULL`,
          visits: sql<{ key: string; visits: string }>`
            SELECT split_part(subject, '@', 1) AS key, sum(non_bots + bots) AS visits FROM visit_periods
            WHERE grain = 0 AND strpos(subject, '@') > 0 AND hour > extract(epoch FROM now()) / 3600 - ${visitsAge_h[0]} + 12
            GROUP BY 1`
        })
      )
    )
    const visits = new Map<string, number>()
    for (const { key, visits: some } of found.flatMap((one) => one.visits)) {
      visits.set(key, (visits.get(key) ?? 0) + Number(some))
    }
    return {
      links: found.flatMap((one) => one.links),
      guards: found.flatMap((one) => one.guards),
      visits
    }
  })
