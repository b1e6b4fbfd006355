import { SqlClient, type Statement } from "@effect/sql"
import { Context, Effect, Layer } from "effect"
import { sqlPort } from "../../sql/SqlPort.ts"
import type { StorageError } from "../../StorageError.ts"
import { writersGone } from "./LinkWriters.ts"

/**
 * The epoch of a database of links, which keeps nodes that have an old placement from writing to it: see `BucketPlacement`.
 *
 * Laws:
 * 1. Before it was raised it is 0. It never falls.
 * 2. When `raise` has answered, no statement that asks whether a lower epoch `isInForce` writes, and every link that such a statement has written is committed.
 */
export class LinkEpoch extends Context.Tag("linkmint/LinkEpoch")<
  LinkEpoch,
  {
    readonly look: Effect.Effect<number, StorageError>
    /** Raises the epoch to at least `epoch`, and waits for those that may still write under a lower one. */
    readonly raise: (epoch: number) => Effect.Effect<void, StorageError>
  }
>() {}

/** The condition on which a statement writes links for a node whose placement says `epoch` of this database. */
export const isInForce = (sql: SqlClient.SqlClient, epoch: number): Statement.Fragment =>
  sql`(SELECT epoch FROM link_epoch WHERE id = 1) <= ${epoch}`

/** `LinkEpoch` on SQLite and PostgreSQL. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return sqlPort(LinkEpoch, {
    look: Effect.map(
      sql<{ epoch: number }>`SELECT epoch FROM link_epoch WHERE id = 1`,
      ([row]) => row!.epoch
    ),
    // Also where another one has raised it: those that it waits for may write still.
    raise: (epoch) =>
      Effect.zipRight(
        sql`UPDATE link_epoch SET epoch = ${epoch} WHERE id = 1 AND epoch < ${epoch}`,
        writersGone(sql)
      )
  })
})

/** `LinkEpoch` of whatever database the SQL client speaks to. The schema must be migrated. */
export const layer: Layer.Layer<LinkEpoch, never, SqlClient.SqlClient> = Layer.effect(LinkEpoch, make)
