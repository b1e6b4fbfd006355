import { type Clock, Effect } from "effect"

/**
 * Milliseconds since some moment, for how long something takes or holds. The wall clock is set by others and jumps, back too: what is only good
 * for some milliseconds would then seem to be good for as long as it jumped.
 */
export const monotonic_ms = (clock: Clock.Clock): number => Number(clock.unsafeCurrentTimeNanos()) / 1e6

/** The same, of the clock at hand. */
export const monotonicNow_ms: Effect.Effect<number> = Effect.clockWith((clock) =>
  Effect.sync(() => monotonic_ms(clock))
)
