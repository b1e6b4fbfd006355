import { Context, type Effect } from "effect"
import type { Link, LinkChange, LinkCondition } from "../../model/Link.ts"
import type { StorageError } from "../StorageError.ts"
import type { Take, Taken } from "../visits/VisitTakes.ts"

/** A deletion: which key, and when (milliseconds since the Unix epoch). */
export interface Deletion {
  readonly key: string
  readonly at: number
  /** A number that this deletion alone has, so that its repeat is known for what it is. */
  readonly deleteId?: number | undefined
  /** The owner, where their webhooks are to be notified. */
  readonly owner?: string | null | undefined
  /** The link is deleted only if it meets this. */
  readonly onlyIf?: LinkCondition | undefined
}

/** A change of a link by its owner, at a moment (milliseconds since the Unix epoch). */
export interface Update {
  readonly key: string
  /** Whose link it must be. */
  readonly owner: string | null
  readonly at: number
  readonly change: LinkChange
  /** A number that this update alone has, so that its repeat is known for what it is. */
  readonly updateId: number
  /** The link is changed only if it meets this. */
  readonly onlyIf?: LinkCondition | undefined
}

/** Updates of a link whose repeats are known, however late they come: as many as happen to it while a message can be on its way. */
export const updatesRemembered = 8

/** In which order links are listed: by their rank, where the order has one, by when they were created, then by their keys. */
export type LinkOrder = "createdAt-asc" | "createdAt-desc" | RankOrder

/** An order by what is known of the visits of links: the most first, or the last one first. */
export type RankOrder = "visits-desc" | "lastVisit-desc"

/** Whether an order is one by visits. */
export const isRanked = (order: LinkOrder): order is RankOrder =>
  order === "visits-desc" || order === "lastVisit-desc"

/** How often a link was visited, up to some moment. */
export interface LinkRank {
  readonly key: string
  readonly createdAt: number
  readonly visits: number
  /** The hour of the last visit, in hours since the Unix epoch. */
  readonly lastVisit: number
}

/** A place in the order of links. */
export interface Position {
  /** In an order by visits: how many, or the hour of the last one. 0 for a link of which no visits are known. */
  readonly rank?: number | undefined
  readonly createdAt: number
  readonly key: string
}

/** Which links to list. */
export interface LinkQuery {
  /** Those of one owner; all where there is none. */
  readonly owner?: string | undefined
  /** Those whose key, URL or title has this in it, in whatever case. */
  readonly text?: string | undefined
  readonly tag?: string | undefined
  /** Those without this tag. */
  readonly notTag?: string | undefined
  /** Those that are archived, or that are not; both where it is missing. */
  readonly archived?: boolean | undefined
  /** Those in the domain with this number. */
  readonly domain?: number | undefined
  /** Those with an alias that has capital letters. */
  readonly hasCapitals?: true
  readonly order: LinkOrder
  /** Those behind this place. */
  readonly after?: Position | undefined
  /** Links on the page at most. */
  readonly limit: number
  /** Links that are looked at for `text`, `tag`, `notTag`, `domain` and `hasCapitals` at most, and where many are archived for `archived: false`; in an order by visits for all filters. */
  readonly lookedAtMax: number
  /** Counts the links of all pages, up to so many. Nothing is counted where there is none. */
  readonly countedMax?: number | undefined
}

/** How many links a list has on all its pages. */
export interface LinkTotal {
  readonly count: number
  /** Whether there are no more than `count`: `false` beyond `countedMax`, and where a search ended at `lookedAtMax`. */
  readonly isExact: boolean
}

/** Which links are shown to crawlers. */
export interface CrawlableQuery {
  /** When they must redirect, in milliseconds since the Unix epoch. */
  readonly at: number
  /** Links at most. */
  readonly limit: number
}

/** A page of a list. */
export interface LinkPage {
  readonly links: ReadonlyArray<Link>
  /** The rank of each, in an order by visits. */
  readonly ranks?: ReadonlyArray<number>
  /** Where the next page begins; `null` when there is none. */
  readonly next: Position | null
  /** Where the query has a `countedMax`. */
  readonly total?: LinkTotal
  /** Whether links are missing because one of several databases did not answer. */
  readonly isPartial?: boolean
}

/** Whether two links for one key come of the same create, and the row has not been changed since. */
export const isRepeat = (one: Link, other: Link): boolean =>
  one.createId !== undefined && one.createId === other.createId && one.updatedAt === other.updatedAt

/**
 * The links, and with them the one arbiter of duplicates: the primary key.
 *
 * Laws:
 * 1. For a key, `insertMany` answers `true` at most once, no matter who asks and however often, also within one batch
 *    (the first wins). `false` means that the key has a row: live, expired or tombstone; or, of an alias, that the link would have the visits of a former one, which are still to be forgotten
 *    (`VisitRemovals`). The one exception is a repeat: a link with the
 *    `createId` of the row, which has not been changed since, is answered `true` again, because messages can come twice.
 * 2. What `insertMany` and `deleteMany` answered is durable: every later read by anyone sees it.
 * 3. A batch is applied whole or not at all. A `StorageError` with `applied: "no"` left nothing behind. In several databases a part of it can be applied, which `PartlyFailed` tells.
 * 4. Answers come in the order of the questions, one each.
 * 5. `deleteMany` answers `true` for exactly one deletion of a row, and for its repeats, which have its `deleteId`; then the row is a
 *    tombstone for good.
 * 6. `updateMany` applies each update once, in the order of the batch. A repeat is answered with the row as it is then.
 * 7. A client that follows a list from page to page sees each link that was there all the time once; in an order by visits, if its rank stayed what it was. Pages have no tombstones.
 * 8. `takeVisits` grants the visits of a link as often as it has them left, however many ask; a take that comes again is answered like the first
 *    time (see `VisitTakes`). A link without a limit grants all.
 * 9. `rankMany` never lowers a number, and changes nothing of a link that was created at another moment than it says, or is deleted.
 * 10. An update or a deletion with a condition (`onlyIf`) is applied only where the row meets it at that moment; else the answer is `null`, or `false`. It does not matter to repeats.
 */
export class LinkStore extends Context.Tag("linkmint/LinkStore")<
  LinkStore,
  {
    /** Binds each link's key if it is free: `true` where it was bound now, `false` on a conflict. */
    readonly insertMany: (links: ReadonlyArray<Link>) => Effect.Effect<ReadonlyArray<boolean>, StorageError>
    /** Reads the rows of keys, tombstones included. */
    readonly findMany: (
      keys: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyArray<Link | null>, StorageError>
    /** Turns rows into tombstones: `true` where there was one that was not yet deleted. */
    readonly deleteMany: (
      deletions: ReadonlyArray<Deletion>
    ) => Effect.Effect<ReadonlyArray<boolean>, StorageError>
    /** Changes links, and gives them as they are then: `null` where there is no link of that owner that is not deleted. */
    readonly updateMany: (
      updates: ReadonlyArray<Update>
    ) => Effect.Effect<ReadonlyArray<Link | null>, StorageError>
    /** A page of the links that a query asks for. It can be short, even empty, and not be the last. */
    readonly list: (query: LinkQuery) => Effect.Effect<LinkPage, StorageError>
    /** Says how often links were visited, for the orders by visits: each link once. */
    readonly rankMany: (ranks: ReadonlyArray<LinkRank>) => Effect.Effect<void, StorageError>
    /** The keys of the newest links that are for crawlers and redirect then. */
    readonly crawlable: (query: CrawlableQuery) => Effect.Effect<ReadonlyArray<string>, StorageError>
    /** Takes visits of links that have only so many left. */
    readonly takeVisits: (takes: ReadonlyArray<Take>) => Effect.Effect<ReadonlyArray<Taken>, StorageError>
    /** Which of the keys have a row of any kind, or in a further domain that of a link with a minted key: those must not be handed out. */
    readonly takenAmong: (keys: ReadonlyArray<string>) => Effect.Effect<ReadonlySet<string>, StorageError>
  }
>() {}
