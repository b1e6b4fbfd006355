import { Clock, Effect } from "effect"

/** A clock whose time stands still until it is set. Timers run on real time, so that nothing waits for ever. */
export interface StillClock extends Clock.Clock {
  readonly set: (now_ms: number) => void
}

/** A clock that stands at `now_ms` (milliseconds since the Unix epoch). */
export const make = (now_ms: number): StillClock => {
  let now = now_ms
  const { sleep } = Clock.make()
  const millis = () => now
  const nanos = () => BigInt(now) * 1_000_000n
  return {
    [Clock.ClockTypeId]: Clock.ClockTypeId,
    unsafeCurrentTimeMillis: millis,
    unsafeCurrentTimeNanos: nanos,
    currentTimeMillis: Effect.sync(millis),
    currentTimeNanos: Effect.sync(nanos),
    sleep: (duration) => sleep(duration),
    set: (now_ms) => {
      now = now_ms
    }
  }
}
