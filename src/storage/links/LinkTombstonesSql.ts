import { SqlClient, type Statement } from "@effect/sql"
import { Effect } from "effect"
import { LinkAnnouncer } from "./LinkInvalidationsLocal.ts"
import { channel } from "./LinkInvalidationsPostgres.ts"
import { databaseNow, isOneOfFree } from "../sql/SqlDialect.ts"

/** A row of a link that has ended. */
export interface Ended {
  readonly key: string
  readonly custom: boolean | number
  readonly created_at: number
  readonly ended_at: number
}

/** What the ends of links have in common that come from no single request: the statement, and its announcement. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const announce = yield* LinkAnnouncer
  const now = databaseNow(sql)

  /** What a statement returns that ends or removes rows: on PostgreSQL it announces them. */
  const announced = sql.onDialectOrElse({
    orElse: () => sql`key, custom, created_at, ended_at`,
    pg: () => sql`key, custom, created_at, ended_at, pg_notify(${channel}, key)`
  })

  /** Announces such rows to this process, and gives their keys. */
  const told = (rows: ReadonlyArray<Ended>): ReadonlyArray<string> => {
    const keys = rows.map(({ key }) => key)
    announce(keys)
    return keys
  }

  /** Makes tombstones of those that are `due` and still in a state: gives their keys. The tombstones have no `deleteId`, so no repeat of a deletion matches them. */
  const end = (state: Statement.Fragment, due: Statement.Fragment) =>
    Effect.map(
      sql<Ended>`
        UPDATE links SET deleted_at = ${now}, updated_at = ${now}, ended_at = ${now}, create_id = NULL
        WHERE ${state} AND ${isOneOfFree(sql, "key", due)} RETURNING ${announced}`,
      told
    )

  return { announced, told, end }
})
