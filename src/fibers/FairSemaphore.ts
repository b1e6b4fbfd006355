import { Deferred, Effect, FiberId } from "effect"

/** Runs an effect with a permit, for which it waits behind those that came before. An interruption ends the wait. */
export type FairSemaphore = <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/** Permits for which effects and calls wait, all behind those that came before. */
export interface Permits {
  readonly run: FairSemaphore
  /** Calls `taken` once with a permit, at once where one is free. `release` gives it back. */
  readonly takeThen: (taken: () => void) => void
  readonly release: () => void
}

/** So many permits. */
export const makePermits = (permits: number): Permits => {
  let free = permits
  const waiting = new Set<() => void>()

  const takeThen = (taken: () => void) => {
    if (free === 0) return void waiting.add(taken)
    free--
    taken()
  }

  const release = () => {
    const [next] = waiting
    if (next === undefined) return void free++
    waiting.delete(next)
    next()
  }

  const wait = (restore: FairSemaphore) =>
    Effect.suspend(() => {
      if (free > 0) {
        free--
        return Effect.void
      }
      const turn = Deferred.unsafeMake<void>(FiberId.none)
      const taken = () => Deferred.unsafeDone(turn, Effect.void)
      waiting.add(taken)
      // Who was given the turn before the interruption came has it.
      return Effect.onError(restore(Deferred.await(turn)), () =>
        waiting.delete(taken) ? Effect.void : Effect.sync(release)
      )
    })

  return {
    takeThen,
    release,
    run: (self) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.zipRight(wait(restore), Effect.ensuring(restore(self), Effect.sync(release)))
      )
  }
}

/**
 * Makes a semaphore with so many permits. Every semaphore here is one of these: Effect's own (3.22) loses a permit for
 * good where a fiber has just taken it, yields, and is interrupted meanwhile, and nobody gets past it any more.
 */
export const make = (permits: number): FairSemaphore => makePermits(permits).run
