import { SqlClient } from "@effect/sql"
import { Effect } from "effect"
import { isOneOf } from "../sql/SqlDialect.ts"
import { rowsOf } from "../sql/SqlRows.ts"
import type { LinkRank } from "./LinkStore.ts"

/** What is kept of how often links were visited, on SQLite and PostgreSQL. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const most = sql.onDialectOrElse({ orElse: () => sql.literal("max"), pg: () => sql.literal("greatest") })

  return {
    /** `LinkStore.rankMany`, in the order of the keys, so that nodes do not deadlock. A number never falls, whatever the order in which nodes come. */
    rankMany: (ranks: ReadonlyArray<LinkRank>) => {
      if (ranks.length === 0) return Effect.void
      const given = rowsOf(sql, {
        ranked_key: ["text", ranks.map(({ key }) => key)],
        ranked_at: ["bigint", ranks.map(({ createdAt }) => createdAt)],
        visits: ["bigint", ranks.map(({ visits }) => visits)],
        last_visit: ["bigint", ranks.map(({ lastVisit }) => lastVisit)]
      })
      const ofSame = (column: string) => sql`
        CASE WHEN link_ranks.link_created_at = excluded.link_created_at
          THEN ${most}(link_ranks.${sql.literal(column)}, excluded.${sql.literal(column)})
          ELSE excluded.${sql.literal(column)} END`
      return sql`
        INSERT INTO link_ranks (link_created_at, visits, last_visit, link_key, link_owner)
        SELECT links.created_at, given.visits, given.last_visit, links.key, links.owner
        FROM ${given} AS given JOIN links ON links.key = ranked_key AND links.created_at = ranked_at
        WHERE links.deleted_at IS NULL ORDER BY links.key
        ON CONFLICT (link_key) DO UPDATE
        SET visits = ${ofSame("visits")}, last_visit = ${ofSame("last_visit")},
            link_created_at = excluded.link_created_at, link_owner = excluded.link_owner
        WHERE link_ranks.link_created_at <> excluded.link_created_at
          OR link_ranks.visits < excluded.visits OR link_ranks.last_visit < excluded.last_visit`.pipe(
        Effect.asVoid
      )
    },
    /** Forgets those of keys that are free again. */
    forget: (keys: ReadonlyArray<string>) =>
      keys.length === 0
        ? Effect.void
        : Effect.asVoid(sql`DELETE FROM link_ranks WHERE ${isOneOf(sql, "link_key", keys)}`)
  }
})
