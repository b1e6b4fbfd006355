import { Effect, Exit, Fiber, type Scope, type Tracer } from "effect"
import { LRUCache } from "lru-cache"
import type { Link } from "../../model/Link.ts"
import * as Metered from "../../telemetry/Metered.ts"
import { monotonicNow_ms } from "../../time/MonotonicTime.ts"
import { type freshFor_ms, LinkInvalidations } from "../../storage/links/LinkInvalidations.ts"
import { RecentlyChangedKeys } from "../keys/RecentlyChangedKeys.ts"
import { weightOf } from "./LinkWeight.ts"

const lookups = (level: "l1" | "l2") =>
  Metered.countersBy(
    `linkmint_${level}_lookups_total`,
    `Links asked of ${level === "l1" ? "nodes' caches" : "the caches of partitions' owners"}; bypassed: while news of changes was not fresh`,
    "outcome",
    ["hit", "miss", "bypassed"]
  )

/** How often links were at hand, in the nodes' caches (L1) and the owners' (L2). */
const lookupsOf = { l1: lookups("l1"), l2: lookups("l2") }

/** Counts an answer out of a node's cache that was got by `getNow`, which does not count. */
export const countHit = (): void => Metered.add(lookupsOf.l1.hit)

const staleAnswers = Metered.counter(
  "linkmint_stale_links_total",
  "Links given out of a node's cache for redirects, while the database did not answer"
)

/** The writes of one key that are under way. */
interface Writes {
  count: number
  overlapped: boolean
}

/**
 * Asks for the row of a key, without an effect: `answer` is called once, at once or later, and must not throw. `span`: that of who asks, where requests are
 * traced.
 */
export type GetThen<E> = (
  key: string,
  answer: (row: Exit.Exit<Link | null, E>) => void,
  span?: Tracer.AnySpan
) => void

/** Whether a link's redirects need nothing but its row. */
export const isPlain = (link: Link): boolean => link.passwordHash === null && link.maxVisits === null

/** A cache of links that reads what it does not have. */
export interface LinkCache<E> {
  /** The cached row of a key, if there is one, without an effect. */
  readonly getNow: (key: string) => Link | undefined
  /**
   * The row of a key as it was when the news ended, while the store does not answer and for `staleMax_ms` at most: for a redirect, of a link whose
   * redirects need nothing else than its row. It may have been changed or deleted since.
   */
  readonly staleNow: (key: string) => Link | undefined
  /** Whether `staleNow` could give the key's row, as soon as it is known that the store does not answer. */
  readonly mayBeStale: (key: string) => boolean
  /** Whether the store is known not to answer for a key, for no longer than `staleMax_ms`. */
  readonly isAway: (key: string) => boolean
  /** The same, for however long. */
  readonly isSilent: (key: string) => boolean
  /** Asks for the row of a key, cached or read; concurrent reads of a key are one, or two where the first finds nothing. */
  readonly getThen: GetThen<E>
  /**
   * Begins a write of a key: it is forgotten now and when the write ends. The function that it returns ends the write and must be called once. It keeps the link that the write left,
   * if it is given one and no other write of the key overlapped: only the store knows the order of two that did.
   */
  readonly beginWrite: (key: string) => (left: Link | undefined) => void
  /**
   * Runs a write of keys between `beginWrite` and its end; `kept` gives the links that it left.
   *
   * Being interrupted stops the waiting, not the write: a write that goes on unwatched would change rows behind the cache's back.
   */
  readonly write: <A, E1, R1>(
    keys: ReadonlyArray<string>,
    effect: Effect.Effect<A, E1, R1>,
    kept: (result: A) => ReadonlyArray<Link>
  ) => Effect.Effect<A, E1, R1>
  /**
   * Forgets a key. A read that is under way answers those who wait for it already, but is not joined by later ones nor kept: it may have
   * seen the row as it was before. Nor is what a write that is under way leaves.
   */
  readonly forget: (key: string) => void
  /** Entries held. */
  readonly size: () => number
}

/** The row of a key, as an effect. Being interrupted stops the waiting, not the read. */
export const get = <E>(
  { getThen }: Pick<LinkCache<E>, "getThen">,
  key: string
): Effect.Effect<Link | null, E> =>
  Effect.withFiberRuntime((fiber) =>
    Effect.async<Link | null, E>((resume) => getThen(key, resume, fiber.currentSpan))
  )

/**
 * A least-recently-used cache of at most `max` links, and at most `maxBytes` as `weightOf` estimates them, over `read`. It follows `LinkInvalidations`: what another node changed is forgotten, and while the
 * news is not fresh, every question is read again and nothing is kept.
 *
 * That a key has no row is never remembered: not even the owner of a partition sees every create of it, since for a moment there can be two owners.
 */
export const make = <E>(options: {
  /** Which of the caches a redirect passes it is, for its metrics. */
  readonly level: "l1" | "l2"
  readonly max: number
  readonly maxBytes: number
  /** Reads a row, once for each question. It must call back, with a failure, also where it gives up. */
  readonly read: GetThen<E>
  /**
   * How old what `read` gives may be, in milliseconds: 0 where the store answers. Another cache may hear of a change later than this one:
   * what it answers until then must not be kept here, since no more news of that change would come.
   */
  readonly readAge_ms: typeof freshFor_ms | 0
  /** For how long after the news ended a row may be given by `staleNow`, in milliseconds; 0 never. */
  readonly staleMax_ms: number
}): Effect.Effect<LinkCache<E>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const changes = yield* LinkInvalidations
    const clock = yield* Effect.clock
    const { bypassed, hit, miss } = lookupsOf[options.level]
    const now_ms = () => monotonicNow_ms(clock)
    // Without its own `max`, for which it would lay out room at once.
    const entries = new LRUCache<string, Link>({ maxSize: options.maxBytes, sizeCalculation: weightOf })
    /** Who waits for each read that is under way. */
    const reads = new Map<string, Array<Parameters<GetThen<E>>[1]>>()
    const writes = new Map<string, Writes>()
    const unsettled = new RecentlyChangedKeys(options.readAge_ms)

    /** Under the row's own text of the key: that of a question can be a part of a request's whole URL, which V8 keeps with it. */
    const keep = (key: string, row: Link) => {
      entries.set(row.key === key ? row.key : key, row)
      if (entries.size > options.max) entries.pop()
    }

    const joinOrStart: GetThen<E> = (key, answer, span) => {
      const running = reads.get(key)
      if (running !== undefined) return void running.push(answer)
      const waiting = [answer]
      const isSettled = !unsettled.has(key, now_ms())
      reads.set(key, waiting)
      options.read(
        key,
        (row) => {
          if (reads.get(key) === waiting) {
            if (isSettled && Exit.isSuccess(row) && row.value !== null) keep(key, row.value)
            reads.delete(key)
          }
          waiting.forEach((tell) => tell(row))
        },
        span
      )
    }

    /**
     * Not all creates pass through this cache: a read that began before the question and found nothing may have missed one that was acknowledged
     * since. Any read that is under way after it began later than the question.
     */
    const readOnce: GetThen<E> = (key, answer, span) => {
      if (!reads.has(key)) return joinOrStart(key, answer, span)
      joinOrStart(key, (row) => {
        if (Exit.isSuccess(row) && row.value === null) joinOrStart(key, answer, span)
        else answer(row)
      })
    }

    const isAway = (key: string) =>
      (changes.awayFor(now_ms(), key) ?? Number.POSITIVE_INFINITY) < options.staleMax_ms

    const plainEntry = (key: string) => {
      const link = entries.get(key)
      return link !== undefined && isPlain(link) ? link : undefined
    }

    const forget = (key: string) => {
      reads.delete(key)
      entries.delete(key)
    }

    const beginWrite = (key: string) => {
      forget(key)
      const present = writes.get(key)
      const underWay = present ?? { count: 0, overlapped: false }
      if (present === undefined) writes.set(key, underWay)
      underWay.count++
      underWay.overlapped ||= underWay.count > 1
      return (left: Link | undefined) => {
        underWay.count--
        if (underWay.count === 0) writes.delete(key)
        if (left === undefined || underWay.overlapped) return forget(key)
        reads.delete(key)
        keep(key, left)
      }
    }

    /** News may be of a change that came after the write that is under way: what that write leaves may be older. */
    const forgetChanged = (key: string) => {
      forget(key)
      unsettled.add(key, now_ms())
      const present = writes.get(key)
      if (present !== undefined) present.overlapped = true
    }

    yield* changes.subscribe({
      forget: forgetChanged,
      forgetAll: () => {
        reads.clear()
        entries.clear()
        unsettled.addAll(now_ms())
        writes.forEach((present) => (present.overlapped = true))
      }
    })

    return {
      getNow: (key) => (changes.isFresh(now_ms(), key) ? entries.get(key) : undefined),
      staleNow: (key) => {
        const link = isAway(key) ? plainEntry(key) : undefined
        if (link !== undefined) Metered.add(staleAnswers)
        return link
      },
      isAway,
      isSilent: (key) => changes.awayFor(now_ms(), key) !== undefined,
      mayBeStale: (key) => options.staleMax_ms > 0 && plainEntry(key) !== undefined,
      getThen: (key, answer, span) => {
        if (!changes.isFresh(now_ms(), key)) {
          Metered.add(bypassed)
          return options.read(key, answer, span)
        }
        const link = entries.get(key)
        Metered.add(link === undefined ? miss : hit)
        if (link === undefined) readOnce(key, answer, span)
        else answer(Exit.succeed(link))
      },
      beginWrite,
      write: (keys, effect, kept) =>
        Effect.uninterruptibleMask((restore) => {
          const ends = new Map(Array.from(new Set(keys), (key) => [key, beginWrite(key)]))
          const run = Effect.onExit(Effect.interruptible(effect), (exit) =>
            Effect.sync(() => {
              const left = Exit.isSuccess(exit) ? kept(exit.value) : []
              const leftOf = new Map(left.map((link) => [link.key, link]))
              ends.forEach((end, key) => end(leftOf.get(key)))
            })
          )
          return Effect.flatMap(Effect.forkIn(run, scope), (fiber) => restore(Fiber.join(fiber)))
        }),
      forget: forgetChanged,
      size: () => entries.size
    }
  })
