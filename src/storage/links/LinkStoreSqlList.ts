import { SqlClient, type Statement } from "@effect/sql"
import { Effect } from "effect"
import { defaultDomain, qualifiedKey } from "../../keys/QualifiedKey.ts"
import { fold, linkColumns, linkOf, type LinkRow } from "./LinkColumns.ts"
import { isRanked, type LinkPage, type LinkQuery, type Position } from "./LinkStore.ts"
import { prepared } from "../sql/SqlDialect.ts"
import { isInForce } from "./LinkEpoch.ts"
import * as LinkStoreSqlRanked from "./LinkStoreSqlRanked.ts"
import { isAtHome, LinkTenure, refused } from "./LinkTenure.ts"

/** A pattern of LIKE for texts that have this one in them. */
const patternOf = (text: string) => `%${fold(text).replaceAll(/[\\%_]/g, "\\$&")}%`

const positionOf = (row: Pick<LinkRow, "created_at" | "key">): Position => ({
  createdAt: row.created_at,
  key: row.key
})

/**
 * How many rows a statement is prepared for that lists links without a search: those of a page as clients ask for it unless they say otherwise, and of its part in one of several databases. To plan it takes
 * longer than to run it. The number is a part of its text, since PostgreSQL would plan for another one.
 */
const preparedRows: ReadonlyArray<number> = [21, 51]

/** Archived links that a page passes over as it reads. Where there are more, what it looks at is bounded, as for a search. */
const passedOverMax = 1_000

const operation = "LinkStore.list"

/** `LinkStore.list` on SQLite and PostgreSQL. For a caller that knows an epoch of the database, its last statement says whether that is in force. */
export const makeList = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const names = sql.literal(linkColumns.map(({ column }) => column).join(", "))
  const nulls = sql.literal(linkColumns.map(() => "NULL").join(", "))
  // Keys and URLs are ASCII. In another collation than "C" PostgreSQL would fold as the database's language does.
  const ascii = sql.onDialectOrElse({ orElse: () => sql.literal(""), pg: () => sql.literal(`COLLATE "C"`) })

  const hasTag = (tag: string) =>
    sql.onDialectOrElse({
      orElse: () => sql`EXISTS (SELECT 1 FROM json_each(tags) WHERE value = ${tag})`,
      pg: () => sql`(tags @> to_jsonb(${tag}::text))`
    })

  /** The key alone of a row's text. */
  const plainKey = sql.onDialectOrElse({
    orElse: () => sql`iif(instr(key, '~') = 0, key, substr(key, 1, instr(key, '~') - 1))`,
    pg: () => sql`split_part(key, '~', 1)`
  })

  const isIn = (domain: number) =>
    domain === defaultDomain ? sql`key NOT LIKE '%~%'` : sql`key LIKE ${qualifiedKey({ domain, key: "%" })}`

  const hasText = (text: string) => {
    const like = sql`LIKE ${patternOf(text)} ESCAPE '\\'`
    return sql`(lower(${plainKey}) ${like} OR lower(url ${ascii}) ${like} OR title_folded ${like})`
  }

  const archived = sql.onDialectOrElse({
    orElse: () => sql.literal("(extras ->> 'archived')"),
    pg: () => sql.literal("(extras::jsonb ->> 'archived')")
  })
  const isArchived = sql`${archived} IS NOT NULL`
  const isNotArchived = sql`(extras IS NULL OR ${archived} IS NULL)`

  /** The archived links. SQLite does not see by itself that their index has few of all links. */
  const archivedLinks = (owner: string | undefined) => {
    const index = owner === undefined ? "archived_links_by_age" : "archived_links_of_owner"
    return sql.onDialectOrElse({
      orElse: () => sql`links INDEXED BY ${sql.literal(index)}`,
      pg: () => sql`links`
    })
  }

  /** How many of the links are archived, up to `max`. */
  const archivedAmong = (links: ReadonlyArray<Statement.Fragment>, { owner }: LinkQuery, max: number) =>
    Effect.map(
      sql<{ readonly count: number }>`${prepared(sql)}SELECT count(*) AS count FROM (
        SELECT 1 FROM ${archivedLinks(owner)} WHERE ${sql.and([...links, isArchived])} LIMIT ${max}) AS found`,
      ([row]) => Number(row!.count)
    )

  const rankedPage = LinkStoreSqlRanked.make(sql, operation)

  /**
   * The order of links by age, places in it, and whose they are. PostgreSQL is to read an owner's links by the index that has them in this order: where most links are that owner's it would read all links by age, and pass
   * over those that others have made since. So it is asked for a range of owners, of one, in their order.
   */
  const orderOf = (direction: "ASC" | "DESC", owner: string | undefined) => {
    const byOwner = owner !== undefined && sql.onDialectOrElse({ orElse: () => false, pg: () => true })
    const columns = sql.literal(byOwner ? "owner, created_at, key" : "created_at, key")
    return {
      ordered: sql.literal(
        `ORDER BY ${byOwner ? `owner ${direction}, ` : ""}created_at ${direction}, key ${direction}`
      ),
      at: (relation: string, { createdAt, key }: Position) =>
        sql`(${columns}) ${sql.literal(relation)} (${byOwner ? sql`${owner}, ` : sql``}${createdAt}, ${key})`,
      isOwned: byOwner
        ? [sql`owner >= ${owner} AND owner <= ${owner}`]
        : owner === undefined
          ? []
          : [sql`owner = ${owner}`]
    }
  }

  return Effect.fnUntraced(function* (query: LinkQuery) {
    const { after, countedMax, domain, hasCapitals, limit, lookedAtMax, notTag, order, owner, tag, text } =
      query
    const [direction, behind, upTo] =
      order === "createdAt-asc" ? (["ASC", ">", "<="] as const) : (["DESC", "<", ">="] as const)
    const { at, isOwned, ordered } = orderOf(direction, owner)
    const owned: ReadonlyArray<Statement.Fragment> = [
      sql`deleted_at IS NULL`,
      ...(owner === undefined ? [] : [sql`owner = ${owner}`])
    ]
    const most = Math.min(passedOverMax, lookedAtMax)
    const hidden = query.archived === false ? yield* archivedAmong(owned, query, most + 1) : 0
    const from = query.archived === true ? archivedLinks(owner) : sql`links`
    const allOf = (whose: ReadonlyArray<Statement.Fragment>): ReadonlyArray<Statement.Fragment> => [
      ...whose,
      ...(query.archived === true ? [isArchived] : []),
      ...(hidden > 0 && hidden <= most ? [isNotArchived] : [])
    ]
    const all = allOf([sql`deleted_at IS NULL`, ...isOwned])
    const among = [...all, ...(after === undefined ? [] : [at(behind, after)])]
    const filters: ReadonlyArray<Statement.Fragment> = [
      ...(hidden > most ? [isNotArchived] : []),
      ...(tag === undefined ? [] : [hasTag(tag)]),
      ...(notTag === undefined ? [] : [sql`NOT ${hasTag(notTag)}`]),
      ...(domain === undefined ? [] : [isIn(domain)]),
      ...(text === undefined ? [] : [hasText(text)]),
      ...(hasCapitals === undefined ? [] : [sql`(custom AND key <> lower(key ${ascii}))`])
    ]

    const tenure = yield* LinkTenure
    const byAge = Effect.gen(function* () {
      /** The last link that may be looked at. Asked for first, so that nothing that changes meanwhile is passed over or seen again. */
      const end =
        filters.length === 0
          ? undefined
          : (yield* sql<LinkRow>`
              SELECT created_at, key FROM ${from} WHERE ${sql.and(among)} ${ordered}
              LIMIT 1 OFFSET ${lookedAtMax - 1}`).map(positionOf)[0]
      const wanted = sql.and([...among, ...filters, ...(end === undefined ? [] : [at(upTo, end)])])
      const preparedFor = filters.length > 0 ? undefined : preparedRows.find((rows) => rows > limit)
      const atMost = sql.literal(String(preparedFor ?? limit + 1))
      const selected = sql`SELECT ${names} FROM ${from} WHERE ${wanted} ${ordered} LIMIT ${atMost}`
      const underEpoch =
        tenure === undefined
          ? selected
          : sql`(${selected}) UNION ALL SELECT ${nulls} WHERE NOT ${isInForce(sql, tenure.epoch)}`
      const rows = yield* sql<LinkRow>`${preparedFor === undefined ? sql`` : prepared(sql)}${underEpoch}`
      if (rows.at(-1)?.key === null) return yield* refused(operation)
      const page: LinkPage = {
        links: rows.slice(0, limit).map(linkOf),
        next: rows.length > limit ? positionOf(rows[limit - 1]!) : (end ?? null)
      }
      return page
    })
    const page = yield* isRanked(order)
      ? rankedPage(query, order, { from, all: allOf(owned), filters, tenure })
      : byAge
    if (countedMax === undefined) return page
    const countableMax = filters.length === 0 ? countedMax : lookedAtMax
    // Rows of buckets that have left, or that arrive, are counted where they are at home.
    const countable = tenure === undefined ? all : [...all, isAtHome(sql, tenure)]
    const inForce = tenure === undefined ? sql`TRUE` : isInForce(sql, tenure.epoch)
    const [counts] = yield* sql<{
      readonly looked: number
      readonly found: number
      readonly in_force: boolean | number
    }>`
      SELECT count(*) AS looked, count(CASE WHEN ${sql.and([sql`TRUE`, ...filters])} THEN 1 END) AS found,
             ${inForce} AS in_force
      FROM (SELECT key, url, title_folded, tags, custom, extras FROM ${from} WHERE ${sql.and(countable)} ${ordered}
            LIMIT ${countableMax + 1}) AS counted`
    if (!counts!.in_force) return yield* refused(operation)
    const [looked, found] = [Number(counts!.looked), Number(counts!.found)]
    return {
      ...page,
      total: { count: Math.min(found, countedMax), isExact: looked <= countableMax && found <= countedMax }
    }
  })
})
