import { SqlClient } from "@effect/sql"
import { Effect, Layer, Number as Numbers } from "effect"
import { fromStrings, type PackedKeys, toStrings } from "../../keys/PackedKeys.ts"
import { type BatchId, KeyStock, type PoolClaim, type StockKind } from "./KeyStock.ts"
import * as KeyTablesSql from "./KeyTablesSql.ts"
import { forUpdate } from "../sql/SqlDialect.ts"
import { sqlPort } from "../sql/SqlPort.ts"
import { rowsOf } from "../sql/SqlRows.ts"
import { inTransaction } from "../sql/SqlTransaction.ts"
import { Fenced } from "../StorageError.ts"

/** The keys of a batch record are one text, each followed by a character that no alphabet has, so that texts can be concatenated. */
const end = " "

/** The text of a record of keys. */
export const textOf = (keys: PackedKeys): string =>
  toStrings(keys)
    .map((key) => key + end)
    .join("")

/** The keys of a record. */
export const keysOf = (text: string): PackedKeys => fromStrings(text.split(end).slice(0, -1))

/** The text of a record without some of its keys. */
const textWithout = (text: string, keys: ReadonlySet<string>): string =>
  text
    .split(end)
    .filter((key) => !keys.has(key))
    .join(end)

interface Batch {
  readonly shard: number
  readonly epoch: number | string
  readonly sequence: number | string
  readonly keys: string
}

/** Takes keys that are free again out of the records of open batches: the actor that finishes such a batch must not hand them out again. Inside a transaction. */
export const strikeFrom = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  keys: ReadonlyArray<string>
) {
  const freed = new Set(keys)
  const batches = yield* sql<Batch>`
    SELECT shard, epoch, sequence, keys FROM pool_batches ORDER BY shard, epoch, sequence ${forUpdate(sql)}`
  for (const batch of batches) {
    const left = textWithout(batch.keys, freed)
    if (left === batch.keys) continue
    yield* sql`UPDATE pool_batches SET keys = ${left}
      WHERE shard = ${batch.shard} AND epoch = ${batch.epoch} AND sequence = ${batch.sequence}`
  }
})

/**
 * `KeyStock` on SQLite and PostgreSQL. Each fenced transaction locks the shard's row first, and checks its epoch. A `kind` that
 * keeps nothing in the database is `none` here.
 */
export const make = Effect.fnUntraced(function* (kind: Exclude<StockKind, "file"> = "none") {
  const sql = yield* SqlClient.SqlClient
  const { free, ...ahead } = KeyTablesSql.make(sql)
  const own = kind === "status" || kind === "two-table" ? ahead[kind] : free
  const others = Object.values(ahead).filter((table) => table !== own)

  /** Runs an effect in one transaction in which the claim is, and stays, the newest of its shard. */
  const fenced = <A, E, R>({ epoch, shard }: PoolClaim, effect: Effect.Effect<A, E, R>) =>
    inTransaction(
      sql,
      Effect.gen(function* () {
        const [newest] = yield* sql<{ epoch: number }>`
          SELECT epoch FROM pool_shards WHERE shard = ${shard} ${forUpdate(sql)}`
        return yield* newest?.epoch === epoch ? effect : new Fenced({ shard, epoch })
      })
    )

  const append = ({ epoch, sequence, shard }: BatchId, text: string) => sql`
    INSERT INTO pool_batches (shard, epoch, sequence, keys) VALUES (${shard}, ${epoch}, ${sequence}, ${text})
    ON CONFLICT (shard, epoch, sequence) DO UPDATE SET keys = pool_batches.keys || excluded.keys`

  return sqlPort(KeyStock, {
    claim: Effect.fnUntraced(function* (shard, above = 0) {
      const [claimed] = yield* sql<{ epoch: number }>`
        INSERT INTO pool_shards (shard, epoch) VALUES (${shard}, ${above + 1})
        ON CONFLICT (shard) DO UPDATE SET epoch =
          CASE WHEN pool_shards.epoch >= excluded.epoch THEN pool_shards.epoch + 1 ELSE excluded.epoch END
        RETURNING epoch`
      return { shard, epoch: claimed!.epoch }
    }),
    add: (keys) => Effect.asVoid(free.put(toStrings(keys))),
    fill: (keys) => own.put(toStrings(keys)),
    take: (batch, count) =>
      fenced(
        batch,
        Effect.gen(function* () {
          const first = yield* free.take(count)
          const rest = own === free || first.length === count ? [] : yield* own.take(count - first.length)
          const keys = fromStrings([...first, ...rest])
          if (first.length + rest.length > 0) yield* append(batch, textOf(keys))
          return keys
        })
      ),
    record: (batch, keys) => Effect.asVoid(fenced(batch, append(batch, textOf(keys)))),
    openBatches: (shard) =>
      Effect.map(
        sql<Omit<BatchId, "shard"> & { readonly keys: string }>`
          SELECT epoch, sequence, keys FROM pool_batches WHERE shard = ${shard} ORDER BY epoch, sequence`,
        (rows) => rows.map((row) => ({ ...row, shard, keys: keysOf(row.keys) }))
      ),
    close: Effect.fnUntraced(function* (claim, batches) {
      if (batches.length === 0) return
      const closed = rowsOf(sql, {
        epoch: ["bigint", batches.map(({ epoch }) => epoch)],
        sequence: ["bigint", batches.map(({ sequence }) => sequence)]
      })
      yield* fenced(
        claim,
        sql`DELETE FROM pool_batches WHERE shard = ${claim.shard}
            AND (epoch, sequence) IN (SELECT epoch, sequence FROM ${closed} AS closed)`
      )
    }),
    size: Effect.map(Effect.all(own === free ? [free.size] : [free.size, own.size]), Numbers.sumAll),
    adopt: Effect.fnUntraced(function* (count) {
      let moved = 0
      for (const other of others) {
        moved += yield* inTransaction(
          sql,
          Effect.gen(function* () {
            const keys = yield* other.take(count - moved)
            if (keys.length > 0) yield* free.put(keys)
            return keys.length
          })
        )
      }
      return moved
    })
  })
})

/** `KeyStock` over whatever database the SQL client speaks to. The schema must be migrated. */
export const layer = (kind?: Exclude<StockKind, "file">): Layer.Layer<KeyStock, never, SqlClient.SqlClient> =>
  Layer.effect(KeyStock, make(kind))
