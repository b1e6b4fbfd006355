import { Deferred, type Duration, Effect, Exit, FiberId, Scope } from "effect"

/** An effect of which at most one run is under way at a time. */
export interface SingleFlight<A, E> {
  /** Starts a run unless one is under way, and waits for it. Being interrupted stops the waiting, not the run. */
  readonly join: Effect.Effect<A, E>
  /** Starts a run unless one is under way, and does not wait. */
  readonly start: Effect.Effect<void>
  /** Whether a run is under way. */
  readonly isRunning: () => boolean
  /** Waits for the run that is under way, if there is one, however it ends. */
  readonly rest: Effect.Effect<void>
}

/**
 * Runs belong to the scope: when it closes, they are interrupted, and so are those who wait for them. Only `run` itself can be
 * interrupted, so that its end is never missed.
 */
export const make = <A, E>(run: Effect.Effect<A, E>): Effect.Effect<SingleFlight<A, E>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    let current: Deferred.Deferred<A, E> | undefined

    const started = Effect.suspend(() => {
      if (current !== undefined) return Effect.succeed(current)
      const done = Deferred.unsafeMake<A, E>(FiberId.none)
      current = done
      const finish = Effect.onExit(Effect.interruptible(run), (exit) =>
        Effect.sync(() => {
          current = undefined
          Deferred.unsafeDone(done, exit)
        })
      )
      return Effect.as(Effect.forkIn(finish, scope), done)
    })

    return {
      join: Effect.uninterruptibleMask((restore) =>
        Effect.flatMap(started, (done) => restore(Deferred.await(done)))
      ),
      start: Effect.uninterruptible(Effect.asVoid(started)),
      isRunning: () => current !== undefined,
      rest: Effect.suspend(() =>
        current === undefined ? Effect.void : Effect.asVoid(Effect.exit(Deferred.await(current)))
      )
    }
  })

/** The same, whose run outlasts the scope: when that closes, the run that is under way goes on for up to `endMax`, and is waited for. */
export const makeOutlasting = <A, E>(
  run: Effect.Effect<A, E>,
  endMax: Duration.DurationInput
): Effect.Effect<SingleFlight<A, E>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const own = yield* Scope.make()
    const flight = yield* Scope.extend(make(run), own)
    yield* Effect.addFinalizer(() =>
      Effect.zipRight(
        Effect.timeoutOption(Effect.interruptible(flight.rest), endMax),
        Scope.close(own, Exit.void)
      )
    )
    return flight
  })
