import { Deferred, Effect, Exit, Fiber, FiberId, type Scope } from "effect"
import { LRUCache } from "lru-cache"
import type { Link } from "../Link.ts"
import * as Metered from "../Metered.ts"
import { monotonic_ms } from "../MonotonicTime.ts"
import { type freshFor_ms, LinkChanges } from "../storage/LinkChanges.ts"
import { UnsettledKeys } from "./UnsettledKeys.ts"

const lookups = (level: "l1" | "l2") =>
  Metered.countersBy(
    `linkmint_${level}_lookups_total`,
    `Links asked of ${level === "l1" ? "nodes' caches" : "the caches of partitions' owners"}; bypassed: while news of changes was not fresh`,
    "outcome",
    ["hit", "miss", "bypassed"]
  )

/** How often links were at hand, in the nodes' caches (L1) and the owners' (L2). */
const lookupsOf = { l1: lookups("l1"), l2: lookups("l2") }

/** Counts an answer out of a node's cache that was got by `peek`, which does not count. */
export const countPeeked = (): void => Metered.add(lookupsOf.l1.hit)

/** The writes of one key that are under way. */
interface Writes {
  count: number
  overlapped: boolean
}

/** A cache of links that reads what it does not have. */
export interface LinkCache<E> {
  /** The cached row of a key, if there is one, without an effect. */
  readonly peek: (key: string) => Link | undefined
  /** The row of a key, cached or read; concurrent reads of a key are one, or two where the first finds nothing. */
  readonly get: (key: string) => Effect.Effect<Link | null, E>
  /**
   * Runs a write of keys and keeps the links that it left, as `kept` tells. Before it and after it the keys are forgotten; what it left
   * is kept only where no other write of that key overlapped, since then their order is the store's secret.
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

/**
 * A least-recently-used cache of at most `max` links over `read`. It heeds `LinkChanges`: what another node changed is forgotten, and while the
 * news is not fresh, every question is read anew and nothing is kept.
 *
 * That a key has no row is never remembered: not even the owner of a partition sees every create of it, since for a moment there can be two owners.
 */
export const make = <E>(options: {
  /** Which of the caches a redirect passes it is, for its metrics. */
  readonly level: "l1" | "l2"
  readonly max: number
  readonly read: (key: string) => Effect.Effect<Link | null, E>
  /**
   * How old what `read` gives may be, in milliseconds: 0 where the store answers. Another cache may hear of a change later than this one:
   * what it answers until then must not be kept here, since no more news of that change would come.
   */
  readonly readAge_ms: typeof freshFor_ms | 0
}): Effect.Effect<LinkCache<E>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const changes = yield* LinkChanges
    const clock = yield* Effect.clock
    const { bypassed, hit, miss } = lookupsOf[options.level]
    const now_ms = () => monotonic_ms(clock)
    const entries = new LRUCache<string, Link>({ max: options.max })
    const reads = new Map<string, Deferred.Deferred<Link | null, E>>()
    const writes = new Map<string, Writes>()
    const unsettled = new UnsettledKeys(options.readAge_ms)

    /** Registers a read at once, so that there is one at a time; gives it with the effect that sets it going. */
    const startRead = (key: string) => {
      const done = Deferred.unsafeMake<Link | null, E>(FiberId.none)
      const isSettled = !unsettled.has(key, now_ms())
      reads.set(key, done)
      const run = Effect.suspend(() => options.read(key)).pipe(
        Effect.interruptible,
        Effect.map((link) => {
          if (link !== null && isSettled && reads.get(key) === done) entries.set(key, link)
          return link
        }),
        Effect.onExit((exit) =>
          Effect.sync(() => {
            if (reads.get(key) === done) reads.delete(key)
            Deferred.unsafeDone(done, exit)
          })
        )
      )
      return { done, go: Effect.forkIn(run, scope) }
    }

    const joinOrStart = (key: string) =>
      Effect.uninterruptibleMask((restore) => {
        const running = reads.get(key)
        if (running !== undefined) return restore(Deferred.await(running))
        const { done, go } = startRead(key)
        return Effect.zipRight(go, restore(Deferred.await(done)))
      })

    /**
     * Not all creates pass through this cache: a read that began before the question and found nothing may have missed one that was acknowledged
     * since. Whatever read is under way after it began later than the question.
     */
    const readOnce = (key: string) =>
      reads.has(key)
        ? Effect.filterOrElse(
            joinOrStart(key),
            (link) => link !== null,
            () => joinOrStart(key)
          )
        : joinOrStart(key)

    const forget = (key: string) => {
      reads.delete(key)
      entries.delete(key)
    }

    const beginWrite = (key: string) => {
      forget(key)
      const present = writes.get(key)
      if (present === undefined) return void writes.set(key, { count: 1, overlapped: false })
      present.count++
      present.overlapped = true
    }

    /** Whether the write that ends was alone. */
    const endWrite = (key: string): boolean => {
      forget(key)
      const present = writes.get(key)!
      present.count--
      if (present.count === 0) writes.delete(key)
      return !present.overlapped
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
      peek: (key) => (changes.isFresh(now_ms()) ? entries.get(key) : undefined),
      get: (key) =>
        Effect.suspend(() => {
          if (!changes.isFresh(now_ms())) {
            Metered.add(bypassed)
            return options.read(key)
          }
          const link = entries.get(key)
          Metered.add(link === undefined ? miss : hit)
          return link === undefined ? readOnce(key) : Effect.succeed(link)
        }),
      write: (keys, effect, kept) =>
        Effect.uninterruptibleMask((restore) => {
          const distinct = new Set(keys)
          distinct.forEach(beginWrite)
          const run = Effect.onExit(Effect.interruptible(effect), (exit) =>
            Effect.sync(() => {
              const alone = new Set([...distinct].filter(endWrite))
              if (Exit.isFailure(exit)) return
              kept(exit.value).forEach((link) => alone.has(link.key) && entries.set(link.key, link))
            })
          )
          return Effect.flatMap(Effect.forkIn(run, scope), (fiber) => restore(Fiber.join(fiber)))
        }),
      forget: forgetChanged,
      size: () => entries.size
    }
  })
