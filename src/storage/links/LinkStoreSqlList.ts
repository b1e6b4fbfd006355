import { SqlClient, type Statement } from "@effect/sql"
import { Effect, Exit } from "effect"
import { defaultDomain, qualifiedKey } from "../../keys/QualifiedKey.ts"
import { fold, linkColumns, linkOf, linkOfCells, type LinkRow } from "./LinkColumns.ts"
import { isRanked, type LinkPage, type LinkQuery, type Position } from "./LinkStore.ts"
import { direct } from "../sql/DirectSql.ts"
import { prepared } from "../sql/SqlDialect.ts"
import { isInForce } from "./buckets/LinkEpoch.ts"
import type { StorageError } from "../StorageError.ts"
import * as LinkStoreSqlRanked from "./LinkStoreSqlRanked.ts"
import { isAtHome, LinkTenure, refused, type Tenure } from "./buckets/LinkTenure.ts"

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

/** The values of a page's statement. */
interface PageValues {
  readonly owner: string
  readonly createdAt: number
  readonly key: string
  readonly epoch: number
}

/** The text of a page's statement, and which values it has, in their order. */
interface PageText {
  readonly text: string
  readonly slots: ReadonlyArray<keyof PageValues>
}

/** Stand in for the values where a text is put together: each is its name. */
const standIns: PageValues = {
  owner: "owner",
  createdAt: "createdAt" as never,
  key: "key",
  epoch: "epoch" as never
}

/** What a page's statement gives: no page where too many archived links would be passed over. */
interface PlainPage {
  readonly page: LinkPage | undefined
  readonly hidden: number
}

/** Texts that are kept. For pages of a length that is prepared for there are 96 at most. */
const textsMax = 128

/** The direction of an order by age, and what lies behind a place in it, and up to it. */
const directionOf = (order: LinkQuery["order"]) =>
  order === "createdAt-asc" ? (["ASC", ">", "<="] as const) : (["DESC", "<", ">="] as const)

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

  /**
   * Asks how many of an owner's links, or of all, are archived, up to `max`. It asks in the order of their index. Before its first ANALYZE PostgreSQL takes nearly all links for archived: it would read the table from its
   * beginning to see `max` of them.
   */
  const archivedAmong = (
    links: ReadonlyArray<Statement.Fragment>,
    ordered: Statement.Fragment,
    { owner }: LinkQuery,
    max: number
  ) => sql`SELECT count(*) AS links FROM (
    SELECT 1 FROM ${archivedLinks(owner)} WHERE ${sql.and([...links, isArchived])} ${ordered}
    LIMIT ${sql.literal(String(max))}) AS found`

  const rankedPage = LinkStoreSqlRanked.make(sql, operation)

  /**
   * The order of links by age, places in it, and whose they are. PostgreSQL is to read an owner's links by the index that has them in this order: where most links are that owner's it would read all links by age, and pass
   * over those that others have made since. So it is asked for a range of owners, of one, in their order.
   */
  const orderOf = (direction: "ASC" | "DESC", owner: string | Statement.Fragment | undefined) => {
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

  /** The last row of a page: no key, and as the owner how many archived links there are to be passed over. */
  const lastRow = sql.literal(
    linkColumns
      .map(({ column }) => (column === "owner" ? "CAST((SELECT links FROM hidden) AS TEXT)" : "NULL"))
      .join(", ")
  )

  /** How an owner is named to PostgreSQL, so that it makes one plan for all. Else it takes a plan for each to be cheaper, and plans each time, which takes four times as long as the page. */
  const anyOwner = sql.onDialectOrElse({
    orElse: () => sql`${standIns.owner}`,
    pg: () => sql`(SELECT ${standIns.owner})`
  })

  /** `most`: archived links that are passed over at most. It begins with SELECT, so that SQLite runs it on a reading connection. */
  const pageStatement = (query: LinkQuery, rows: number, most: number, isTenured: boolean) => {
    const { after, archived, order, owner } = query
    const [direction, behind] = directionOf(order)
    const of = owner === undefined ? undefined : anyOwner
    const { at, isOwned, ordered } = orderOf(direction, of)
    const inOrder = [sql`deleted_at IS NULL`, ...isOwned]
    const hides = archived === false
    const hidden = archivedAmong(inOrder, ordered, query, most + 1)
    const wanted = sql.and([
      ...inOrder,
      ...(archived === true ? [isArchived] : []),
      ...(hides ? [isNotArchived, sql`(SELECT links FROM hidden) <= ${sql.literal(String(most))}`] : []),
      ...(after === undefined ? [] : [at(behind, standIns)])
    ])
    return sql`${preparedRows.includes(rows) ? prepared(sql, "lists") : sql``}
      SELECT * FROM (
        WITH hidden AS (${hides ? hidden : sql`SELECT 0 AS links`})
        SELECT * FROM (SELECT ${names} FROM ${archived === true ? archivedLinks(owner) : sql`links`}
                       WHERE ${wanted} ${ordered} LIMIT ${sql.literal(String(rows))}) AS page
        UNION ALL SELECT ${lastRow} ${isTenured ? sql`WHERE ${isInForce(sql, standIns.epoch)}` : sql``}
      ) AS listed`
  }

  const texts = new Map<string, PageText>()

  /** Put together once for a shape, which takes longer than all else here. */
  const textOf = (query: LinkQuery, rows: number, most: number, isTenured: boolean): PageText => {
    const { after, archived, order, owner } = query
    const shape = `${order} ${owner === undefined} ${after === undefined} ${archived} ${rows} ${most} ${isTenured}`
    const known = texts.get(shape)
    if (known !== undefined) return known
    const [text, slots] = pageStatement(query, rows, most, isTenured).compile()
    const made = { text, slots: slots as ReadonlyArray<keyof PageValues> }
    if (texts.size < textsMax) texts.set(shape, made)
    return made
  }

  /**
   * A page by age that is not searched, and how many archived links it passes over, by one statement. The page is `undefined` where these are more than `most`. PostgreSQL is asked whether the epoch is in force by the
   * same statement.
   */
  const plainPage = (query: LinkQuery, most: number, tenure: Tenure | undefined) => {
    const { after, limit, owner } = query
    const rows = preparedRows.find((rows) => rows > limit) ?? limit + 1
    const { slots, text } = textOf(query, rows, most, tenure !== undefined)
    const values: { readonly [slot in keyof PageValues]: PageValues[slot] | undefined } = {
      owner,
      createdAt: after?.createdAt,
      key: after?.key,
      epoch: tenure?.epoch
    }
    return direct(sql, operation, [text, slots.map((slot) => values[slot])]).flatMap(
      (all): Exit.Exit<PlainPage, StorageError> => {
        const last = all.at(-1)
        if (last === undefined || last[0] !== null) return Exit.fail(refused(operation))
        const hidden = Number(last[1])
        if (hidden > most) return Exit.succeed({ hidden, page: undefined })
        const links = all.slice(0, Math.min(limit, all.length - 1)).map(linkOfCells)
        const next =
          all.length - 1 > limit ? { createdAt: links.at(-1)!.createdAt, key: links.at(-1)!.key } : null
        return Exit.succeed({ hidden, page: { links, next } satisfies LinkPage })
      }
    )
  }

  return Effect.fnUntraced(function* (query: LinkQuery) {
    const { after, countedMax, domain, hasCapitals, limit, lookedAtMax, notTag, order, owner, tag, text } =
      query
    const most = Math.min(passedOverMax, lookedAtMax)
    const searched: ReadonlyArray<Statement.Fragment> = [
      ...(tag === undefined ? [] : [hasTag(tag)]),
      ...(notTag === undefined ? [] : [sql`NOT ${hasTag(notTag)}`]),
      ...(domain === undefined ? [] : [isIn(domain)]),
      ...(text === undefined ? [] : [hasText(text)]),
      ...(hasCapitals === undefined ? [] : [sql`(custom AND key <> lower(key ${ascii}))`])
    ]
    const tenure = yield* LinkTenure
    const plain = isRanked(order) || searched.length > 0 ? undefined : yield* plainPage(query, most, tenure)
    if (plain?.page !== undefined && countedMax === undefined) return plain.page

    const [direction, behind, upTo] = directionOf(order)
    const { at, isOwned, ordered } = orderOf(direction, owner)
    const isThere = sql`deleted_at IS NULL`
    const inOrder = [isThere, ...isOwned]
    const countHidden = Effect.map(
      sql<{
        readonly links: number
      }>`${prepared(sql, "lists")}${archivedAmong(inOrder, ordered, query, most + 1)}`,
      ([row]) => Number(row!.links)
    )
    const hidden = plain?.hidden ?? (query.archived === false ? yield* countHidden : 0)
    const from = query.archived === true ? archivedLinks(owner) : sql`links`
    const allOf = (whose: ReadonlyArray<Statement.Fragment>): ReadonlyArray<Statement.Fragment> => [
      ...whose,
      ...(query.archived === true ? [isArchived] : []),
      ...(hidden > 0 && hidden <= most ? [isNotArchived] : [])
    ]
    const all = allOf(inOrder)
    const filters = [...(hidden > most ? [isNotArchived] : []), ...searched]

    const byAge = Effect.gen(function* () {
      const among = [...all, ...(after === undefined ? [] : [at(behind, after)])]
      /** The last link that may be looked at. Asked for first, so that nothing that changes meanwhile is passed over or seen again. */
      const [end] = (yield* sql<LinkRow>`
        SELECT created_at, key FROM ${from} WHERE ${sql.and(among)} ${ordered}
        LIMIT 1 OFFSET ${lookedAtMax - 1}`).map(positionOf)
      const wanted = sql.and([...among, ...filters, ...(end === undefined ? [] : [at(upTo, end)])])
      const selected = sql`SELECT ${names} FROM ${from} WHERE ${wanted} ${ordered} LIMIT ${sql.literal(String(limit + 1))}`
      const rows = yield* tenure === undefined
        ? sql<LinkRow>`${selected}`
        : sql<LinkRow>`(${selected}) UNION ALL SELECT ${nulls} WHERE NOT ${isInForce(sql, tenure.epoch)}`
      if (rows.at(-1)?.key === null) return yield* refused(operation)
      const page: LinkPage = {
        links: rows.slice(0, limit).map(linkOf),
        next: rows.length > limit ? positionOf(rows[limit - 1]!) : (end ?? null)
      }
      return page
    })
    const page =
      plain?.page ??
      (yield* isRanked(order)
        ? rankedPage(query, order, {
            from,
            all: allOf([isThere, ...(owner === undefined ? [] : [sql`owner = ${owner}`])]),
            filters,
            tenure
          })
        : byAge)
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
