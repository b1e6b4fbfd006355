// What a deployment's database says of its keys.

import { SqlClient } from "@effect/sql"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Redacted } from "effect"
import { join } from "node:path"
import { administer, parsed } from "../support/services/redis/Redis.ts"
import { namesOf } from "../../src/storage/keys/KeyPoolRedis.ts"
import * as KeyTablesSql from "../../src/storage/keys/KeyTablesSql.ts"
import { numbers } from "../../src/storage/sql/postgres/PrimaryClient.ts"
import * as SqliteClient from "../../src/storage/sql/SqliteClient.ts"

/** Where every minted key is. */
export interface Account {
  /** Keys that have left their ranges. */
  readonly minted: number
  /** URLs of links with minted keys, by key. */
  readonly bound: ReadonlyMap<string, string>
  /** Keys that stand in a batch record or in the stock, and are not bound: the next start can use them. */
  readonly kept: ReadonlySet<string>
  /** Keys that are nowhere any more. */
  readonly lost: number
}

/** Where keys stand in a database that no program works on. */
const books = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [ranges] = yield* sql<{
    minted: number | string
  }>`SELECT coalesce(sum(next), 0) AS minted FROM key_ranges`
  const links = yield* sql<{ key: string; url: string }>`SELECT key, url FROM links WHERE NOT custom`
  const batches = yield* sql<{ keys: string }>`SELECT keys FROM pool_batches`
  const stocked = yield* sql<{ key: string }>`
    SELECT key FROM keys UNION ALL SELECT key FROM unused_keys UNION ALL SELECT key FROM stocked_keys WHERE NOT used`
  return {
    minted: Number(ranges!.minted),
    bound: new Map(links.map(({ key, url }) => [key, url])),
    recorded: batches.flatMap(({ keys }) => keys.split(" ").filter((key) => key !== "")),
    stocked: stocked.map(({ key }) => key)
  }
})

type Books = Effect.Effect.Success<typeof books>

/** Adds up what stands in a database, and in `pooled`. */
const accountOf = ({ bound, minted, recorded, stocked }: Books, pooled: ReadonlyArray<string>): Account => {
  const kept = new Set([...recorded, ...stocked, ...pooled].filter((key) => !bound.has(key)))
  return { minted, bound, kept, lost: minted - bound.size - kept.size }
}

const account = Effect.orDie(Effect.map(books, (found) => accountOf(found, [])))

const inFolder = (folder: string) => Layer.orDie(SqliteClient.layer(join(folder, "linkmint.db")))

/** The account of the SQLite database in a data folder. */
export const accountOfFolder = (folder: string): Effect.Effect<Account> =>
  Effect.provide(account, inFolder(folder))

/** Visits of links that a database has, by a look at its tables. */
export const visitsWritten = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql<{ visits: number | string }>`
    SELECT coalesce(sum(non_bots + bots), 0) AS visits FROM visit_periods
    WHERE grain = 0 AND subject LIKE '%@%'`
).pipe(
  Effect.map(([row]) => Number(row!.visits)),
  Effect.orDie
)

/** Visits of links that the SQLite database in a data folder has. */
export const visitsOfFolder = (folder: string): Effect.Effect<number> =>
  Effect.provide(visitsWritten, inFolder(folder))

const overPostgres = <A>(
  url: string,
  ask: Effect.Effect<A, unknown, SqlClient.SqlClient>
): Effect.Effect<A> =>
  ask.pipe(
    Effect.provide(Layer.orDie(PgClient.layer({ url: Redacted.make(url), types: numbers }))),
    Effect.orDie
  )

/** The account of a PostgreSQL database. */
export const accountOfUrl = (url: string): Effect.Effect<Account> => overPostgres(url, account)

/** How many keys can be taken from each kind of stock in a PostgreSQL database; those that are free again stand in `table`. */
export const stockLevels = (url: string) =>
  overPostgres(
    url,
    Effect.flatMap(SqlClient.SqlClient, (sql) => {
      const { free, ...ahead } = KeyTablesSql.make(sql)
      return Effect.all({ table: free.size, status: ahead.status.size, "two-table": ahead["two-table"].size })
    })
  )

/** The account of a deployment whose keys are pooled in Redis. */
export interface PooledAccount extends Account {
  /** Keys that stand in the pools and the stocks more than once, or there and are bound. */
  readonly twice: ReadonlyArray<string>
}

/** The account of a PostgreSQL database whose keys are pooled in Redis, in lists or sets: keys in the pools count as kept. */
export const accountWithPools = (url: string, redisUrls: string): Effect.Effect<PooledAccount> =>
  overPostgres(
    url,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const [row] = yield* sql<{ value: string }>`SELECT value FROM deployment WHERE name = 'identity'`
      const { fingerprint } = JSON.parse(row!.value) as { readonly fingerprint: string }
      const pools = yield* Effect.forEach(redisUrls.split(","), (redisUrl, shard) => {
        const { list, set } = namesOf(fingerprint.slice(0, 12), shard)
        return administer(parsed(redisUrl), async (redis) => [
          ...(await redis.lrange(list, 0, -1)),
          ...(await redis.smembers(set))
        ])
      })
      const found = yield* books
      const seen = new Set(found.bound.keys())
      const twice = [...pools.flat(), ...found.stocked].filter((key) => seen.has(key) || !seen.add(key))
      return { ...accountOf(found, pools.flat()), twice }
    })
  )
