import { Deferred, Effect, FiberId } from "effect"

/** Lets an effect begin when it is its turn, in the order of their coming. Being interrupted ends the wait. */
export type FairSemaphore = <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/**
 * Turns of which so many are taken at a time.
 *
 * What `withPermits` of Effect's semaphore does, which loses a permit for good where a fiber that has just taken it lets others run and is interrupted meanwhile
 * (Effect 3.22): what it guards could not be done any more.
 */
export const make = (atOnce: number): FairSemaphore => {
  let free = atOnce
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
