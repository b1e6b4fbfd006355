import { Deferred, Duration, Effect, Exit, FiberId, type Scope } from "effect"
import { LRUCache } from "lru-cache"
import { atMost } from "./LruCacheOptions.ts"

/** An answer that is there or on its way, and when it was asked for. */
interface Entry<A, E> {
  readonly askedAt: bigint
  readonly answer: Deferred.Deferred<A, E>
  /** Once it is there. */
  known?: { readonly value: A }
}

/** See {@link make}. */
export interface FreshCache<A, E> {
  readonly get: (key: string) => Effect.Effect<A, E>
  /** What is known and fresh, without an effect; `undefined` where it must be asked for. */
  readonly getNow: (key: string) => { readonly value: A } | undefined
}

/**
 * Remembers at most `max` answers, each until `freshFor` has passed since it was asked for: so long at most an answer may be out of date, however long
 * it took. Who asks meanwhile for the same waits for the same answer. Failures are not remembered. Time is the monotonic clock's.
 */
export const make = <A, E, R>(options: {
  readonly max: number
  readonly freshFor: Duration.Duration
  readonly read: (key: string) => Effect.Effect<A, E, R>
}): Effect.Effect<FreshCache<A, E>, never, R | Scope.Scope> =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const context = yield* Effect.context<R>()
    const clock = yield* Effect.clock
    const freshFor_ns = Duration.unsafeToNanos(options.freshFor)
    const entries = new LRUCache<string, Entry<A, E>>(atMost(options.max))

    const start = (key: string, askedAt: bigint) => {
      const entry: Entry<A, E> = { askedAt, answer: Deferred.unsafeMake<A, E>(FiberId.none) }
      entries.set(key, entry)
      const run = Effect.onExit(Effect.interruptible(options.read(key)), (exit) =>
        Effect.sync(() => {
          if (Exit.isSuccess(exit)) entry.known = exit
          else if (entries.peek(key) === entry) entries.delete(key)
          Deferred.unsafeDone(entry.answer, exit)
        })
      )
      return Effect.as(Effect.forkIn(Effect.provide(run, context), scope), entry.answer)
    }

    const freshAt = (key: string, now: bigint) => {
      const entry = entries.get(key)
      return entry !== undefined && now - entry.askedAt < freshFor_ns ? entry : undefined
    }

    return {
      get: (key) =>
        Effect.uninterruptibleMask((restore) =>
          Effect.suspend(() => {
            const now = clock.unsafeCurrentTimeNanos()
            const fresh = freshAt(key, now)
            const answer = fresh === undefined ? start(key, now) : Effect.succeed(fresh.answer)
            return Effect.flatMap(answer, (answer) => restore(Deferred.await(answer)))
          })
        ),
      getNow: (key) => freshAt(key, clock.unsafeCurrentTimeNanos())?.known
    }
  })
