import { plainKeyOf } from "../../keys/QualifiedKey.ts"
import { Clock, Context, Effect, Layer } from "effect"
import { changed, type Link, meets, stateAt } from "../../model/Link.ts"
import { subjectOfLink } from "../../model/Visit.ts"
import { GuardedCreates } from "../../storage/links/GuardedCreates.ts"
import * as GuardedCreatesMemory from "./GuardedCreatesMemory.ts"
import { isFound, isListed } from "../../storage/links/LinkFilter.ts"
import {
  isRanked,
  isRepeat,
  type LinkOrder,
  type LinkPage,
  type LinkQuery,
  type LinkRank,
  LinkStore,
  type LinkTotal,
  type Position,
  type Update,
  updatesRemembered
} from "../../storage/links/LinkStore.ts"
import { type LastTake, noneTaken, type Take, take, type Taken } from "../../storage/visits/VisitTakes.ts"

const shown = (link: Link | undefined): Link | null => {
  if (link === undefined) return null
  const { createId: _, ...row } = link
  return row
}

const compare = (one: Position, other: Position): number =>
  (one.rank ?? 0) - (other.rank ?? 0) ||
  one.createdAt - other.createdAt ||
  (one.key < other.key ? -1 : one.key > other.key ? 1 : 0)

const totalOf = (all: ReadonlyArray<Link>, query: LinkQuery, countableMax: number): LinkTotal => {
  const found = all.slice(0, countableMax + 1).filter((link) => isFound(link, query)).length
  const count = Math.min(found, query.countedMax!)
  return { count, isExact: all.length <= countableMax && found === count }
}

/** The place of a link in an order. */
const placeOf = (
  { createdAt, key }: Link,
  order: LinkOrder,
  ranks: ReadonlyMap<string, LinkRank>
): Position => {
  if (!isRanked(order)) return { createdAt, key }
  const known = ranks.get(key)
  const isOf = known?.createdAt === createdAt
  return { createdAt, key, rank: isOf ? (order === "visits-desc" ? known.visits : known.lastVisit) : 0 }
}

/** Rows, in no order. */
type Rows = Pick<ReadonlyMap<string, Link>, "values">

const page = (
  links: Rows,
  countable: Rows,
  query: LinkQuery,
  ranks: ReadonlyMap<string, LinkRank>
): LinkPage => {
  const { after, countedMax, limit, lookedAtMax, order } = query
  const sign = order === "createdAt-asc" ? 1 : -1
  const place = (link: Link) => placeOf(link, order, ranks)
  const listedOf = (rows: Rows) =>
    [...rows.values()]
      .filter((link) => isListed(link, query))
      .toSorted((one, other) => sign * compare(place(one), place(other)))
  const all = listedOf(links)
  const behind = all.filter((link) => after === undefined || sign * compare(place(link), after) > 0)
  const { domain, hasCapitals, notTag, tag, text } = query
  const isSearch = [domain, hasCapitals, notTag, tag, text].some((filter) => filter !== undefined)
  const end = isSearch ? behind[lookedAtMax - 1] : undefined
  const found = behind.slice(0, isSearch ? lookedAtMax : behind.length).filter((link) => isFound(link, query))
  const last = found.length > limit ? found[limit - 1] : end
  const listed = found.slice(0, limit)
  return {
    links: listed.map((link) => shown(link)!),
    ...(isRanked(order) && { ranks: listed.map((link) => place(link).rank!) }),
    next: last === undefined ? null : place(last),
    ...(countedMax !== undefined && {
      total: totalOf(listedOf(countable), query, isSearch ? lookedAtMax : countedMax)
    })
  }
}

/** The minted keys of links in further domains. */
const mintedInFurtherDomains = (links: Map<string, Link>): Set<string> => {
  const keys = new Set<string>()
  for (const { custom, key } of links.values()) {
    const plain = custom ? key : plainKeyOf(key)
    if (plain !== key) keys.add(plain)
  }
  return keys
}

/**
 * `LinkStore` over a table of rows by their keys, which others may look into, and the moments at which tombstones were written (milliseconds since
 * the Unix epoch). `countable`: the rows that a list counts, where those of some buckets are counted elsewhere.
 */
export const makeOver = (
  links: Map<string, Link>,
  ended: Map<string, number> = new Map(),
  {
    ranks,
    removals,
    takes,
    updateIds
  }: {
    readonly removals: ReadonlySet<string>
    readonly updateIds: Map<string, ReadonlyArray<number>>
    readonly takes: Map<string, ReadonlyArray<LastTake>>
    readonly ranks: Map<string, LinkRank>
  } = { removals: new Set(), updateIds: new Map(), takes: new Map(), ranks: new Map() },
  countable: Rows = links
): typeof LinkStore.Service => {
  const update = ({ at, change, key, onlyIf, owner, updateId }: Update): Link | null => {
    const link = links.get(key)
    if (link === undefined || link.owner !== owner) return null
    const earlier = updateIds.get(key) ?? []
    if (earlier.includes(updateId)) return shown(link)
    if (link.deletedAt !== null || !meets(link, onlyIf)) return null
    updateIds.set(key, [updateId, ...earlier].slice(0, updatesRemembered))
    links.set(key, {
      ...changed(link, change),
      updatedAt: Math.max(link.updatedAt, at),
      createId: updateId
    })
    return shown(links.get(key))
  }

  const takeVisit = (question: Take): Taken => {
    const link = links.get(question.key)
    if (link === undefined || link.deletedAt !== null) return noneTaken
    const before = { visitsLeft: link.visitsLeft, takes: takes.get(link.key) ?? [] }
    const { state, taken } = take(before, question)
    if (state !== before) {
      takes.set(link.key, state.takes)
      links.set(link.key, { ...link, visitsLeft: state.visitsLeft })
    }
    return taken
  }

  const rank = (given: LinkRank) => {
    const { createdAt, key } = given
    const link = links.get(key)
    if (link === undefined || link.deletedAt !== null || link.createdAt !== createdAt) return
    const known = ranks.get(key)
    const isOf = known?.createdAt === createdAt
    ranks.set(key, {
      ...given,
      ...(isOf && {
        visits: Math.max(known.visits, given.visits),
        lastVisit: Math.max(known.lastVisit, given.lastVisit)
      })
    })
  }

  return LinkStore.of({
    insertMany: (batch) =>
      Effect.sync(() => {
        const further = mintedInFurtherDomains(links)
        return batch.map((link) => {
          const { custom, key } = link
          const plain = plainKeyOf(key)
          const present = links.get(key)
          if (present !== undefined) return isRepeat(present, link)
          if (!custom && (links.has(plain) || further.has(plain))) return false
          if (custom && removals.has(subjectOfLink(link))) return false
          links.set(key, link)
          if (!custom && plain !== key) further.add(plain)
          // What is known of a link that had the key before went with its row.
          updateIds.delete(key)
          takes.delete(key)
          return true
        })
      }),
    findMany: (keys) => Effect.sync(() => keys.map((key) => shown(links.get(key)))),
    deleteMany: (batch) =>
      Effect.map(Clock.currentTimeMillis, (now) =>
        batch.map(({ at, deleteId, key, onlyIf }) => {
          const link = links.get(key)
          if (link === undefined) return false
          if (link.deletedAt !== null) return deleteId !== undefined && link.createId === deleteId
          if (!meets(link, onlyIf)) return false
          const { createId: _, ...row } = link
          ended.set(key, now)
          links.set(key, {
            ...row,
            deletedAt: at,
            updatedAt: at,
            ...(deleteId !== undefined && { createId: deleteId })
          })
          return true
        })
      ),
    updateMany: (batch) => Effect.sync(() => batch.map(update)),
    list: (query) => Effect.sync(() => page(links, countable, query, ranks)),
    rankMany: (given) => Effect.sync(() => given.forEach(rank)),
    crawlable: ({ at, limit }) =>
      Effect.sync(() =>
        [...links.values()]
          .filter((link) => link.crawlable && link.passwordHash === null && stateAt(link, at) === "live")
          .toSorted((one, other) => compare(other, one))
          .slice(0, limit)
          .map(({ key }) => key)
      ),
    takeVisits: (batch) => Effect.sync(() => batch.map(takeVisit)),
    takenAmong: (keys) =>
      Effect.sync(() => {
        const further = mintedInFurtherDomains(links)
        return new Set(keys.filter((key) => links.has(key) || further.has(key)))
      })
  })
}

/** `LinkStore` in this process's memory: the reference that other backends are compared with. Nothing survives it. */
export const make = Effect.sync(() => makeOver(new Map()))

/** A store of its own for each build of the layer, and the guards of its creates. */
export const layer: Layer.Layer<LinkStore | GuardedCreates> = Layer.effectContext(
  Effect.sync(() => {
    const rows = new Map<string, Link>()
    const links = makeOver(rows)
    return Context.make(LinkStore, links).pipe(
      Context.add(GuardedCreates, GuardedCreatesMemory.makeOver(rows, links))
    )
  })
)
