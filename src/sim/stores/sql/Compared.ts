import { Clock, Effect } from "effect"
import { type Guard, guardTimes } from "../../../storage/links/GuardedCreates.ts"
import { toStrings } from "../../../keys/PackedKeys.ts"
import type { Link } from "../../../model/Link.ts"
import type { Watermark } from "../../../storage/keys/KeyRangeStore.ts"
import type { BatchRecord } from "../../../storage/keys/KeyStock.ts"
import { type LinkRank, type Update, updatesRemembered } from "../../../storage/links/LinkStore.ts"
import type { FreedLink } from "../../../storage/links/LinkLifetime.ts"
import type { StorageError } from "../../../storage/StorageError.ts"
import { endOf, startOf } from "../../../storage/visits/VisitPeriods.ts"
import { subjectOfLink, valuesMax } from "../../../model/Visit.ts"
import type { ValueCount, VisitBatch } from "../../../storage/visits/VisitStore.ts"
import type { DatabaseClock } from "../database/DatabaseClock.ts"
import type { BrokenStatements } from "./BrokenStatements.ts"
import { beginning, nextRanks, type Row, type Tables as VisitTables } from "../VisitStoreMemory.ts"
import { Comparison, type Differs } from "./Comparison.ts"
import type { Stores } from "./SqlStores.ts"

/** What surrounds stores that are compared. */
export interface Surroundings {
  /** The tables of those in memory. */
  readonly rows: ReadonlyMap<string, Link>
  readonly ended: ReadonlyMap<string, number>
  readonly visits: VisitTables
  /** Whether another transaction has locked the row of a key: SQLite has no such locks. */
  readonly isLocked: (key: string) => boolean
  readonly differs: Differs
  readonly broken: BrokenStatements
  readonly ago: DatabaseClock["ago"]
}

/** Stores in memory that are compared with others. */
export interface Compared extends Stores {
  readonly comparison: Comparison
}

/** Subjects whose visits are compared after each step of upkeep. */
const subjectsMax = 6

/**
 * Links that had visits before the run, on the last days of the month before and on the days before: more than one step of upkeep rolls up, and steps end between two rows of a day. Some had them in one
 * hour of each day, so that their day is made of that row or not at all.
 */
const formerLinks = Array.from({ length: 5 }, (_, number) =>
  subjectOfLink({ key: `former${number}`, createdAt: 1 })
)

/** The values of an hour of one of these links, which comes in two batches: more than an hour keeps, of which those that come later were visited more often. */
const crowd: Readonly<Record<1 | 2, ReadonlyArray<ValueCount>>> = {
  1: Array.from({ length: valuesMax - 2 }, (_, number) => ({
    dimension: "cities",
    value: `City ${number}`,
    visits: 1
  })),
  2: ["City 7", "Town 0", "Town 1", "Town 2", "Town 3"].map((value, number) => ({
    dimension: "cities",
    value,
    visits: 2 + number
  }))
}

/** Those visits, in two batches, where the first hour that is not rolled up yet is `until`. */
const formerVisits = (until: number, sequence: 1 | 2): VisitBatch => {
  const day = startOf("day", until)
  const month = startOf("month", day)
  const days = new Set([month - 48, month - 24, day - 48, day - 24])
  return {
    writer: "before the run",
    sequence,
    at: 0,
    hours: formerLinks.flatMap((subject, number) =>
      Array.from(days).flatMap((from, index) =>
        [from + number, ...(number < 2 ? [] : [from + 13])].map((hour) => ({
          subject,
          hour,
          nonBots: 1 + number,
          bots: index,
          values: [
            { dimension: "browsers" as const, value: `Browser ${index % 2}`, visits: 1 + number },
            ...(number === 1 && hour === day - 24 + number ? crowd[sequence] : [])
          ],
          visitors: []
        }))
      )
    )
  }
}

/** Links of a list by visits that are compared after some were ranked, and that are looked at for it. */
const rankedMax = 8
const rankedLookedAt = 10_000

/** One in so many batches of visits is written again. */
const writtenAgain = 4

/** Once in so many times that guards are begun, it is compared until when one is held; and by how much a clock is ahead by which it is begun. */
const begunElsewhere = 8
const ahead_ms = 3_600_000

/** Texts that no link has, which are asked for beside those of searches: some would find all links if their characters meant to LIKE what they do without a backslash before them. */
const wild = ["h__ps", "h%s", "http\\s"] as const

const rankText = (rank: LinkRank) => `${subjectOfLink(rank)}: ${rank.visits}, ${rank.lastVisit}`
const sizeOf = ({ length }: ReadonlyArray<unknown>) => length
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
  { ago, broken, differs, ended, isLocked, rows, visits }: Surroundings
): Compared => {
  const comparison = new Comparison(differs, broken)
  const { part } = comparison

  /** The same, after which nothing is compared any more where it gave as many as it was asked for: which of more there are is left to each. */
  const some = <A, E>(self: Effect.Effect<A, E>, most: number, given: (value: A) => number) =>
    Effect.tap(self, (value) => Effect.sync(() => given(value) >= most && part()))

  /** Rows that a sweep passes over, since they are locked, are not passed over by SQLite. */
  const unlessLocked = <A, E>(due: (now: number) => Iterable<string>, self: Effect.Effect<A, E>) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      if (comparison.isOn && Array.from(due(now)).some(isLocked)) part()
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
    comparison.after(written, () =>
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        Effect.zipRight(
          links.findMany(keys),
          Effect.forEach(
            urls.filter(([owner]) => indexed.has(owner)),
            ([owner, url]) => guarded.findByUrl(owner, url, now)
          )
        )
      )
    )

  /** Asks a second time for what has an id: the answers are those of before, and nothing changes. */
  const twice = <A, E>(written: Effect.Effect<A, E>) => comparison.after(written, () => written)

  /** The updates of each link that are known when they come again, the newest first. */
  const updated = new Map<string, ReadonlyArray<Update>>()

  /** Asks once more for earlier updates of a link, which leave it as it is: the one before the last, and the earliest that is known. */
  const repeating = (written: ReturnType<typeof links.updateMany>, batch: ReadonlyArray<Update>) =>
    comparison.after(written, (rows) =>
      Effect.forEach(batch, (update, place) => {
        const { key, updateId } = update
        const known = updated.get(key) ?? []
        if (rows[place] === null || known.some((one) => one.updateId === updateId)) return Effect.void
        const all = [update, ...known].slice(0, updatesRemembered)
        updated.set(key, all)
        return links.updateMany([...new Set([all[1], all.at(-1)])].filter((one) => one !== undefined))
      })
    )

  /** Gives up guards that are settled, which leaves them. */
  const abandoning = <A, E>(
    settled: Effect.Effect<ReadonlyArray<A>, E>,
    guards: (outcome: A, place: number) => ReadonlyArray<Guard>
  ) => comparison.after(settled, (outcomes) => guarded.abandonMany(outcomes.flatMap(guards)))

  let begun = 0
  /** Begins a guard by a clock that is ahead, then by one that is right, and then while it is held and when it is not any more; and leaves none. */
  const holding = Effect.suspend(() => {
    const name = `compared ${begun}`
    const begin = (token: number) => guarded.beginMany([{ name, token, fingerprint: "", ...guardTimes }])
    return ago(-ahead_ms)(begin(1)).pipe(
      Effect.zipRight(begin(2)),
      Effect.zipRight(begin(3)),
      Effect.zipRight(ago(-guardTimes.lease_ms)(begin(4))),
      Effect.zipRight(guarded.abandonMany([2, 3, 4].map((token) => ({ name, token }))))
    )
  })

  /** A link that is bound is another one than that whose updates are known. */
  const binding = <A, E>(self: Effect.Effect<A, E>, keys: ReadonlyArray<string>) => {
    for (const key of keys) updated.delete(key)
    return leaving(self, keys)
  }

  const expired = (now: number) =>
    Array.from(rows.values())
      .filter(({ deletedAt, expiresAt }) => deletedAt === null && expiresAt !== null && expiresAt <= now)
      .map(({ key }) => key)

  /** Compares the rows of the keys that it gives as well. */
  const ending = <E>(self: Effect.Effect<ReadonlyArray<string>, E>) =>
    Effect.tap(self, (keys) => leaving(Effect.void, keys))

  const links = comparison.port("LinkStore", memory.links, sql.links, { takenAmong: sorted })
  const guarded = comparison.port("GuardedCreates", memory.guarded, sql.guarded)
  const lifetime = comparison.port("LinkLifetime", memory.lifetime, sql.lifetime, {
    expire: sorted,
    expireSome: sorted,
    recycle: (freed: ReadonlyArray<FreedLink>) =>
      freed.toSorted((one, other) => (one.key < other.key ? -1 : 1)),
    toForget: sorted
  })
  const ranges = comparison.port("KeyRangeStore", memory.ranges, sql.ranges, {
    watermarks: (all: ReadonlyArray<Watermark>) =>
      sorted(all.map(({ length, next, range }) => `${length}/${range}: ${next}`))
  })
  const stockBySql: Stores["stock"] = {
    ...sql.stock,
    take: (batch, count) => Effect.tap(sql.stock.take(batch, count), (keys) => picked(toStrings(keys)))
  }
  const stock = comparison.port("KeyStock", memory.stock, stockBySql, {
    take: toStrings,
    openBatches: (batches: ReadonlyArray<BatchRecord>) =>
      batches.map((batch) => ({ ...batch, keys: toStrings(batch.keys) }))
  })
  const ownersGone = comparison.port("LinkRemovals", memory.ownersGone, sql.ownersGone, { remove: sorted })
  /** Some subjects that were written, and up to which hour visits are rolled up, or are about to be. */
  const subjects = new Set<string>()
  let rolledTo = 0
  /** Up to which hour hours are dropped, or are about to be. */
  let droppedTo = 0
  let written = 0

  /** Compares what is told of some visits by the day, and in all: upkeep changes nothing of it. */
  const keeping = <A, E>(self: Effect.Effect<A, E>) =>
    comparison.after(self, () =>
      Effect.forEach(subjects, (subject) => {
        const always = { subject, from: 0, to: endOf("day", rolledTo) }
        return Effect.all([
          totals([subject]),
          series(always, "day"),
          top(always, valuesMax),
          visitors(always, "day")
        ])
      })
    )

  /** Upkeep of visits over SQL: those in memory need none. */
  const upkeep = (bySql: Effect.Effect<boolean, StorageError>) =>
    Effect.suspend(() => (comparison.isOn ? keeping(bySql) : Effect.succeed(false)))

  const { dropWriters, forget, series, top, totals, visitors, write } = comparison.port(
    "VisitStore",
    memory.visits,
    sql.visits
  )

  /** Ranks links once more, by fewer visits, which changes nothing; and lists those that come first. */
  const lowering = (ranks: ReadonlyArray<LinkRank>) =>
    Effect.zipRight(
      links.rankMany(
        ranks.map((rank) => ({ ...rank, visits: rank.visits - 1, lastVisit: rank.lastVisit - 1 }))
      ),
      Effect.forEach(["visits-desc", "lastVisit-desc"] as const, (order) =>
        links.list({ order, limit: rankedMax, lookedAtMax: rankedLookedAt })
      )
    )

  /** The last hour of which ranks were compared, with all before it. */
  let ranked: Row = beginning

  /** Compares which ranks are handed on, of all hours that there are by now: of a link that was visited in several hours each is. Hours that may have been dropped are left out. */
  const ranking = (until: number, max: number) =>
    Effect.suspend(() => {
      const step = nextRanks({ ...visits, ranked: { last: ranked } }, until, Infinity)
      if (step === undefined) return Effect.void
      const due = step.ranks.filter(({ lastVisit }) => lastVisit >= droppedTo)
      const handed = new Set<string>()
      const note = (given: ReadonlyArray<LinkRank>) =>
        Effect.sync(() => given.forEach((rank) => handed.add(rankText(rank))))
      const bySql = Effect.repeat(sql.visits.rank(until, max, note), { while: (more) => more })
      ranked = step.last
      return comparison.both(
        "VisitStore.rank",
        Effect.succeed(due.map(rankText)),
        Effect.map(bySql, () => due.map(rankText).filter((text) => handed.has(text)))
      )
    })

  return {
    comparison,
    ranges,
    links: {
      ...links,
      insertMany: (batch) => binding(twice(links.insertMany(batch)), batch.map(keyOf)),
      deleteMany: (batch) => leaving(twice(links.deleteMany(batch)), batch.map(keyOf)),
      updateMany: (batch) =>
        leaving(
          repeating(links.updateMany(batch), batch),
          batch.map(keyOf),
          batch.flatMap(({ change: { url }, owner }) =>
            url === undefined || owner === null ? [] : [[owner, url] as const]
          )
        ),
      takeVisits: (batch) => leaving(links.takeVisits(batch), batch.map(keyOf)),
      list: (query) =>
        comparison.after(links.list(query), () =>
          query.text === undefined
            ? Effect.void
            : Effect.forEach(wild, (text) => links.list({ ...query, text }))
        ),
      rankMany: (ranks) => comparison.after(links.rankMany(ranks), () => lowering(ranks))
    },
    guarded: {
      ...guarded,
      beginMany: (batch) =>
        comparison.after(guarded.beginMany(batch), () =>
          ++begun % begunElsewhere === 0 ? holding : Effect.void
        ),
      bindMany: (batch) =>
        binding(
          abandoning(guarded.bindMany(batch), (outcome, place) =>
            outcome === "bound" ? batch[place]!.guards : []
          ),
          batch.map(({ link }) => link.key)
        ),
      settleMany: (batch) =>
        abandoning(guarded.settleMany(batch), (isHeld, place) => (isHeld ? [batch[place]!] : [])),
      findByUrl: (owner, url, now) =>
        Effect.zipRight(
          Effect.sync(() => indexed.add(owner)),
          guarded.findByUrl(owner, url, now)
        ),
      drop: (keep_ms, count) => some(guarded.drop(keep_ms, count), count, (dropped) => dropped)
    },
    lifetime: {
      ...lifetime,
      expire: (keys) =>
        unlessLocked(
          (now) => expired(now).filter((key) => keys.includes(key)),
          ending(lifetime.expire(keys))
        ),
      expireSome: (count) => unlessLocked(expired, some(ending(lifetime.expireSome(count)), count, sizeOf)),
      recycle: (options) =>
        unlessLocked(
          (now) =>
            Array.from(ended)
              .filter(([, at]) => at <= now - options.quarantine_ms)
              .map(([key]) => key),
          some(lifetime.recycle(options), options.count, sizeOf)
        ),
      toForget: (count) => some(lifetime.toForget(count), count, sizeOf)
    },
    stock: {
      ...stock,
      take: (batch, count) =>
        Effect.ensuring(
          stock.take(batch, count),
          Effect.sync(() => picked([]))
        ),
      adopt: (count) => some(stock.adopt(count), 1, (moved) => moved)
    },
    ownersGone: { ...ownersGone, remove: (count) => some(ending(ownersGone.remove(count)), count, sizeOf) },
    visits: {
      ...memory.visits,
      dropWriters,
      forget,
      series,
      top,
      totals,
      visitors,
      write: (batch) =>
        Effect.suspend(() => {
          // These count by the hour and in all, and not by the day.
          if (batch.hours.some(({ hour }) => hour < rolledTo)) part()
          for (const { subject } of batch.hours) if (subjects.size < subjectsMax) subjects.add(subject)
          // What comes again counts once.
          return comparison.after(write(batch), () =>
            ++written % writtenAgain === 0
              ? Effect.zipRight(
                  write(batch),
                  totals(batch.hours.slice(0, subjectsMax).map(({ subject }) => subject))
                )
              : Effect.void
          )
        }),
      rollUp: (until, max) => {
        const rolledUp = upkeep(sql.visits.rollUp(until, max))
        const isFirst = rolledTo === 0
        rolledTo = Math.max(rolledTo, startOf("day", until))
        if (!isFirst) return rolledUp
        formerLinks.slice(1, 4).forEach((subject) => subjects.add(subject))
        return Effect.forEach([1, 2] as const, (sequence) => write(formerVisits(until, sequence))).pipe(
          Effect.zipRight(rolledUp)
        )
      },
      rank: (until, max, handOn) =>
        memory.visits.rank(until, max, (ranks) => Effect.zipRight(ranking(until, max), handOn(ranks))),
      drop: (before, max) => {
        droppedTo = Math.max(droppedTo, before.hours)
        return upkeep(sql.visits.drop(before, max))
      }
    }
  }
}
