import { Effect } from "effect"
import * as Parallel from "../../fibers/Parallel.ts"
import { bucketCount, bucketOf } from "../../keys/Buckets.ts"
import type { Link } from "../../model/Link.ts"
import {
  type CrawlableQuery,
  isRanked,
  type LinkPage,
  type LinkQuery,
  type LinkStore,
  type LinkTotal,
  type Position
} from "../links/LinkStore.ts"
import { confirmed, under } from "../links/buckets/LinkTenure.ts"
import type { Answered, LinkDatabase, Router } from "./Router.ts"

/** A database, and the links that it has. */
export interface HasLinks extends LinkDatabase {
  readonly links: typeof LinkStore.Service
}

const operation = "LinkStore.list"

const bucketOfQuestion = ({ key }: { readonly key: string }): number => bucketOf(key)

const compare = (one: Position, other: Position) =>
  (one.rank ?? 0) - (other.rank ?? 0) ||
  one.createdAt - other.createdAt ||
  (one.key < other.key ? -1 : one.key > other.key ? 1 : 0)

const comparedBy = (order: LinkQuery["order"]): typeof compare =>
  order === "createdAt-asc" ? compare : (one, other) => compare(other, one)

/** Whether a row is in a bucket that was at home where it was found: rows of others have left, or are arriving. */
const isAtHome =
  ({ index, placement }: Answered<unknown>) =>
  ({ key }: Link) =>
    placement.places[bucketOf(key)]!.home === index

/** A link of a page, and its place in the order of the query. */
interface Placed {
  readonly link: Link
  readonly position: Position
}

const placedOf = (page: Answered<LinkPage>): ReadonlyArray<Placed> => {
  const { links, ranks } = page.answer
  const stays = isAtHome(page)
  return links
    .map((link, index) => ({
      link,
      position: {
        createdAt: link.createdAt,
        key: link.key,
        ...(ranks !== undefined && { rank: ranks[index] })
      }
    }))
    .filter(({ link }) => stays(link))
}

/** How many links all databases have together, of which each was asked for `countedMax` at most. */
const totalOf = (pages: ReadonlyArray<Answered<LinkPage>>, countedMax: number): LinkTotal => {
  const totals = pages.flatMap(({ answer: { total } }) => (total === undefined ? [] : [total]))
  const count = totals.reduce((sum, total) => sum + total.count, 0)
  return {
    count: Math.min(count, countedMax),
    isExact: count <= countedMax && totals.every(({ isExact }) => isExact)
  }
}

/** One page of the pages of several databases, each in the same order. What lies behind the place that one of them came to is left for the next page. */
const merged = (pages: ReadonlyArray<Answered<LinkPage>>, { limit, order }: LinkQuery): LinkPage => {
  const compareBy = comparedBy(order)
  const [end = null] = pages
    .flatMap(({ answer: { next } }) => (next === null ? [] : [next]))
    .toSorted(compareBy)
  const placed = pages
    .flatMap(placedOf)
    .filter(({ position }) => end === null || compareBy(position, end) <= 0)
    .toSorted((one, other) => compareBy(one.position, other.position))
  const listed = placed.slice(0, limit)
  return {
    links: listed.map(({ link }) => link),
    ...(isRanked(order) && { ranks: listed.map(({ position }) => position.rank!) }),
    next: placed.length > limit ? listed.at(-1)!.position : end
  }
}

/** Whether what each database looks at for a page is bounded. */
const isSearch = ({ domain, hasCapitals, order, tag, text }: LinkQuery): boolean =>
  isRanked(order) ||
  text !== undefined ||
  tag !== undefined ||
  domain !== undefined ||
  hasCapitals !== undefined

/**
 * How many links of a page a database with so many buckets is asked for: those that it has of a page on average and two and a half standard deviations more, so that few are asked a second time. Of a
 * search, and in an order by visits, all: what one of them looks at is bounded.
 */
const partOf = (query: LinkQuery, buckets: number): number => {
  const part = buckets / bucketCount
  const most = query.limit * part + 2.5 * Math.sqrt(query.limit * part * (1 - part))
  return isSearch(query) ? query.limit : Math.min(query.limit, Math.max(1, Math.floor(most)))
}

/** The databases' pages because of which the whole would be too short: each was asked for too few links, and came to its place `next`. */
const tooShortAmong = (
  pages: ReadonlyArray<Answered<LinkPage>>,
  query: LinkQuery
): ReadonlySet<Answered<LinkPage>> => {
  if (isSearch(query)) return new Set()
  const compareBy = comparedBy(query.order)
  const links = pages.flatMap((page) => page.answer.links.filter(isAtHome(page)))
  const isReached = (next: Position) =>
    links.filter((link) => compareBy(link, next) <= 0).length >= query.limit
  return new Set(pages.filter(({ answer: { next } }) => next !== null && !isReached(next)))
}

/**
 * `LinkStore` over several databases, each of which has the links of some buckets. A batch is applied whole or not at all in each of them: a `StorageError` with `applied: "no"` left nothing behind in
 * any.
 */
export const make = (router: Router<HasLinks>): typeof LinkStore.Service => {
  const findMany = (keys: ReadonlyArray<string>) =>
    router.read(
      "LinkStore.findMany",
      keys,
      bucketOf,
      (some) =>
        ({ links }) =>
          links.findMany(some)
    )

  return {
    insertMany: (rows) =>
      router.write(
        "LinkStore.insertMany",
        rows,
        bucketOfQuestion,
        (some) =>
          ({ links }) =>
            links.insertMany(some)
      ),
    findMany,
    deleteMany: (deletions) =>
      router.write(
        "LinkStore.deleteMany",
        deletions,
        bucketOfQuestion,
        (some) =>
          ({ links, sql }, tenure) =>
            under(sql, "LinkStore.deleteMany", tenure, links.deleteMany(some))
      ),
    updateMany: (updates) =>
      router.write(
        "LinkStore.updateMany",
        updates,
        bucketOfQuestion,
        (some) =>
          ({ links, sql }, tenure) =>
            under(sql, "LinkStore.updateMany", tenure, links.updateMany(some))
      ),
    takeVisits: (takes) =>
      router.write(
        "LinkStore.takeVisits",
        takes,
        bucketOfQuestion,
        (some) =>
          ({ links, sql }, tenure) =>
            under(sql, "LinkStore.takeVisits", tenure, links.takeVisits(some))
      ),
    list: Effect.fnUntraced(function* (query: LinkQuery) {
      const { countedMax, limit, lookedAtMax } = query
      // Each may have all that are counted.
      const share = countedMax === undefined ? Math.ceil(lookedAtMax / router.databases.length) : lookedAtMax
      const { answers, failures } = yield* router.gather(operation, ({ links }, { buckets }) =>
        links.list({ ...query, lookedAtMax: share, limit: partOf(query, buckets.length) })
      )
      const tooShort = tooShortAmong(answers, query)
      const completed = yield* Parallel.forEach([...tooShort], (page) =>
        router
          .askAgain(operation, page, ({ links }) =>
            links.list({
              ...query,
              lookedAtMax: share,
              countedMax: undefined,
              after: page.answer.next!,
              limit
            })
          )
          .pipe(
            Effect.map((more) => ({
              ...page,
              answer: { ...page.answer, links: [...page.answer.links, ...more.links], next: more.next }
            })),
            // Then the page ends where that of this database does.
            Effect.orElseSucceed(() => page)
          )
      )
      const pages = [...answers.filter((page) => !tooShort.has(page)), ...completed]
      const isPartial = failures.length > 0
      const total = countedMax === undefined ? undefined : totalOf(answers, countedMax)
      return {
        ...merged(pages, query),
        ...(total !== undefined && { total: { ...total, isExact: total.isExact && !isPartial } }),
        ...(isPartial && { isPartial })
      }
    }),
    rankMany: (ranks) =>
      Effect.asVoid(
        router.write(
          "LinkStore.rankMany",
          ranks,
          bucketOfQuestion,
          (some) =>
            ({ links, sql }, tenure) =>
              Effect.as(under(sql, "LinkStore.rankMany", tenure, links.rankMany(some)), some)
        )
      ),
    crawlable: Effect.fnUntraced(function* (query: CrawlableQuery) {
      const { answers } = yield* router.gather("LinkStore.crawlable", ({ links, sql }, tenure) =>
        confirmed(sql, "LinkStore.crawlable", tenure, links.crawlable(query))
      )
      const keys = answers.flatMap(({ answer, index, placement }) =>
        answer.filter((key) => placement.places[bucketOf(key)]!.home === index)
      )
      const rows = yield* findMany(keys)
      return rows
        .filter((row) => row !== null)
        .toSorted(comparedBy("createdAt-desc"))
        .slice(0, query.limit)
        .map(({ key }) => key)
    }),
    takenAmong: (keys) =>
      Effect.map(
        router.read(
          "LinkStore.takenAmong",
          keys,
          bucketOf,
          (some) =>
            ({ links }) =>
              Effect.map(links.takenAmong(some), (taken) => some.map((key) => taken.has(key)))
        ),
        (taken) => new Set(keys.filter((_, place) => taken[place] === true))
      )
  }
}
