import { Effect } from "effect"
import type { Link } from "../../model/Link.ts"
import type { WebhookMessage } from "../../model/Webhook.ts"
import type { GuardedCreates } from "../../storage/links/GuardedCreates.ts"
import type { KeyRangeStore } from "../../storage/keys/KeyRangeStore.ts"
import type { KeyStock, StockKind } from "../../storage/keys/KeyStock.ts"
import type { LinkLifetime } from "../../storage/links/LinkLifetime.ts"
import type { LinkRemovals } from "../../storage/links/LinkRemovals.ts"
import type { LinkRank, LinkStore } from "../../storage/links/LinkStore.ts"
import type { DatabaseMark } from "../../storage/nodes/DatabaseMark.ts"
import type { LastTake } from "../../storage/visits/VisitTakes.ts"
import type { VisitStore } from "../../storage/visits/VisitStore.ts"
import type { Journal } from "../Journal.ts"
import type { Mutation } from "../mutants/Mutation.ts"
import type { CommitLog } from "./database/CommitLog.ts"
import { linkRow } from "./database/RowNames.ts"
import * as DatabaseMarkMemory from "./DatabaseMarkMemory.ts"
import * as BucketHome from "./homes/BucketHome.ts"
import * as BucketPlacementMemory from "./homes/BucketPlacementMemory.ts"
import * as GuardedCreatesMemory from "./GuardedCreatesMemory.ts"
import * as KeyRangeStoreMemory from "./KeyRangeStoreMemory.ts"
import * as KeyStockMemory from "./KeyStockMemory.ts"
import * as LinkLifetimeMemory from "./LinkLifetimeMemory.ts"
import * as LinkRemovalsMemory from "./LinkRemovalsMemory.ts"
import * as LinkStoreMemory from "./LinkStoreMemory.ts"
import * as VisitStoreMemory from "./VisitStoreMemory.ts"
import type { Comparison } from "./sql/Comparison.ts"
import * as Compared from "./sql/Compared.ts"
import type { Stores } from "./sql/SqlStores.ts"

/** The tables of a database that can be forgotten. */
export interface Tables {
  readonly rows: Map<string, Link>
  /** When each tombstone was written, in milliseconds since the Unix epoch. */
  readonly ended: Map<string, number>
  readonly updateIds: Map<string, ReadonlyArray<number>>
  readonly takes: Map<string, ReadonlyArray<LastTake>>
  readonly ranks: Map<string, LinkRank>
  readonly guards: Map<string, GuardedCreatesMemory.GuardRow>
  readonly stocked: DatabaseMarkMemory.Tables
  readonly visits: VisitStoreMemory.Tables
  /** Subjects of links that were freed, whose visits are to be forgotten. */
  readonly removals: Set<string>
  /** Owners who are gone and whose links are to be deleted, and since when, in milliseconds since the Unix epoch. */
  readonly ownersGone: Map<string, number>
  /** Messages for webhooks that a further database keeps until they are carried to the queue of the control database, by their ids. */
  readonly outbox: Map<string, WebhookMessage>
  /** Of one of several databases; the placement is that of the control database. Neither is forgotten. */
  readonly home: BucketHome.Home
  readonly placement: BucketPlacementMemory.Tables
}

/** What the database says of itself at first. */
export const identity = { system: "the simulation's", timeline: 1 }

/** Empty tables, which tell a log of their changes. Those of visits do not. */
export const emptyTables = (log: CommitLog): Tables => ({
  rows: log.map("links"),
  ended: log.map("links"),
  updateIds: log.map("links"),
  takes: log.map("links"),
  ranks: log.map("link_ranks"),
  guards: log.map("create_guards"),
  stocked: {
    epochs: log.map("pool_shards"),
    stock: log.set("keys"),
    batches: log.map("pool_batches"),
    ahead: {
      status: { unused: log.set("keys"), used: log.set("keys") },
      "two-table": { unused: log.set("keys"), used: log.set("keys") }
    },
    slots: log.map("key_ranges"),
    regressions: [],
    own: { mark: 0, lineage: 0, movedAt: 0, identity }
  },
  visits: VisitStoreMemory.emptyTables(),
  removals: log.set("visit_removals"),
  ownersGone: log.map("link_removals"),
  outbox: log.map("link_outbox"),
  home: BucketHome.empty(),
  placement: BucketPlacementMemory.emptyTables()
})

const copyMap = <K, V>(from: ReadonlyMap<K, V>, to: Map<K, V>) =>
  from.forEach((value, key) => to.set(key, value))
const copySet = (from: ReadonlySet<string>, to: Set<string>) => from.forEach((key) => to.add(key))

/** The same rows, in tables of their own, which tell a log of their changes. */
export const cloned = (from: Tables, log: CommitLog): Tables => {
  const to = {
    ...emptyTables(log),
    visits: VisitStoreMemory.cloned(from.visits),
    home: BucketHome.cloned(from.home),
    placement: BucketPlacementMemory.cloned(from.placement)
  }
  copyMap(from.rows, to.rows)
  copyMap(from.ended, to.ended)
  copyMap(from.updateIds, to.updateIds)
  copyMap(from.takes, to.takes)
  copyMap(from.ranks, to.ranks)
  copyMap(from.guards, to.guards)
  copyMap(from.ownersGone, to.ownersGone)
  copyMap(from.outbox, to.outbox)
  copySet(from.removals, to.removals)
  const [stocked, others] = [from.stocked, to.stocked]
  copyMap(stocked.epochs, others.epochs)
  copyMap(stocked.batches, others.batches)
  copyMap(stocked.slots, others.slots)
  copySet(stocked.stock, others.stock)
  for (const kind of ["status", "two-table"] as const) {
    copySet(stocked.ahead[kind].unused, others.ahead[kind].unused)
    copySet(stocked.ahead[kind].used, others.ahead[kind].used)
  }
  others.regressions.push(...stocked.regressions)
  Object.assign(others.own, stocked.own)
  return to
}

/** What surrounds a copy of the database. */
export interface CopyOptions {
  readonly tables: Tables
  readonly log: CommitLog
  /** Whether another transaction than the one at hand has locked a row. */
  readonly isLocked: (name: string) => boolean
  readonly journal: Pick<Journal, "add">
  /** Announces keys to all who listen to this copy. */
  readonly announce: (keys: ReadonlySet<string>) => void
  readonly keyStock: Exclude<StockKind, "file"> | undefined
  /** What is broken about it. */
  readonly broken: Mutation["database"]
  /** Whether others have links, too. */
  readonly isOneOfSeveral: boolean
  /** The stores of production, which these here are compared with, and who is told of differences. */
  readonly compared?:
    (Pick<Compared.Surroundings, "ago" | "broken" | "differs"> & { readonly sql: Stores }) | undefined
}

/** One copy of the database, on one server: its tables, and what transactions do to them at one moment. */
export class DatabaseCopy {
  readonly tables: Tables
  readonly log: CommitLog
  readonly journal: Pick<Journal, "add">
  readonly announce: (keys: ReadonlySet<string>) => void
  readonly links: typeof LinkStore.Service
  readonly guarded: typeof GuardedCreates.Service
  readonly stock: typeof KeyStock.Service
  readonly lifetime: typeof LinkLifetime.Service
  readonly ownersGone: typeof LinkRemovals.Service
  readonly ranges: typeof KeyRangeStore.Service
  readonly mark: typeof DatabaseMark.Service
  readonly visits: typeof VisitStore.Service
  /** Whether another transaction has locked the row of a key. */
  readonly isLocked: (key: string) => boolean
  /** With the stores of production, if there is one. */
  readonly comparison: Comparison | undefined

  constructor(options: CopyOptions) {
    const { announce, broken, isLocked, isOneOfSeveral, journal, keyStock, log, tables } = options
    const {
      ended,
      guards,
      home,
      ownersGone: gone,
      ranks,
      removals,
      rows,
      stocked,
      takes,
      updateIds,
      visits
    } = tables
    this.tables = tables
    this.log = log
    this.journal = journal
    this.announce = announce
    this.isLocked = isOneOfSeveral
      ? (key) => isLocked(linkRow(key)) || BucketHome.isPassedOver(home, key)
      : (key) => isLocked(linkRow(key))
    const rowsHere = isOneOfSeveral ? BucketHome.atHome(home, rows) : rows
    const rightLinks = LinkStoreMemory.makeOver(rows, ended, { removals, updateIds, takes, ranks }, rowsHere)
    let picked: ReadonlyArray<string> = []
    const inMemory: Stores = {
      links: rightLinks,
      guarded: GuardedCreatesMemory.makeOver(rowsHere, rightLinks, guards),
      stock: KeyStockMemory.makeOver(stocked, keyStock, () => picked),
      lifetime: LinkLifetimeMemory.makeOver({
        links: rows,
        ended,
        removals,
        isLocked: this.isLocked,
        ...stocked
      }),
      ownersGone: Effect.runSync(LinkRemovalsMemory.makeOver({ ended, links: rows }, gone)),
      ranges: KeyRangeStoreMemory.makeOver(stocked.slots),
      visits: VisitStoreMemory.makeOver(visits)
    }
    const compared =
      options.compared &&
      Compared.make(inMemory, options.compared.sql, (keys) => (picked = keys), {
        rows,
        ended,
        visits,
        isLocked: this.isLocked,
        differs: options.compared.differs,
        broken: options.compared.broken,
        ago: options.compared.ago
      })
    this.comparison = compared?.comparison
    const right = compared ?? inMemory
    const { guarded, lifetime, links, ownersGone, ranges, stock } = {
      ...right,
      ...broken?.(right, { rows, ended, guards, stocked })
    }
    const bare = { links, guarded, visits: right.visits }
    const open = isOneOfSeveral ? BucketHome.behindBarriers(home, bare) : bare
    this.links = open.links
    this.guarded = open.guarded
    this.stock = stock
    this.lifetime = lifetime
    this.ownersGone = ownersGone
    this.ranges = ranges
    this.mark = DatabaseMarkMemory.makeOver(stocked)
    this.visits = open.visits
  }

  /** Notes for the log how the row of the mark is, before it is changed. */
  get noteMark(): Effect.Effect<void> {
    return Effect.sync(() => {
      const { log } = this
      if (!log.isKept) return
      const { own, regressions } = this.tables.stocked
      const before = { ...own }
      const told = regressions.length
      log.changed("database_mark", "", () => {
        Object.assign(own, before)
        regressions.splice(0, regressions.length - told)
      })
    })
  }
}
