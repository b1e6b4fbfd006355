import { Deferred, Effect, FiberId } from "effect"

/** Runs an effect with a permit, for which it waits behind those that came before. An interruption ends the wait. */
export type FairSemaphore = <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/**
 * Makes a semaphore with so many permits. Every semaphore here is one of these: Effect's own (3.22) loses a permit for
 * good where a fiber has just taken it, yields, and is interrupted meanwhile, and nobody gets past it any more.
 */
export const make = (permits: number): FairSemaphore => {
  let free = permits
  const waiting = new Set<Deferred.Deferred<void>>()

  const release = Effect.sync(() => {
    const [next] = waiting
    if (next === undefined) return void free++
    waiting.delete(next)
    Deferred.unsafeDone(next, Effect.void)
  })

  const wait = (restore: FairSemaphore) =>
    Effect.suspend(() => {
      if (free > 0) {
        free--
        return Effect.void
      }
      const turn = Deferred.unsafeMake<void>(FiberId.none)
      waiting.add(turn)
      // Who was given the turn before the interruption came has it.
      return Effect.onError(restore(Deferred.await(turn)), () =>
        waiting.delete(turn) ? Effect.void : release
      )
    })

  return (self) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.zipRight(wait(restore), Effect.ensuring(restore(self), release))
    )
}
