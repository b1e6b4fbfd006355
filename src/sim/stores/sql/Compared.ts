import { Cause, Clock, Effect, Exit, Option } from "effect"
import { isDeepStrictEqual } from "node:util"
import { toStrings } from "../../../keys/PackedKeys.ts"
import type { Link } from "../../../model/Link.ts"
import type { GuardedCreates } from "../../../storage/links/GuardedCreates.ts"
import type { LinkLifetime } from "../../../storage/links/LinkLifetime.ts"
import type { LinkStore } from "../../../storage/links/LinkStore.ts"
import type { Stores } from "./SqlStores.ts"

/** What surrounds stores that are compared. */
export interface Surroundings {
  /** The tables of those in memory. */
  readonly rows: ReadonlyMap<string, Link>
  readonly ended: ReadonlyMap<string, number>
  /** Whether another transaction has locked the row of a key: SQLite has no such locks. */
  readonly isLocked: (key: string) => boolean
  /** Is told of answers that differ, once. */
  readonly differs: (operation: string, inMemory: string, bySql: string) => void
}

/** Stores in memory that are compared with others. */
export interface Compared extends Stores {
  /** The tables in memory have become others than by these stores, so that nothing is compared any more. */
  readonly part: () => void
}

/** What is compared of an outcome: what it gave, or its error's name. */
const shownOf = <A, E>(exit: Exit.Exit<A, E>, shown: (value: A) => unknown): unknown =>
  Exit.match(exit, {
    onSuccess: (value) => plain(shown(value)),
    onFailure: (cause) =>
      Option.match(Cause.failureOption(cause), {
        onNone: () => Cause.pretty(cause),
        onSome: (error) => (isTagged(error) ? error._tag : error)
      })
  })

const isTagged = (error: unknown): error is { readonly _tag: string } =>
  typeof error === "object" && error !== null && "_tag" in error

/** Without fields that are undefined. */
const plain = (value: unknown): unknown => (value === undefined ? null : JSON.parse(JSON.stringify(value)))

const same = (value: unknown) => value
const keyOf = ({ key }: { readonly key: string }) => key
const sorted = (keys: Iterable<string>) => Array.from(keys).toSorted()

/**
 * The stores in memory, and the same asked of others over SQL, whose answers must be equal: of which keys are taken from a stock, the others decide (`picked`). Nothing of what is
 * asked differs between them, not even the time, so that SQL that does something else is found wherever the simulation comes to.
 */
export const make = (
  memory: Stores,
  sql: Stores,
  picked: (keys: ReadonlyArray<string>) => void,
  { differs, ended, isLocked, rows }: Surroundings
): Compared => {
  let isCompared = true
  const part = () => {
    isCompared = false
  }

  /** Asks both, the others first. */
  const both = <A, E>(
    operation: string,
    ofMemory: Effect.Effect<A, E>,
    ofSql: Effect.Effect<A, E>,
    shown: (value: A) => unknown = same
  ): Effect.Effect<A, E> =>
    Effect.suspend(() =>
      isCompared
        ? Effect.flatMap(Effect.exit(Effect.withTracerEnabled(ofSql, false)), (bySql) =>
            Effect.onExit(ofMemory, (inMemory) =>
              Effect.sync(() => {
                const [one, other] = [shownOf(inMemory, shown), shownOf(bySql, shown)]
                if (isDeepStrictEqual(one, other)) return
                part()
                differs(operation, JSON.stringify(one), JSON.stringify(other))
              })
            )
          )
        : ofMemory
    )

  /** The same, after which nothing is compared any more where it gave as many as it was asked for: which of more there are is left to each. */
  const some = <A, E>(self: Effect.Effect<A, E>, most: number, given: (value: A) => number) =>
    Effect.tap(self, (value) => Effect.sync(() => given(value) >= most && part()))

  /** Rows that a sweep passes over, since they are locked, are not passed over by SQLite. */
  const unlessLocked = <A, E>(due: (now: number) => Iterable<string>, self: Effect.Effect<A, E>) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      if (isCompared && Array.from(due(now)).some(isLocked)) part()
      return self
    })

  /** Owners who have asked for a link of a URL: that makes an index of theirs, which nobody else has. */
  const indexed = new Set<string>()

  /** Compares what a write has left as well: the rows of its keys, and which link of a URL is found of an owner who asks so. */
  const leaving = <A, E>(
    written: Effect.Effect<A, E>,
    keys: ReadonlyArray<string>,
    urls: ReadonlyArray<readonly [owner: string, url: string]> = []
  ) =>
    Effect.tap(written, () =>
      isCompared
        ? Effect.flatMap(Clock.currentTimeMillis, (now) =>
            Effect.ignore(
              Effect.zipRight(
                looked.findMany(keys),
                Effect.forEach(
                  urls.filter(([owner]) => indexed.has(owner)),
                  ([owner, url]) => findByUrl(owner, url, now)
                )
              )
            )
          )
        : Effect.void
    )

  const expired = (now: number) =>
    Array.from(rows.values())
      .filter(({ deletedAt, expiresAt }) => deletedAt === null && expiresAt !== null && expiresAt <= now)
      .map(({ key }) => key)

  /** Compares the rows of the keys that it gives as well. */
  const ending = <E>(self: Effect.Effect<ReadonlyArray<string>, E>) =>
    Effect.tap(self, (keys) => leaving(Effect.void, keys))

  const { guarded, lifetime, links, ranges, stock, visits } = memory

  const lifetimes: typeof LinkLifetime.Service = {
    expire: (keys) =>
      unlessLocked(
        (now) => expired(now).filter((key) => keys.includes(key)),
        ending(both("LinkLifetime.expire", lifetime.expire(keys), sql.lifetime.expire(keys), sorted))
      ),
    expireSome: (count) =>
      unlessLocked(
        expired,
        some(
          ending(
            both(
              "LinkLifetime.expireSome",
              lifetime.expireSome(count),
              sql.lifetime.expireSome(count),
              sorted
            )
          ),
          count,
          ({ length }) => length
        )
      ),
    recycle: (options) =>
      unlessLocked(
        (now) =>
          Array.from(ended)
            .filter(([, at]) => at <= now - options.quarantine_ms)
            .map(([key]) => key),
        some(
          both("LinkLifetime.recycle", lifetime.recycle(options), sql.lifetime.recycle(options), (freed) =>
            freed.toSorted((one, other) => (one.key < other.key ? -1 : 1))
          ),
          options.count,
          ({ length }) => length
        )
      ),
    toForget: (count) =>
      some(
        both("LinkLifetime.toForget", lifetime.toForget(count), sql.lifetime.toForget(count), sorted),
        count,
        ({ length }) => length
      ),
    forgotten: (subjects) =>
      both("LinkLifetime.forgotten", lifetime.forgotten(subjects), sql.lifetime.forgotten(subjects))
  }

  const looked: typeof LinkStore.Service = {
    insertMany: (batch) => both("LinkStore.insertMany", links.insertMany(batch), sql.links.insertMany(batch)),
    findMany: (keys) => both("LinkStore.findMany", links.findMany(keys), sql.links.findMany(keys)),
    deleteMany: (batch) => both("LinkStore.deleteMany", links.deleteMany(batch), sql.links.deleteMany(batch)),
    updateMany: (batch) => both("LinkStore.updateMany", links.updateMany(batch), sql.links.updateMany(batch)),
    list: (query) => both("LinkStore.list", links.list(query), sql.links.list(query)),
    rankMany: (ranks) => both("LinkStore.rankMany", links.rankMany(ranks), sql.links.rankMany(ranks)),
    crawlable: (query) => both("LinkStore.crawlable", links.crawlable(query), sql.links.crawlable(query)),
    takeVisits: (batch) => both("LinkStore.takeVisits", links.takeVisits(batch), sql.links.takeVisits(batch)),
    takenAmong: (keys) =>
      both("LinkStore.takenAmong", links.takenAmong(keys), sql.links.takenAmong(keys), sorted)
  }
  const findByUrl: (typeof GuardedCreates.Service)["findByUrl"] = (owner, url, now) =>
    both(
      "GuardedCreates.findByUrl",
      guarded.findByUrl(owner, url, now),
      sql.guarded.findByUrl(owner, url, now)
    )

  return {
    part,
    lifetime: lifetimes,
    links: {
      ...looked,
      insertMany: (batch) => leaving(looked.insertMany(batch), batch.map(keyOf)),
      deleteMany: (batch) => leaving(looked.deleteMany(batch), batch.map(keyOf)),
      updateMany: (batch) =>
        leaving(
          looked.updateMany(batch),
          batch.map(keyOf),
          batch.flatMap(({ change: { url }, owner }) =>
            url === undefined || owner === null ? [] : [[owner, url] as const]
          )
        ),
      takeVisits: (batch) => leaving(looked.takeVisits(batch), batch.map(keyOf))
    },
    guarded: {
      beginMany: (batch) =>
        both("GuardedCreates.beginMany", guarded.beginMany(batch), sql.guarded.beginMany(batch)),
      bindMany: (batch) =>
        leaving(
          both("GuardedCreates.bindMany", guarded.bindMany(batch), sql.guarded.bindMany(batch)),
          batch.map(({ link }) => link.key)
        ),
      settleMany: (batch) =>
        both("GuardedCreates.settleMany", guarded.settleMany(batch), sql.guarded.settleMany(batch)),
      abandonMany: (batch) =>
        both("GuardedCreates.abandonMany", guarded.abandonMany(batch), sql.guarded.abandonMany(batch)),
      findByUrl: (owner, url, now) =>
        Effect.zipRight(
          Effect.sync(() => indexed.add(owner)),
          findByUrl(owner, url, now)
        ),
      drop: (keep_ms, count) =>
        some(
          both("GuardedCreates.drop", guarded.drop(keep_ms, count), sql.guarded.drop(keep_ms, count)),
          count,
          same as (dropped: number) => number
        )
    },
    ranges: {
      advance: (slot, options) =>
        both("KeyRangeStore.advance", ranges.advance(slot, options), sql.ranges.advance(slot, options)),
      watermarks: both("KeyRangeStore.watermarks", ranges.watermarks, sql.ranges.watermarks, (all) =>
        sorted(all.map(({ length, next, range }) => `${length}/${range}: ${next}`))
      )
    },
    stock: {
      claim: (shard, above) =>
        both("KeyStock.claim", stock.claim(shard, above), sql.stock.claim(shard, above)),
      add: (keys) => both("KeyStock.add", stock.add(keys), sql.stock.add(keys)),
      fill: (keys) => both("KeyStock.fill", stock.fill(keys), sql.stock.fill(keys)),
      take: (batch, count) =>
        both(
          "KeyStock.take",
          stock.take(batch, count),
          Effect.tap(sql.stock.take(batch, count), (keys) => picked(toStrings(keys))),
          toStrings
        ).pipe(Effect.ensuring(Effect.sync(() => picked([])))),
      record: (batch, keys) =>
        both("KeyStock.record", stock.record(batch, keys), sql.stock.record(batch, keys)),
      openBatches: (shard) =>
        both("KeyStock.openBatches", stock.openBatches(shard), sql.stock.openBatches(shard), (batches) =>
          batches.map((batch) => ({ ...batch, keys: toStrings(batch.keys) }))
        ),
      close: (claim, batches) =>
        both("KeyStock.close", stock.close(claim, batches), sql.stock.close(claim, batches)),
      size: both("KeyStock.size", stock.size, sql.stock.size),
      adopt: (count) =>
        some(both("KeyStock.adopt", stock.adopt(count), sql.stock.adopt(count)), 1, (moved) => moved)
    },
    visits: {
      ...visits,
      write: (batch) => both("VisitStore.write", visits.write(batch), sql.visits.write(batch)),
      totals: (subjects) => both("VisitStore.totals", visits.totals(subjects), sql.visits.totals(subjects)),
      dropWriters: (before) =>
        both("VisitStore.dropWriters", visits.dropWriters(before), sql.visits.dropWriters(before)),
      forget: (subjects) => both("VisitStore.forget", visits.forget(subjects), sql.visits.forget(subjects))
    }
  }
}
