import { Context, Effect } from "effect"
import { plainKeyOf } from "../../../keys/QualifiedKey.ts"
import type { Link } from "../../../model/Link.ts"
import { type GuardedLink, GuardedCreates } from "../../../storage/links/GuardedCreates.ts"
import { LinkLifetime, type Recycling } from "../../../storage/links/LinkLifetime.ts"
import { LinkRemovals } from "../../../storage/links/LinkRemovals.ts"
import { type Deletion, LinkStore, type Update } from "../../../storage/links/LinkStore.ts"
import type { Take } from "../../../storage/visits/VisitTakes.ts"
import { batchRow, guardRow, linkRow } from "../database/RowNames.ts"
import { type Plan, query, statement, transaction } from "../database/Transactions.ts"
import type { DatabaseCopy } from "../DatabaseCopy.ts"
import * as BucketHome from "../homes/BucketHome.ts"
import * as LinkLifetimeMemory from "../LinkLifetimeMemory.ts"
import type { Call, CallDirect } from "./Call.ts"

/** What the ports of links ask the database. */
export interface Surroundings {
  /** Where statements look for the rows that they lock. */
  readonly primary: Pick<DatabaseCopy, "isLocked" | "tables">
  /** The time by the database's clock, in milliseconds since the Unix epoch. */
  readonly now_ms: () => number
  /** The process's links whose changes queue events for webhooks, if they do. */
  readonly outbox: () => typeof LinkStore.Service | undefined
}

type Keyed = ReadonlyArray<{ readonly key: string }>

const rowsOf = (questions: Keyed) => questions.map(({ key }) => linkRow(key))

/** Statements about links, of which one can have each key once. `hasOutbox`: messages for webhooks are queued in the same transaction. */
const planOfKeys = (questions: Keyed, locks: () => ReadonlyArray<string>, hasOutbox: boolean): Plan => {
  const isTwice = questions.length > 1 && new Set(questions.map(({ key }) => key)).size < questions.length
  return isTwice || hasOutbox ? transaction(locks, undefined) : statement(locks)
}

const insert = (
  { journal, tables }: DatabaseCopy,
  by: string,
  store: typeof LinkStore.Service,
  links: ReadonlyArray<Link>
) => {
  const free = new Set<string>()
  for (const { key } of links) if (!tables.rows.has(key)) free.add(key)
  return Effect.tap(store.insertMany(links), (answers) =>
    links.forEach((link, index) => {
      if (answers[index] === false) journal.add({ tag: "conflicted", by, link })
      // The others are repeats.
      else if (free.delete(link.key)) journal.add({ tag: "bound", by, link })
    })
  )
}

const remove = (
  { announce, journal, tables }: DatabaseCopy,
  by: string,
  store: typeof LinkStore.Service,
  deletions: ReadonlyArray<Deletion>
) => {
  const live = new Set<string>()
  for (const { key } of deletions) if (tables.rows.get(key)?.deletedAt === null) live.add(key)
  return Effect.tap(store.deleteMany(deletions), (answers) => {
    // A repeat writes its tombstone once more, and so announces it too.
    const written = new Set(deletions.filter((_, index) => answers[index]).map(({ key }) => key))
    for (const key of written) if (live.has(key)) journal.add({ tag: "deleted", by, key })
    announce(written)
  })
}

const update = (
  { announce, journal, links, tables }: DatabaseCopy,
  by: string,
  updates: ReadonlyArray<Update>
) => {
  const written = new Set<string>()
  // One after the other: the journal has each, also of two of one link.
  const rows = Effect.forEach(updates, (update) => {
    const before = tables.rows.get(update.key)
    return Effect.map(links.updateMany([update]), ([row]) => {
      if (tables.rows.get(update.key) === before) return row ?? null
      const { key } = update
      written.add(key)
      journal.add({ tag: "changed", by, link: tables.rows.get(key)! })
      return row ?? null
    })
  })
  return Effect.tap(rows, () => announce(written))
}

const takeVisits = ({ announce, links, tables }: DatabaseCopy, takes: ReadonlyArray<Take>) => {
  const before = new Map(takes.map(({ key }) => [key, tables.rows.get(key)]))
  return Effect.tap(links.takeVisits(takes), () => {
    const usedUp = [...before].filter(([key, link]) => {
      const now = tables.rows.get(key)
      return now?.visitsLeft === 0 && link?.visitsLeft !== 0
    })
    announce(new Set(usedUp.map(([key]) => key)))
  })
}

const linkStore = (
  call: Call,
  callDirect: CallDirect,
  by: string,
  { outbox, primary: { tables } }: Surroundings
): typeof LinkStore.Service => {
  const presentRowsOf = (questions: Keyed) => rowsOf(questions.filter(({ key }) => tables.rows.has(key)))
  const hasOutbox = () => outbox() !== undefined
  return {
    insertMany: (links) => {
      const plan = planOfKeys(
        links,
        () => rowsOf(links),
        hasOutbox() && links.some(({ owner }) => owner !== null)
      )
      const apply = (copy: DatabaseCopy) => insert(copy, by, outbox() ?? copy.links, links)
      return plan.isTransaction
        ? call("LinkStore.insertMany", plan, apply)
        : callDirect("LinkStore.insertMany", plan, apply)
    },
    findMany: (keys) => callDirect("LinkStore.findMany", query, ({ links }) => links.findMany(keys)),
    deleteMany: (deletions) =>
      call(
        "LinkStore.deleteMany",
        planOfKeys(deletions, () => presentRowsOf(deletions), hasOutbox()),
        (copy) => remove(copy, by, outbox() ?? copy.links, deletions)
      ),
    updateMany: (updates) =>
      call(
        "LinkStore.updateMany",
        planOfKeys(updates, () => presentRowsOf(updates), false),
        (copy) => update(copy, by, updates)
      ),
    list: (wanted) => call("LinkStore.list", query, ({ links }) => links.list(wanted)),
    rankMany: (ranks) =>
      call("LinkStore.rankMany", statement(), ({ journal, links }) =>
        Effect.tap(links.rankMany(ranks), () => journal.add({ tag: "ranked", by, ranks }))
      ),
    crawlable: (wanted) => call("LinkStore.crawlable", query, ({ links }) => links.crawlable(wanted)),
    takeVisits: (takes) =>
      call(
        "LinkStore.takeVisits",
        transaction(() => presentRowsOf(takes), undefined),
        (copy) => takeVisits(copy, takes)
      ),
    takenAmong: (keys) => call("LinkStore.takenAmong", query, ({ links }) => links.takenAmong(keys))
  }
}

/** `outbox`: the links whose changes queue events for webhooks, if they do. It is told of those that were bound, as repeats, which queue as much. */
const bindGuarded = (
  { guarded, journal, tables }: DatabaseCopy,
  by: string,
  outbox: typeof LinkStore.Service | undefined,
  batch: ReadonlyArray<GuardedLink>
) => {
  const free = new Set(batch.map(({ link }) => link.key).filter((key) => !tables.rows.has(key)))
  return Effect.tap(guarded.bindMany(batch), (outcomes) => {
    const bound: Array<Link> = []
    batch.forEach(({ link }, index) => {
      if (outcomes[index] === "taken") journal.add({ tag: "conflicted", by, link })
      else if (outcomes[index] === "bound" && free.delete(link.key)) bound.push(link)
    })
    for (const link of bound) journal.add({ tag: "bound", by, link })
    return outbox === undefined || bound.length === 0 ? Effect.void : outbox.insertMany(bound)
  })
}

const guardedCreates = (
  call: Call,
  by: string,
  { outbox, primary: { tables } }: Surroundings
): typeof GuardedCreates.Service => {
  const presentRowsOf = (guards: ReadonlyArray<{ readonly name: string }>) =>
    guards.filter(({ name }) => tables.guards.has(name)).map(({ name }) => guardRow(name))
  return {
    beginMany: (batch) =>
      call(
        "GuardedCreates.beginMany",
        statement(() => batch.map(({ name }) => guardRow(name))),
        ({ guarded }) => guarded.beginMany(batch)
      ),
    bindMany: (batch) =>
      call(
        "GuardedCreates.bindMany",
        transaction(
          () => presentRowsOf(batch.flatMap(({ guards }) => guards)),
          () => rowsOf(batch.map(({ link }) => link)),
          undefined
        ),
        (copy) => bindGuarded(copy, by, outbox(), batch)
      ),
    settleMany: (batch) =>
      call(
        "GuardedCreates.settleMany",
        transaction(() => presentRowsOf(batch), undefined),
        ({ guarded }) => guarded.settleMany(batch)
      ),
    abandonMany: (batch) =>
      call(
        "GuardedCreates.abandonMany",
        transaction(() => presentRowsOf(batch), undefined),
        ({ guarded }) => guarded.abandonMany(batch)
      ),
    findByUrl: (owner, url, now) =>
      call("GuardedCreates.findByUrl", query, ({ guarded }) => guarded.findByUrl(owner, url, now)),
    drop: (keep_ms, count) =>
      call("GuardedCreates.drop", statement(), ({ guarded }) => guarded.drop(keep_ms, count))
  }
}

const recycle = ({ announce, journal, lifetime, tables }: DatabaseCopy, by: string, options: Recycling) =>
  Effect.tap(lifetime.recycle(options), (freed) => {
    for (const { key } of freed)
      journal.add({ tag: "freed", by, key, custom: !tables.stocked.stock.has(plainKeyOf(key)) })
    const keys = freed.map(({ key }) => key)
    BucketHome.noteFreed(tables.home, keys)
    announce(new Set(keys))
  })

const linkLifetime = (
  call: Call,
  by: string,
  { now_ms, primary: { isLocked, tables } }: Surroundings
): typeof LinkLifetime.Service => {
  const { batches } = tables.stocked
  const recyclable = ({ count, quarantine_ms }: Recycling) =>
    LinkLifetimeMemory.recyclable({ ended: tables.ended, isLocked }, now_ms() - quarantine_ms, count)
  const ended =
    ({ announce, journal }: DatabaseCopy) =>
    (keys: ReadonlyArray<string>) => {
      keys.forEach((key) => journal.add({ tag: "expired", by, key }))
      announce(new Set(keys))
    }
  return {
    expire: (keys) =>
      call("LinkLifetime.expire", statement(), (copy) => Effect.tap(copy.lifetime.expire(keys), ended(copy))),
    expireSome: (count) =>
      call("LinkLifetime.expireSome", statement(), (copy) =>
        Effect.tap(copy.lifetime.expireSome(count), ended(copy))
      ),
    recycle: (options) =>
      call(
        "LinkLifetime.recycle",
        transaction(
          () => recyclable(options).map(linkRow),
          () => Array.from(batches.values(), batchRow),
          undefined
        ),
        (copy) => recycle(copy, by, options)
      ),
    toForget: (count) => call("LinkLifetime.toForget", query, ({ lifetime }) => lifetime.toForget(count)),
    forgotten: (subjects) =>
      call("LinkLifetime.forgotten", statement(), ({ lifetime }) => lifetime.forgotten(subjects))
  }
}

/** Links that another transaction has locked are passed over by SQL; here they are waited for. */
const linkRemovals = (
  call: Call,
  by: string,
  { primary: { tables } }: Surroundings
): typeof LinkRemovals.Service => ({
  ask: (owner) =>
    call("LinkRemovals.ask", statement(), ({ journal, ownersGone }) =>
      Effect.tap(ownersGone.ask(owner), () => journal.add({ tag: "owner gone", by, owner }))
    ),
  remove: (count) =>
    call(
      "LinkRemovals.remove",
      transaction(
        undefined,
        () =>
          Array.from(tables.rows.values()).flatMap(({ deletedAt, key, owner }) =>
            deletedAt === null && owner !== null && tables.ownersGone.has(owner) ? [linkRow(key)] : []
          ),
        undefined
      ),
      ({ announce, journal, ownersGone }) =>
        Effect.tap(ownersGone.remove(count), (keys) => {
          for (const key of keys) journal.add({ tag: "deleted", by, key })
          announce(new Set(keys))
        })
    )
})

/** The stores of links, of the guards of their creates, and of what ends them, as a process reaches them. */
export const make = (
  call: Call,
  callDirect: CallDirect,
  by: string,
  surroundings: Surroundings
): Context.Context<LinkStore | GuardedCreates | LinkLifetime | LinkRemovals> =>
  Context.make(LinkStore, linkStore(call, callDirect, by, surroundings)).pipe(
    Context.add(GuardedCreates, guardedCreates(call, by, surroundings)),
    Context.add(LinkLifetime, linkLifetime(call, by, surroundings)),
    Context.add(LinkRemovals, linkRemovals(call, by, surroundings))
  )
