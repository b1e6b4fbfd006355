import { Deferred, Effect, Exit, Fiber } from "effect"

/**
 * Does something for each item, `atMost` at a time (all, if not given), and gives the results in the order of the items. The first failure
 * interrupts the others and is the failure of the whole; an interruption interrupts all. Either way it ends when they have.
 *
 * Every `forEach` here that is interrupted by a stop or a client is this one: Effect's own (3.22, with `concurrency`) never ends when it is
 * interrupted between its first step and that of the fiber which it hands its items to.
 */
export const forEach = <A, B, E, R>(
  items: ReadonlyArray<A>,
  f: (item: A, index: number) => Effect.Effect<B, E, R>,
  atMost: number = items.length
): Effect.Effect<Array<B>, E, R> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const results = Array.from<B>({ length: items.length })
      if (items.length === 0) return results
      let next = 0
      const work: Effect.Effect<void, E, R> = Effect.suspend(() => {
        if (next >= items.length) return Effect.void
        const index = next++
        return Effect.flatMap(f(items[index]!, index), (result) => {
          results[index] = result
          return work
        })
      })
      const ended = yield* Deferred.make<void, E>()
      let left = Math.min(atMost, items.length)
      const workers = yield* Effect.replicateEffect(
        Effect.fork(
          Effect.onExit(restore(work), (exit) =>
            Exit.isFailure(exit)
              ? Deferred.failCause(ended, exit.cause)
              : Effect.suspend(() => (--left === 0 ? Deferred.succeed(ended, undefined) : Effect.void))
          )
        ),
        left
      )
      yield* Effect.onError(restore(Deferred.await(ended)), () => Fiber.interruptAll(workers))
      return results
    })
  )
