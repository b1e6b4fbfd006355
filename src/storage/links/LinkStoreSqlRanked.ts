import type { SqlClient, Statement } from "@effect/sql"
import type { SqlError } from "@effect/sql/SqlError"
import { Effect } from "effect"
import type { StorageError } from "../StorageError.ts"
import { linkColumns, linkOf, type LinkRow } from "./LinkColumns.ts"
import { isInForce } from "./buckets/LinkEpoch.ts"
import type { LinkPage, LinkQuery, Position, RankOrder } from "./LinkStore.ts"
import { refused, type Tenure } from "./buckets/LinkTenure.ts"

/** What the columns of an order are called in `link_ranks`. */
const columns = { "visits-desc": "visits", "lastVisit-desc": "last_visit" } as const

/** Rows of deleted links that a page without a search passes over. */
const passedOverMax = 1_000

type Ranked = LinkRow & { readonly rank: number }

/** What a page is read from. */
interface Listed {
  /** The table of links, and what all of them must be. */
  readonly from: Statement.Fragment
  readonly all: ReadonlyArray<Statement.Fragment>
  /** What is looked for among them. */
  readonly filters: ReadonlyArray<Statement.Fragment>
  readonly tenure: Tenure | undefined
}

/**
 * A page in an order by visits: first the links that have a rank, in the order of an index of `link_ranks`, and then the others, in that of an index of `links`. What each of the two looks at is bounded,
 * since rows of deleted links are among the ranks, and links with ranks among the others.
 */
export const make = (sql: SqlClient.SqlClient, operation: string) => {
  const names = sql.literal(linkColumns.map(({ column }) => column).join(", "))
  const nulls = sql.literal([...linkColumns, "rank"].map(() => "NULL").join(", "))

  /** The link of a rank's row, looked for by itself: no plan reads the ranks in another order than that of their index. */
  const ranksWith = (ofLink: Statement.Fragment) => {
    const isOf = sql`links.key = link_key AND links.created_at = link_created_at AND ${ofLink}`
    return sql.onDialectOrElse({
      orElse: () => sql`link_ranks CROSS JOIN links ON ${isOf}`,
      pg: () => sql`link_ranks CROSS JOIN LATERAL (SELECT ${names} FROM links WHERE ${isOf} LIMIT 1) AS link`
    })
  }

  // Not EXISTS, which PostgreSQL may make a join with all ranks of.
  const isUnranked = sql`(
    SELECT 1 FROM link_ranks WHERE link_key = links.key AND link_created_at = links.created_at LIMIT 1) IS NULL`

  const positionOf = ({ created_at, key, rank }: Pick<Ranked, "created_at" | "key" | "rank">): Position => ({
    rank,
    createdAt: created_at,
    key
  })

  const rowsOf = (selected: Statement.Fragment, tenure: Tenure | undefined) =>
    Effect.filterOrFail(
      tenure === undefined
        ? sql<Ranked>`${selected}`
        : sql<Ranked>`(${selected}) UNION ALL SELECT ${nulls} WHERE NOT ${isInForce(sql, tenure.epoch)}`,
      (rows) => rows.at(-1)?.key !== null,
      () => refused(operation)
    )

  return (
    { after, limit, lookedAtMax, owner }: LinkQuery,
    order: RankOrder,
    { all, filters, from, tenure }: Listed
  ): Effect.Effect<LinkPage, SqlError | StorageError> => {
    const rank = sql.literal(columns[order])

    const ranked = Effect.gen(function* () {
      const byRank = sql`ORDER BY ${rank} DESC, link_created_at DESC, link_key DESC`
      const at = (relation: string, { createdAt, key, rank: value = 0 }: Position) =>
        sql`(${rank}, link_created_at, link_key) ${sql.literal(relation)} (${value}, ${createdAt}, ${key})`
      const among = [
        owner === undefined ? sql`TRUE` : sql`link_owner = ${owner}`,
        ...(after === undefined ? [] : [at("<", after)])
      ]
      const looked = filters.length === 0 ? Math.min(lookedAtMax, limit + passedOverMax) : lookedAtMax
      const [end] = yield* sql<Pick<Ranked, "created_at" | "key" | "rank">>`
        SELECT ${rank} AS rank, link_created_at AS created_at, link_key AS key FROM link_ranks
        WHERE ${sql.and(among)} ${byRank} LIMIT 1 OFFSET ${looked - 1}`
      const last = end === undefined ? undefined : positionOf(end)
      const wanted = sql.and([...among, ...(last === undefined ? [] : [at(">=", last)])])
      const rows = yield* rowsOf(
        sql`SELECT ${names}, ${rank} AS rank FROM ${ranksWith(sql.and([...all, ...filters]))}
            WHERE ${wanted} ${byRank} LIMIT ${limit + 1}`,
        tenure
      )
      return { rows, end: last }
    })

    const unranked = Effect.fnUntraced(function* (count: number) {
      const byAge = sql`ORDER BY created_at DESC, key DESC`
      const at = (relation: string, { createdAt, key }: Position) =>
        sql`(created_at, key) ${sql.literal(relation)} (${createdAt}, ${key})`
      const among = [...all, ...(after?.rank === 0 ? [at("<", after)] : [])]
      const [end] = yield* sql<Pick<Ranked, "created_at" | "key" | "rank">>`
        SELECT created_at, key, 0 AS rank FROM ${from} WHERE ${sql.and(among)} ${byAge}
        LIMIT 1 OFFSET ${lookedAtMax - 1}`
      const last = end === undefined ? undefined : positionOf(end)
      const wanted = sql.and([
        ...among,
        ...filters,
        isUnranked,
        ...(last === undefined ? [] : [at(">=", last)])
      ])
      const rows = yield* rowsOf(
        sql`SELECT ${names}, 0 AS rank FROM ${from} WHERE ${wanted} ${byAge} LIMIT ${count + 1}`,
        tenure
      )
      return { rows, end: last }
    })

    const pageOf = (rows: ReadonlyArray<Ranked>, end: Position | undefined): LinkPage => {
      const listed = rows.slice(0, limit)
      return {
        links: listed.map(linkOf),
        ranks: listed.map((row) => row.rank),
        next: rows.length > limit ? positionOf(listed.at(-1)!) : (end ?? null)
      }
    }

    return Effect.gen(function* () {
      const first = after?.rank === 0 ? { rows: [], end: undefined } : yield* ranked
      if (first.rows.length > limit || first.end !== undefined) return pageOf(first.rows, first.end)
      const others = yield* unranked(limit - first.rows.length)
      return pageOf([...first.rows, ...others.rows], others.end)
    })
  }
}
