import { Deferred, Duration, Effect, Exit, FiberId, type Scope } from "effect"
import { LRUCache } from "lru-cache"
import { atMost } from "../LruCacheOptions.ts"

/** An answer that is there or on its way, and when it was asked for. */
interface Entry<A, E> {
  readonly askedAt: bigint
  readonly answer: Deferred.Deferred<A, E>
}

/**
 * Remembers at most `max` answers, each until `freshFor` has passed since it was asked for: so long at most an answer may be out of date, however long
 * it took. Who asks meanwhile for the same waits for the same answer. Failures are not remembered. Time is the monotonic clock's.
 */
export const make = <A, E, R>(options: {
  readonly max: number
  readonly freshFor: Duration.Duration
  readonly read: (key: string) => Effect.Effect<A, E, R>
}): Effect.Effect<(key: string) => Effect.Effect<A, E>, never, R | Scope.Scope> =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const context = yield* Effect.context<R>()
    const clock = yield* Effect.clock
    const freshFor_ns = Duration.unsafeToNanos(options.freshFor)
    const entries = new LRUCache<string, Entry<A, E>>(atMost(options.max))

    const start = (key: string, askedAt: bigint) => {
      const entry = { askedAt, answer: Deferred.unsafeMake<A, E>(FiberId.none) }
      entries.set(key, entry)
      const run = Effect.onExit(Effect.interruptible(options.read(key)), (exit) =>
        Effect.sync(() => {
          if (Exit.isFailure(exit) && entries.peek(key) === entry) entries.delete(key)
          Deferred.unsafeDone(entry.answer, exit)
        })
      )
      return Effect.as(Effect.forkIn(Effect.provide(run, context), scope), entry.answer)
    }

    return (key) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.suspend(() => {
          const now = clock.unsafeCurrentTimeNanos()
          const known = entries.get(key)
          const answer =
            known !== undefined && now - known.askedAt < freshFor_ns
              ? Effect.succeed(known.answer)
              : start(key, now)
          return Effect.flatMap(answer, (answer) => restore(Deferred.await(answer)))
        })
      )
  })
