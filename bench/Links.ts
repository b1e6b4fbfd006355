// Many links of a deployment, written past it: what matters is that they are there.

import { Effect } from "effect"
import Database from "libsql"
import { Client } from "pg"
import * as KeySpace from "../src/keys/KeySpace.ts"
import { bucketOfRow } from "../src/storage/links/buckets/LinkBucketsSql.ts"
import { Unavailable } from "../test/support/services/Service.ts"

const { characters, radix } = KeySpace.make("base62", 7)

/** Keys are as far apart as 10 M of them can be, in ascending order: the fastest to write, and as spread as minted ones. */
const step = 350_003

/** The digits of a key, the first one first, as powers of the radix. */
const powers = [6, 5, 4, 3, 2, 1, 0].map((exponent) => radix ** exponent)

/** The key of link `number`, from 1 on. */
export const keyOf = (number: number): string =>
  powers.map((power) => characters[Math.floor((number * step) / power) % radix]).join("")

/** Its target: a URL of some 60 characters. */
const urlStart = "https://www.example.com/articles/of/a/usual/length/"

/** The same in SQL, of a column `n`. */
const keySql = powers
  .map((power) => `substr('${characters}', (n * ${step} / ${power} % ${radix})::int + 1, 1)`)
  .join(" || ")

/** When the first of them was made; the others followed by the millisecond. */
const firstAt = Date.UTC(2026, 0, 1)

const attempt = (what: string, body: () => Promise<void>): Effect.Effect<void, Unavailable> =>
  Effect.tryPromise({
    try: body,
    catch: (error) => new Unavailable({ reason: `${what}: ${String(error)}` })
  })

const withClient = async (url: string, use: (client: Client) => Promise<unknown>) => {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    await use(client)
  } finally {
    await client.end()
  }
}

/** Runs statements one after the other on a connection of their own. */
export const execute = (
  url: string,
  ...statements: ReadonlyArray<string>
): Effect.Effect<void, Unavailable> =>
  attempt("a statement failed", () =>
    withClient(url, async (client) => {
      for (const statement of statements) await client.query(statement)
    })
  )

/** Sessions that write at once: as many as there are cores to write. */
const sessions = 2

const insertHalf = (url: string, insert: (from: number, to: number) => string, count: number) =>
  Promise.all(
    Array.from({ length: sessions }, (_, session) => {
      const from = Math.floor((count * session) / sessions) + 1
      const to = Math.floor((count * (session + 1)) / sessions)
      return withClient(url, async (client) => {
        // What is lost with a crash here is made again: a benchmark begins from nothing.
        await client.query("SET synchronous_commit = off")
        await client.query(insert(from, to))
      })
    })
  )

/** Writes what is still to be written, so that it is not while something is measured. */
const settle = (url: string, table: string) =>
  withClient(url, async (client) => {
    await client.query(`VACUUM (ANALYZE) ${table}`)
    await client.query("CHECKPOINT")
  })

/** Those of links 1 … `count` of `owner` that are in some buckets, or all, in a migrated PostgreSQL database. */
export const fillPostgres = (
  url: string,
  count: number,
  owner: string,
  buckets?: ReadonlyArray<number>
): Effect.Effect<void, Unavailable> =>
  attempt("the links cannot be written", async () => {
    const own = buckets === undefined ? "true" : `${bucketOfRow} IN (${buckets.join(", ")})`
    await insertHalf(
      url,
      (from, to) => `
        INSERT INTO links (key, url, custom, created_at, updated_at, owner)
        SELECT key, '${urlStart}' || n, false, ${firstAt} + n, ${firstAt} + n, '${owner}'
        FROM (SELECT n, ${keySql} AS key FROM generate_series(${from}::bigint, ${to}::bigint) AS n) AS given
        WHERE ${own}`,
      count
    )
    await settle(url, "links")
  })

/** The same links as a plain service would have them: keys and targets, nothing else. */
export const fillReference = (url: string, count: number): Effect.Effect<void, Unavailable> =>
  attempt("the links of the reference cannot be written", async () => {
    await insertHalf(
      url,
      (from, to) => `INSERT INTO links (key, url) SELECT ${keySql}, '${urlStart}' || n
        FROM generate_series(${from}::bigint, ${to}::bigint) AS n`,
      count
    )
    await settle(url, "links")
  })

/** Links 1 … `count` of `owner` in a migrated SQLite file that no process has. */
export const fillSqlite = (file: string, count: number, owner: string): Effect.Effect<void, Unavailable> =>
  attempt("the links cannot be written", async () => {
    const database = new Database(file)
    database.exec("PRAGMA synchronous = OFF; BEGIN IMMEDIATE")
    const insert = database.prepare(
      "INSERT INTO links (key, url, custom, created_at, updated_at, owner) VALUES (?, ?, 0, ?, ?, ?)"
    )
    for (let number = 1; number <= count; number++) {
      const at = firstAt + number
      insert.run(keyOf(number), `${urlStart}${number}`, at, at, owner)
    }
    database.exec("COMMIT; ANALYZE; PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
  })
