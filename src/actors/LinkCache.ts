import { Deferred, Effect, Exit, Fiber, FiberId, type Scope } from "effect"
import { LRUCache } from "lru-cache"
import type { Link } from "../Link.ts"
import { monotonic_ms } from "../MonotonicTime.ts"
import { LinkChanges } from "../storage/LinkChanges.ts"

/** A cached answer: the row, or that there was none. */
interface Entry {
  readonly link: Link | null
  /** Of `monotonic_ms`; an entry is not used from then on. */
  readonly until: number
}

/** The writes of one key that are under way. */
interface Writes {
  count: number
  overlapped: boolean
}

/** A cache of links that reads what it does not have. */
export interface LinkCache<E> {
  /** The cached row of a key, if there is one, without an effect. An absence is not told from an unknown. */
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
 * With `absentFor_ms` above 0, keys that have no row are remembered that long; this is only right where every
 * create of the key passes through this cache.
 */
export const make = <E>(options: {
  readonly max: number
  readonly absentFor_ms: number
  readonly read: (key: string) => Effect.Effect<Link | null, E>
}): Effect.Effect<LinkCache<E>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const changes = yield* LinkChanges
    const clock = yield* Effect.clock
    const now_ms = () => monotonic_ms(clock)
    const entries = new LRUCache<string, Entry>({ max: options.max })
    const reads = new Map<string, Deferred.Deferred<Link | null, E>>()
    const writes = new Map<string, Writes>()

    const keep = (key: string, link: Link | null) => {
      if (link !== null) entries.set(key, { link, until: Number.POSITIVE_INFINITY })
      else if (options.absentFor_ms > 0) entries.set(key, { link, until: now_ms() + options.absentFor_ms })
    }

    /** Registers a read at once, so that there is one at a time; gives it with the effect that sets it going. */
    const startRead = (key: string) => {
      const done = Deferred.unsafeMake<Link | null, E>(FiberId.none)
      reads.set(key, done)
      const run = Effect.suspend(() => options.read(key)).pipe(
        Effect.interruptible,
        Effect.map((link) => {
          if (reads.get(key) === done) keep(key, link)
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
     * Where absences are not kept, creates do not pass through this cache: a read that began before the question and found nothing
     * may have missed one that was acknowledged since. Whatever read is under way after it began later than the question.
     */
    const readOnce = (key: string) =>
      options.absentFor_ms === 0 && reads.has(key)
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
      const present = writes.get(key)
      if (present !== undefined) present.overlapped = true
    }

    yield* changes.subscribe({
      forget: forgetChanged,
      forgetAll: () => {
        reads.clear()
        entries.clear()
        writes.forEach((present) => (present.overlapped = true))
      }
    })

    return {
      peek: (key) => (changes.isFresh(now_ms()) ? (entries.get(key)?.link ?? undefined) : undefined),
      get: (key) =>
        Effect.suspend(() => {
          const now = now_ms()
          if (!changes.isFresh(now)) return options.read(key)
          const entry = entries.get(key)
          return entry !== undefined && now < entry.until ? Effect.succeed(entry.link) : readOnce(key)
        }),
      write: (keys, effect, kept) =>
        Effect.uninterruptibleMask((restore) => {
          const distinct = new Set(keys)
          distinct.forEach(beginWrite)
          const run = Effect.onExit(Effect.interruptible(effect), (exit) =>
            Effect.sync(() => {
              const alone = new Set([...distinct].filter(endWrite))
              if (Exit.isFailure(exit)) return
              kept(exit.value).forEach((link) => alone.has(link.key) && keep(link.key, link))
            })
          )
          return Effect.flatMap(Effect.forkIn(run, scope), (fiber) => restore(Fiber.join(fiber)))
        }),
      forget: forgetChanged,
      size: () => entries.size
    }
  })
