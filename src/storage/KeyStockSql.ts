import { SqlClient } from "@effect/sql"
import { Effect, Layer } from "effect"
import { fromStrings, type PackedKeys, toStrings } from "../PackedKeys.ts"
import { type BatchId, KeyStock, type PoolClaim } from "./KeyStock.ts"
import { forUpdate, isOneOfFree } from "./SqlDialect.ts"
import { asStorageError, inTransaction } from "./SqlTransaction.ts"
import { Fenced } from "./StorageError.ts"

/** Keys of a batch record are one text, each ended by a character that no alphabet has, so that texts can be joined. */
const end = " "
const textOf = (keys: PackedKeys) =>
  toStrings(keys)
    .map((key) => key + end)
    .join("")

/** The keys of a record. */
export const keysOf = (text: string): PackedKeys => fromStrings(text.split(end).slice(0, -1))

/** The text of a record without some of its keys. */
export const textWithout = (text: string, keys: ReadonlySet<string>): string =>
  text
    .split(end)
    .filter((key) => !keys.has(key))
    .join(end)

/** `KeyStock` on SQLite and PostgreSQL. The shard's row is locked first in each fenced transaction: it is the fence. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  const jsonStrings = (json: string) =>
    sql.onDialectOrElse({
      orElse: () => sql`SELECT value FROM json_each(${json}) WHERE true`,
      pg: () => sql`SELECT value FROM jsonb_array_elements_text(${json}::jsonb) AS value`
    })

  /** Rows rather than a condition for each: SQLite bounds the depth of an expression. */
  const namesOf = (batches: ReadonlyArray<Omit<BatchId, "shard">>) =>
    sql.onDialectOrElse({
      orElse: () =>
        sql`SELECT value ->> 0, value ->> 1
            FROM json_each(${JSON.stringify(batches.map(({ epoch, sequence }) => [epoch, sequence]))})`,
      pg: () =>
        sql`SELECT * FROM unnest(${batches.map(({ epoch }) => epoch)}::bigint[],
                                 ${batches.map(({ sequence }) => sequence)}::bigint[])`
    })

  /** Runs an effect in one transaction in which the claim is, and stays, the newest of its shard. */
  const fenced = <A, E, R>({ epoch, shard }: PoolClaim, effect: Effect.Effect<A, E, R>) =>
    inTransaction(
      sql,
      Effect.gen(function* () {
        const rows = yield* sql<{
          epoch: number | string
        }>`SELECT epoch FROM pool_shards WHERE shard = ${shard} ${forUpdate(sql)}`
        if (rows[0] === undefined || Number(rows[0].epoch) !== epoch)
          return yield* new Fenced({ shard, epoch })
        return yield* effect
      })
    )

  const append = ({ epoch, sequence, shard }: BatchId, text: string) => sql`
    INSERT INTO pool_batches (shard, epoch, sequence, keys) VALUES (${shard}, ${epoch}, ${sequence}, ${text})
    ON CONFLICT (shard, epoch, sequence) DO UPDATE SET keys = pool_batches.keys || excluded.keys`

  return KeyStock.of({
    claim: Effect.fn("KeyStock.claim")(function* (shard) {
      const rows = yield* sql<{ epoch: number | string }>`
        INSERT INTO pool_shards (shard, epoch) VALUES (${shard}, 1)
        ON CONFLICT (shard) DO UPDATE SET epoch = pool_shards.epoch + 1 RETURNING epoch`
      return { shard, epoch: Number(rows[0]!.epoch) }
    }, asStorageError("KeyStock.claim")),
    add: Effect.fn("KeyStock.add")(function* (keys) {
      const json = JSON.stringify(toStrings(keys).toSorted())
      yield* sql`INSERT INTO keys (key) ${jsonStrings(json)} ON CONFLICT (key) DO NOTHING`
    }, asStorageError("KeyStock.add")),
    take: Effect.fn("KeyStock.take")(function* (batch, count) {
      return yield* fenced(
        batch,
        Effect.gen(function* () {
          const some = isOneOfFree(sql, "key", sql`SELECT key FROM keys LIMIT ${count}`)
          const rows = yield* sql<{ key: string }>`DELETE FROM keys WHERE ${some} RETURNING key`
          const keys = fromStrings(rows.map((row) => row.key))
          if (rows.length > 0) yield* append(batch, textOf(keys))
          return keys
        })
      )
    }, asStorageError("KeyStock.take")),
    record: Effect.fn("KeyStock.record")(function* (batch, keys) {
      yield* fenced(batch, append(batch, textOf(keys)))
    }, asStorageError("KeyStock.record")),
    openBatches: Effect.fn("KeyStock.openBatches")(function* (shard) {
      const rows = yield* sql<{ epoch: number | string; sequence: number | string; keys: string }>`
        SELECT epoch, sequence, keys FROM pool_batches WHERE shard = ${shard} ORDER BY epoch, sequence`
      return rows.map((row) => ({
        shard,
        epoch: Number(row.epoch),
        sequence: Number(row.sequence),
        keys: keysOf(row.keys)
      }))
    }, asStorageError("KeyStock.openBatches")),
    close: Effect.fn("KeyStock.close")(function* (claim, batches) {
      if (batches.length === 0) return
      yield* fenced(
        claim,
        sql`DELETE FROM pool_batches WHERE shard = ${claim.shard} AND (epoch, sequence) IN (${namesOf(batches)})`
      )
    }, asStorageError("KeyStock.close")),
    size: sql<{ size: number | string }>`SELECT count(*) AS size FROM keys`.pipe(
      Effect.map((rows) => Number(rows[0]!.size)),
      asStorageError("KeyStock.size")
    )
  })
})

/** `KeyStock` over whatever database the SQL client speaks to. The schema must be migrated. */
export const layer: Layer.Layer<KeyStock, never, SqlClient.SqlClient> = Layer.effect(KeyStock, make)
