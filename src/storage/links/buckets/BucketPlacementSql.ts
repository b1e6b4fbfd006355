import { SqlClient } from "@effect/sql"
import { Effect, Layer } from "effect"
import { bucketCount } from "../../../keys/Buckets.ts"
import { BucketPlacement, canBegin, canEnd, firstPlace, type Move, type Place } from "./BucketPlacement.ts"
import { forUpdate } from "../../sql/SqlDialect.ts"
import { sqlPort } from "../../sql/SqlPort.ts"
import { rowsOf } from "../../sql/SqlRows.ts"
import { inTransaction } from "../../sql/SqlTransaction.ts"

interface PlaceRow {
  readonly bucket: number
  readonly home: number
  readonly moving_to: number | null
}

const placeOf = ({ home, moving_to }: PlaceRow): Place => ({ home, movingTo: moving_to })

/** `BucketPlacement` on SQLite and PostgreSQL. Whoever moves buckets from a database has locked its epoch. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  const write = (buckets: ReadonlyArray<number>, { home, movingTo }: Place) => {
    const rows = rowsOf(sql, {
      bucket: ["smallint", buckets],
      home: ["smallint", home],
      moving_to: ["smallint", movingTo]
    })
    return sql`
      INSERT INTO bucket_placement (bucket, home, moving_to) SELECT bucket, home, moving_to FROM ${rows} AS given WHERE true
      ON CONFLICT (bucket) DO UPDATE SET home = excluded.home, moving_to = excluded.moving_to`
  }

  /** The places of a move's buckets. They stay until the transaction ends, if they are in `from`. */
  const locked = Effect.fnUntraced(function* ({ buckets, from }: Move) {
    yield* sql`INSERT INTO bucket_homes (home, epoch) VALUES (${from}, 0) ON CONFLICT DO NOTHING`
    yield* sql`SELECT epoch FROM bucket_homes WHERE home = ${from} ${forUpdate(sql)}`
    const rows = yield* sql<PlaceRow>`SELECT * FROM bucket_placement WHERE ${sql.in("bucket", buckets)}`
    const places = new Map(rows.map((row) => [row.bucket, placeOf(row)]))
    return buckets.map((bucket) => ({ bucket, place: places.get(bucket) ?? firstPlace }))
  })

  return sqlPort(BucketPlacement, {
    // One statement, so that epochs and places are of one moment. An epoch has no bucket.
    read: Effect.map(
      sql<{ bucket: number | null; home: number; moving_to: number | null; epoch: number | null }>`
        SELECT bucket, home, moving_to, NULL AS epoch FROM bucket_placement
        UNION ALL SELECT NULL, home, NULL, epoch FROM bucket_homes WHERE epoch > 0`,
      (rows) => {
        const places = Array.from({ length: bucketCount }, () => firstPlace)
        const epochs = new Map<number, number>()
        for (const { bucket, epoch, home, moving_to } of rows) {
          if (bucket === null) epochs.set(home, epoch!)
          else places[bucket] = { home, movingTo: moving_to }
        }
        return { places, epochs }
      }
    ),
    begin: (move) =>
      inTransaction(
        sql,
        Effect.gen(function* () {
          const at = yield* locked(move)
          if (!at.every(({ place }) => canBegin(move, place))) return false
          const added = at.filter(({ place }) => place.movingTo === null).map(({ bucket }) => bucket)
          if (added.length === 0) return true
          yield* write(added, { home: move.from, movingTo: move.to })
          yield* sql`UPDATE bucket_homes SET epoch = epoch + 1 WHERE home = ${move.from}`
          return true
        })
      ),
    end: (move) =>
      inTransaction(
        sql,
        Effect.gen(function* () {
          const at = yield* locked(move)
          if (!at.every(({ place }) => canEnd(move, place))) return false
          const left = at.filter(({ place }) => place.movingTo !== null).map(({ bucket }) => bucket)
          if (left.length > 0) yield* write(left, { home: move.to, movingTo: null })
          return true
        })
      )
  })
})

/** `BucketPlacement` over whatever database the SQL client speaks to. The schema must be migrated. */
export const layer: Layer.Layer<BucketPlacement, never, SqlClient.SqlClient> = Layer.effect(
  BucketPlacement,
  make
)
