import { Clock, Effect, Exit, FiberSet, Option, Runtime, type Scope } from "effect"
import { type Link, stateAt } from "../../model/Link.ts"
import { LinkReplicas } from "../../storage/links/LinkReplicas.ts"
import {
  type CrawlableQuery,
  type LinkPage,
  type LinkQuery,
  LinkStore
} from "../../storage/links/LinkStore.ts"
import { fromFailure, Unavailable } from "../Unavailable.ts"
import { ExpiredLinks } from "./ExpiredLinks.ts"
import * as LinkCache from "./LinkCache.ts"
import * as LinkReader from "./LinkReader.ts"
import { retryAfter } from "./OwnersAway.ts"
import { RedirectCache } from "./RedirectCache.ts"

/** How a node reads links: out of its cache, of their owners' and of the store. */
export interface LinkReads {
  /** The row of a key, tombstones included, `null` where there is none. */
  readonly find: (key: string) => Effect.Effect<Link | null, Unavailable>
  /**
   * The same for a redirect of a visitor: while the database does not answer, a row that this node knew when it went away is
   * given for `STALE_REDIRECTS`, where its redirects need nothing else.
   */
  readonly findToRedirect: (key: string) => Effect.Effect<Link | null, Unavailable>
  /** As `findToRedirect`, without an effect: calls `done` once, which must not throw. Nothing of it is traced. */
  readonly findToRedirectThen: (
    key: string,
    done: (found: Exit.Exit<Link | null, Unavailable>) => void
  ) => void
  /** The row of a key as far as this node has it at hand, without an effect; `undefined` where `find` must be asked. */
  readonly findNow: (key: string) => Link | undefined
  /** The row of a key that `findToRedirect` gives at once because the database does not answer; see `LinkCache`. */
  readonly staleNow: (key: string) => Link | undefined
  /** Whether it is known that the database of a key does not answer, for no longer than `STALE_REDIRECTS`. */
  readonly isAway: (key: string) => boolean
  /** The row of a key as the store has it: `find` can give one of before, whose `visitsLeft` are no more. */
  readonly findStored: (key: string) => Effect.Effect<Link | null, Unavailable>
  /** A page of links, as the store has them: what was acknowledged before is in it. */
  readonly list: (query: LinkQuery) => Effect.Effect<LinkPage, Unavailable>
  /** The keys of the newest links that are for crawlers, as the store has them. */
  readonly crawlable: (query: CrawlableQuery) => Effect.Effect<ReadonlyArray<string>, Unavailable>
}

/** Statements to a replica at a time. */
const replicaReadsMax = 2

/** Reads of a link whose row is at hand, while it is not known whether the database is away: that takes two heartbeats, of a second at most. */
const readsUntilAway = 20

/** Called once, with the row or why there is none. */
type Answer = Parameters<LinkCache.GetThen<Unavailable>>[1]

const nothing = () => {}

/** Tells those that wait for a read that their database is known to be away. */
interface AwayWatch {
  /** Calls `whenAway` once, up to 100 ms after the database of `key` is known to be away, unless the function that it gives is called before. It must not throw. */
  readonly watch: (key: string, whenAway: () => void) => () => void
}

/** See {@link AwayWatch}. One timer looks for all that wait; most reads end before it does. */
const makeAwayWatch = (isAway: LinkReads["isAway"]): Effect.Effect<AwayWatch, never, Scope.Scope> =>
  Effect.gen(function* () {
    const run = yield* FiberSet.makeRuntime<never>()
    const waiting = new Set<{ readonly key: string; readonly whenAway: () => void }>()
    let isLooking = false

    const look = Effect.sync(() => {
      for (const one of waiting) {
        if (!isAway(one.key)) continue
        waiting.delete(one)
        one.whenAway()
      }
      isLooking = waiting.size > 0
      return isLooking
    })
    const looking = Effect.repeat(Effect.zipRight(Effect.sleep(retryAfter), look), {
      while: (goesOn) => goesOn
    })

    return {
      watch: (key, whenAway) => {
        const one = { key, whenAway }
        waiting.add(one)
        if (!isLooking) {
          isLooking = true
          run(looking)
        }
        return () => void waiting.delete(one)
      }
    }
  })

/** See {@link LinkReads}. */
export const make = Effect.gen(function* () {
  const cache = yield* RedirectCache
  const store = yield* LinkStore
  const expiredLinks = yield* ExpiredLinks
  const findInReplica = yield* LinkReplicas
  const hasReplica = Option.isSome(findInReplica)
  const replica = yield* LinkReader.over(
    Option.getOrElse(findInReplica, () => store.findMany),
    replicaReadsMax
  )
  const away = yield* makeAwayWatch(cache.isAway)
  const clock = yield* Effect.clock
  const runFork = Runtime.runFork(yield* Effect.runtime())

  const found = (link: Link | null, now: number) => {
    if (link !== null && stateAt(link, now) === "expired") expiredLinks.found(link.key)
    return link
  }

  /** A link as a replica has it. One that it lacks may have been made a moment ago, and one that counts its visits needs the database. */
  const readReplica = (key: string): Effect.Effect<Link, Unavailable> =>
    Effect.filterOrFail(
      LinkCache.get({ getThen: replica.readThen }, key),
      (link) => link !== null && LinkCache.isPlain(link),
      () =>
        new Unavailable({ reason: "the database is away, and no replica can answer for it", applied: "no" })
    ) as Effect.Effect<Link, Unavailable>

  const answerBy = (read: Effect.Effect<Link | null, Unavailable>, answer: Answer) =>
    runFork(read).addObserver(answer)

  /** Answers without the database, where that is known to be away: with the row at hand, or as a replica has it. `false`: it cannot, and does not call `answer`. */
  const answerAway = (key: string, answer: Answer): boolean => {
    const stale = cache.staleNow(key)
    if (stale !== undefined) answer(Exit.succeed(stale))
    else if (hasReplica && cache.isAway(key)) answerBy(readReplica(key), answer)
    else return false
    return true
  }

  /** Whether `answerAway` could answer, as soon as it is known that the database is away. */
  const canAnswerAway = (key: string) => hasReplica || cache.mayBeStale(key)

  /**
   * Reads a row, and answers without the database as soon as that is known to be away: a read that gets no answer fails only when its request is too late,
   * and holds up those behind it.
   */
  const readThen: LinkCache.GetThen<Unavailable> = (key, answer, span) => {
    let isOver = false
    let unwatch = nothing
    const end: Answer = (row) => {
      if (isOver) return
      isOver = true
      unwatch()
      answer(row)
    }
    cache.getThen(key, end, span)
    if (isOver || !canAnswerAway(key)) return
    // The read may still answer where no replica can.
    unwatch = away.watch(key, () => answerAway(key, (row) => Exit.isSuccess(row) && end(row)))
  }

  /** `answerAway` as an effect, and `otherwise` where it cannot. */
  const awayOr = (key: string, otherwise: (answer: Answer) => void) =>
    Effect.async<Link | null, Unavailable>((resume) => {
      if (!answerAway(key, resume)) otherwise(resume)
    })

  /** Reads again until the database answers, or is known to be away: two of its heartbeats must fail first, which may be while a read is under way. */
  const readUntilAway = (key: string): Effect.Effect<Link | null, Unavailable> =>
    Effect.sleep(retryAfter).pipe(
      Effect.zipRight(awayOr(key, (answer) => readThen(key, answer))),
      Effect.retry({ times: readsUntilAway, while: () => !cache.isSilent(key) }),
      Effect.catchAll((error) => awayOr(key, (answer) => answer(Exit.fail(error))))
    )

  /** A read that fails may be the first to find that the database has gone. */
  const findToRedirectThen: LinkCache.GetThen<Unavailable> = (key, answer, span) => {
    if (answerAway(key, answer)) return
    readThen(
      key,
      (row) => {
        if (Exit.isSuccess(row))
          return answer(Exit.succeed(found(row.value, clock.unsafeCurrentTimeMillis())))
        if (answerAway(key, answer)) return
        if (!cache.isSilent(key) && canAnswerAway(key)) answerBy(readUntilAway(key), answer)
        else answer(row)
      },
      span
    )
  }

  const reads: LinkReads = {
    find: (key) => Effect.zipWith(LinkCache.get(cache, key), Clock.currentTimeMillis, found),
    findToRedirect: (key) =>
      Effect.withFiberRuntime((fiber) =>
        Effect.async((resume) => findToRedirectThen(key, resume, fiber.currentSpan))
      ),
    findToRedirectThen,
    findNow: cache.getNow,
    staleNow: cache.staleNow,
    isAway: cache.isAway,
    findStored: (key) =>
      Effect.mapBoth(store.findMany([key]), { onFailure: fromFailure, onSuccess: ([row]) => row ?? null }),
    list: (query) => Effect.mapError(store.list(query), fromFailure),
    crawlable: (query) => Effect.mapError(store.crawlable(query), fromFailure)
  }
  return reads
})
