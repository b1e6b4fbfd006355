import { Effect } from "effect"
import { bucketOf } from "../../keys/Buckets.ts"
import type { Link } from "../../model/Link.ts"
import {
  type CrawlableQuery,
  type LinkPage,
  type LinkQuery,
  type LinkStore,
  type LinkTotal,
  type Position
} from "../links/LinkStore.ts"
import { confirmed, under } from "../links/LinkTenure.ts"
import type { Answered, LinkDatabase, Router } from "./Router.ts"

/** A database, and the links that it has. */
export interface HasLinks extends LinkDatabase {
  readonly links: typeof LinkStore.Service
}

const bucketOfQuestion = ({ key }: { readonly key: string }): number => bucketOf(key)

const positionOf = ({ createdAt, key }: Position): Position => ({ createdAt, key })

const compare = (one: Position, other: Position) =>
  one.createdAt - other.createdAt || (one.key < other.key ? -1 : one.key > other.key ? 1 : 0)

const comparedBy = (order: LinkQuery["order"]): typeof compare =>
  order === "createdAt-asc" ? compare : (one, other) => compare(other, one)

/** Whether a row is in a bucket that was at home where it was found: rows of others have left, or are arriving. */
const isAtHome =
  ({ index, placement }: Answered<unknown>) =>
  ({ key }: Link) =>
    placement.places[bucketOf(key)]!.home === index

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
  const links = pages
    .flatMap((page) => page.answer.links.filter(isAtHome(page)))
    .filter((link) => end === null || compareBy(link, end) <= 0)
    .toSorted(compareBy)
  return links.length > limit
    ? { links: links.slice(0, limit), next: positionOf(links[limit - 1]!) }
    : { links, next: end }
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
      const share = {
        ...query,
        // Each may have all that are counted.
        lookedAtMax:
          query.countedMax === undefined
            ? Math.ceil(query.lookedAtMax / router.databases.length)
            : query.lookedAtMax
      }
      const { answers, failures } = yield* router.gather("LinkStore.list", ({ links, sql }, tenure) =>
        confirmed(sql, "LinkStore.list", tenure, links.list(share))
      )
      const page = merged(answers, query)
      if (failures.length > 0) return { ...page, isPartial: true }
      return query.countedMax === undefined ? page : { ...page, total: totalOf(answers, query.countedMax) }
    }),
    crawlable: Effect.fnUntraced(function* (query: CrawlableQuery) {
      const { answers } = yield* router.gather("LinkStore.crawlable", ({ links }) => links.crawlable(query))
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
