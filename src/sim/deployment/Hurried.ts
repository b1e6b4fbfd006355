import { Clock, Duration, Effect, Layer } from "effect"

/** A clock of something that is done now and then: its waits are shorter, and it may be ahead. */
export interface Hurry {
  readonly hurry: number
  readonly ahead_ms: number
}

const clockOf = (clock: Clock.Clock, { ahead_ms, hurry }: Hurry): Clock.Clock => {
  const unsafeCurrentTimeMillis = () => clock.unsafeCurrentTimeMillis() + ahead_ms
  const unsafeCurrentTimeNanos = () => clock.unsafeCurrentTimeNanos() + BigInt(ahead_ms) * 1_000_000n
  return {
    [Clock.ClockTypeId]: Clock.ClockTypeId,
    unsafeCurrentTimeMillis,
    currentTimeMillis: Effect.sync(unsafeCurrentTimeMillis),
    unsafeCurrentTimeNanos,
    currentTimeNanos: Effect.sync(unsafeCurrentTimeNanos),
    sleep: (duration) => clock.sleep(Duration.times(duration, 1 / hurry))
  }
}

/** Upkeep that production does every few minutes, so often that it comes many times in a run. */
export const hurried = <E, R>(upkeep: Layer.Layer<never, E, R>, hurry: Hurry): Layer.Layer<never, E, R> =>
  Layer.scopedDiscard(
    Effect.flatMap(Effect.clock, (clock) => Effect.withClock(Layer.build(upkeep), clockOf(clock, hurry)))
  )
