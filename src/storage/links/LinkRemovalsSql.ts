import { SqlClient } from "@effect/sql"
import { Effect, Layer } from "effect"
import { LinkRemovals, lookedFor_ms } from "./LinkRemovals.ts"
import * as LinkTombstonesSql from "./LinkTombstonesSql.ts"
import { sqlPort } from "../sql/SqlPort.ts"
import { databaseNow } from "../sql/SqlDialect.ts"

/** `LinkRemovals` on SQLite and PostgreSQL. Rows that another transaction has locked are skipped, so that two removals at once share the work. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { end } = yield* LinkTombstonesSql.make
  const now = databaseNow(sql)

  /** A link of the owner of the row `r`. By a limit, so that it is looked up for each owner, and not all links for all of them; and in the order of an index, so that it is looked up there. */
  const left = sql`(SELECT l.key FROM links l WHERE l.owner = r.owner AND l.deleted_at IS NULL ORDER BY l.created_at, l.key LIMIT 1)`

  return sqlPort(LinkRemovals, {
    ask: Effect.fnUntraced(function* (owner) {
      yield* sql`INSERT INTO link_removals (owner, asked_at) VALUES (${owner}, ${now}) ON CONFLICT DO NOTHING`
    }),

    remove: Effect.fnUntraced(function* (count) {
      const [row] = yield* sql<{ owner: string }>`
        SELECT r.owner FROM link_removals r WHERE ${left} IS NOT NULL ORDER BY r.asked_at, r.owner LIMIT 1`
      const some =
        row &&
        sql`SELECT key FROM links WHERE owner = ${row.owner} AND deleted_at IS NULL ORDER BY created_at, key LIMIT ${count}`
      const keys = some === undefined ? [] : yield* end(sql`deleted_at IS NULL`, some)
      yield* sql`DELETE FROM url_indexed_owners WHERE owner IN (SELECT owner FROM link_removals)`
      yield* sql`
        DELETE FROM link_removals WHERE asked_at <= ${now} - ${lookedFor_ms} AND owner IN (
          SELECT r.owner FROM link_removals r WHERE ${left} IS NULL)`
      return keys
    })
  })
})

/** `LinkRemovals` over whatever database the SQL client speaks to. The schema must be migrated. */
export const layer: Layer.Layer<LinkRemovals, never, SqlClient.SqlClient> = Layer.effect(LinkRemovals, make)
