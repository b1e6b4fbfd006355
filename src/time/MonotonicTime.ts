import { type Clock, Effect } from "effect"

/**
 * Milliseconds since some moment, to measure durations. The wall clock can be set, and jumps, also back: a value that is valid for some
 * milliseconds would then seem valid for as long as the clock jumped.
 */
export const monotonicNow_ms = (clock: Clock.Clock): number => Number(clock.unsafeCurrentTimeNanos()) / 1e6

/** The same, by the current clock. */
export const monotonic_ms: Effect.Effect<number> = Effect.clockWith((clock) =>
  Effect.sync(() => monotonicNow_ms(clock))
)
