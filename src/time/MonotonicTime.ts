import { performance } from "node:perf_hooks"
import { Clock, Context, DefaultServices, Effect } from "effect"

/** The clock where nobody has given another one. */
const live = Context.get(DefaultServices.liveServices, Clock.Clock)

/**
 * What its nanoseconds count from, so that its moments compare with those of clocks that are made of it, such as `TrustedTime`'s. A pause between two readings
 * makes it too small: the greatest of some is right.
 */
const origin_ms = Math.max(
  ...Array.from({ length: 5 }, () => Number(live.unsafeCurrentTimeNanos()) / 1e6 - performance.now())
)

/**
 * Milliseconds since some moment, to measure durations. The wall clock can be set, and jumps, also back: a value that is valid for some
 * milliseconds would then seem valid for as long as the clock jumped.
 */
export const monotonicNow_ms = (clock: Clock.Clock): number =>
  // The same by far fewer steps: nanoseconds are a `bigint`.
  clock === live ? origin_ms + performance.now() : Number(clock.unsafeCurrentTimeNanos()) / 1e6

/** The same, by the current clock. */
export const monotonic_ms: Effect.Effect<number> = Effect.clockWith((clock) =>
  Effect.sync(() => monotonicNow_ms(clock))
)
