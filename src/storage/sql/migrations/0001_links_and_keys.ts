import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/** Partitions of `links` on PostgreSQL. More make each index smaller and planning slower; 16 keep 160 M links at 10 M each. */
const linkPartitions = 16

/**
 * Links, ranges, stock, batch records and the deployment's decisions. Times are milliseconds since the Unix epoch.
 *
 * Keys compare byte by byte on both databases (`COLLATE "C"`, SQLite's default), so that they are case-sensitive
 * and a batch sorted in JavaScript is sorted for the database.
 */
export const linksAndKeys = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const key = sql.onDialectOrElse({
    orElse: () => sql.literal("TEXT"),
    pg: () => sql.literal(`TEXT COLLATE "C"`)
  })
  const table = sql.onDialectOrElse({ orElse: () => sql.literal("WITHOUT ROWID"), pg: () => sql.literal("") })
  // On SQLite links stand in the order of their coming, beside an index of keys: ordered by their keys, each link of a bulk would write a page of its own.
  const partitioned = sql.onDialectOrElse({
    orElse: () => sql.literal(""),
    pg: () => sql.literal("PARTITION BY HASH (key)")
  })

  yield* sql`CREATE TABLE links (
    key ${key} NOT NULL PRIMARY KEY,
    url TEXT NOT NULL,
    custom BOOLEAN NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    expires_at BIGINT,
    deleted_at BIGINT,
    create_id BIGINT
  ) ${partitioned}`
  yield* sql.onDialectOrElse({
    orElse: () => Effect.void,
    pg: () =>
      Effect.forEach(
        Array.from({ length: linkPartitions }, (_, remainder) => remainder),
        (remainder) =>
          sql`CREATE TABLE ${sql(`links_${remainder}`)} PARTITION OF links
              FOR VALUES WITH (MODULUS ${sql.literal(String(linkPartitions))}, REMAINDER ${sql.literal(String(remainder))})`,
        { discard: true }
      )
  })

  yield* sql`CREATE TABLE key_ranges (
    length INTEGER NOT NULL,
    range INTEGER NOT NULL,
    next BIGINT NOT NULL,
    PRIMARY KEY (length, range)
  ) ${table}`

  yield* sql`CREATE TABLE keys (key ${key} NOT NULL PRIMARY KEY) ${table}`

  yield* sql`CREATE TABLE pool_shards (
    shard INTEGER NOT NULL PRIMARY KEY,
    epoch BIGINT NOT NULL
  ) ${table}`

  yield* sql`CREATE TABLE pool_batches (
    shard INTEGER NOT NULL,
    epoch BIGINT NOT NULL,
    sequence BIGINT NOT NULL,
    keys TEXT NOT NULL,
    PRIMARY KEY (shard, epoch, sequence)
  )`

  yield* sql`CREATE TABLE deployment (
    name TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
  ) ${table}`
})
