// What a deployment's database says of its keys.

import { SqlClient } from "@effect/sql"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Redacted } from "effect"
import { join } from "node:path"
import { administer, parsed } from "../services/Redis.ts"
import * as SqliteClient from "../../src/storage/SqliteClient.ts"

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

/** Reads the account of a database that no program works on. */
const account = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [ranges] = yield* sql<{
    minted: number | string
  }>`SELECT coalesce(sum(next), 0) AS minted FROM key_ranges`
  const links = yield* sql<{ key: string; url: string }>`SELECT key, url FROM links WHERE NOT custom`
  const batches = yield* sql<{ keys: string }>`SELECT keys FROM pool_batches`
  const stocked = yield* sql<{ key: string }>`
    SELECT key FROM keys UNION ALL SELECT key FROM unused_keys UNION ALL SELECT key FROM stocked_keys WHERE NOT used`
  const bound = new Map(links.map(({ key, url }) => [key, url]))
  const recorded = [...batches.flatMap(({ keys }) => keys.split(" ")), ...stocked.map(({ key }) => key)]
  const kept = new Set(recorded.filter((key) => key !== "" && !bound.has(key)))
  const minted = Number(ranges!.minted)
  return { minted, bound, kept, lost: minted - bound.size - kept.size } satisfies Account
}).pipe(Effect.orDie)

/** The account of the SQLite database in a data folder. */
export const accountOfFolder = (folder: string): Effect.Effect<Account> =>
  account.pipe(Effect.provide(Layer.orDie(SqliteClient.layer(join(folder, "linkmint.db")))))

/** The account of a PostgreSQL database. */
export const accountOfUrl = (url: string): Effect.Effect<Account> =>
  account.pipe(Effect.provide(Layer.orDie(PgClient.layer({ url: Redacted.make(url) }))))

/** The account of a PostgreSQL database whose keys are pooled in a set of a Redis: those of its only shard count as kept. */
export const accountWithSet = (url: string, redisUrl: string): Effect.Effect<Account> =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* sql<{ value: string }>`SELECT value FROM deployment WHERE name = 'identity'`
    const { fingerprint } = JSON.parse(row!.value) as { readonly fingerprint: string }
    const name = `linkmint:{${fingerprint.slice(0, 12)}}:pool:0:set`
    const pooled = yield* administer(parsed(redisUrl), (redis) => redis.smembers(name))
    const { bound, kept, minted } = yield* account
    const all = new Set([...kept, ...pooled.filter((key) => !bound.has(key))])
    return { minted, bound, kept: all, lost: minted - bound.size - all.size }
  }).pipe(Effect.provide(Layer.orDie(PgClient.layer({ url: Redacted.make(url) }))), Effect.orDie)
