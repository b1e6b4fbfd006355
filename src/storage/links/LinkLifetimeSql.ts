import { SqlClient } from "@effect/sql"
import { Effect, Layer } from "effect"
import { fromStrings } from "../../keys/PackedKeys.ts"
import { plainKeyOf } from "../../keys/QualifiedKey.ts"
import { KeyStock } from "../keys/KeyStock.ts"
import { strikeFrom } from "../keys/KeyStockSql.ts"
import { type Forgotten, type FreedLink, isUnused, LinkLifetime } from "./LinkLifetime.ts"
import * as LinkRanksSql from "./LinkRanksSql.ts"
import { andAtHome, LinkTenure } from "./buckets/LinkTenure.ts"
import * as LinkTombstonesSql from "./LinkTombstonesSql.ts"
import * as VisitRemovals from "../visits/VisitRemovals.ts"
import { sqlPort } from "../sql/SqlPort.ts"
import { databaseMoment, isOneOf, isOneOfFree } from "../sql/SqlDialect.ts"
import { inTransaction } from "../sql/SqlTransaction.ts"

const freedOf = ({ created_at, key }: LinkTombstonesSql.Ended): FreedLink => ({ key, createdAt: created_at })

/**
 * `LinkLifetime` on SQLite and PostgreSQL. On PostgreSQL rows that another transaction has locked are skipped: a sweep waits for nobody,
 * and two that sweep at once share the work.
 */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const stock = yield* KeyStock
  const { announced, end, told } = yield* LinkTombstonesSql.make
  const ranks = yield* LinkRanksSql.make
  const moment = databaseMoment(sql)

  const hasExpired = sql`deleted_at IS NULL AND expires_at <= ${moment}`

  /** What the database has forgotten so far. Until the transaction ends it is not found to have forgotten more: what is stocked meanwhile would not be given up. */
  const forgotten = Effect.gen(function* () {
    yield* sql`SELECT id FROM database_mark ${sql.onDialectOrElse({ orElse: () => sql``, pg: () => sql`FOR KEY SHARE` })}`
    return yield* sql<Forgotten>`SELECT noticed_at AS at, since FROM database_regressions`
  })

  return sqlPort(LinkLifetime, {
    expire: Effect.fnUntraced(function* (keys) {
      const due = sql`SELECT key FROM links WHERE ${isOneOf(sql, "key", keys)} AND ${hasExpired}`
      return keys.length === 0 ? [] : yield* end(hasExpired, due)
    }),
    expireSome: Effect.fnUntraced(function* (count) {
      const due = sql`
        SELECT key FROM links WHERE ${hasExpired} ${andAtHome(sql, yield* LinkTenure)} ORDER BY expires_at LIMIT ${count}`
      return yield* end(hasExpired, due)
    }),
    recycle: Effect.fnUntraced(function* ({ count, quarantine_ms }) {
      const due = sql`
        SELECT key FROM links WHERE ended_at <= ${moment} - ${quarantine_ms} ${andAtHome(sql, yield* LinkTenure)}
        ORDER BY ended_at LIMIT ${count}`
      const gone = yield* inTransaction(
        sql,
        Effect.gen(function* () {
          const known = yield* forgotten
          const rows = yield* sql<LinkTombstonesSql.Ended>`
            DELETE FROM links WHERE ${isOneOfFree(sql, "key", due)} RETURNING ${announced}`
          yield* ranks.forget(rows.map(({ key }) => key))
          const minted = rows.filter(({ custom }) => !custom)
          if (minted.length > 0) {
            yield* strikeFrom(
              sql,
              minted.map(({ key }) => plainKeyOf(key))
            )
            const free = minted.filter(({ created_at, ended_at }) =>
              isUnused({ createdAt: created_at, endedAt: ended_at }, quarantine_ms, known)
            )
            if (free.length > 0) yield* stock.add(fromStrings(free.map(({ key }) => plainKeyOf(key))))
          }
          yield* VisitRemovals.remember(sql, rows.map(freedOf))
          return rows
        })
      )
      told(gone)
      return gone.map(freedOf)
    }),
    toForget: (count) => VisitRemovals.remembered(sql, count),
    forgotten: (subjects) => VisitRemovals.drop(sql, subjects)
  })
})

/** `LinkLifetime` over whatever database the SQL client speaks to, and the `KeyStock` of the same. The schema must be migrated. */
export const layer: Layer.Layer<LinkLifetime, never, KeyStock | SqlClient.SqlClient> = Layer.effect(
  LinkLifetime,
  make
)
