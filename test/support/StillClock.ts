import { Clock, Effect } from "effect"

/** A clock whose time stands still until it is set. Timers run on real time, so that nothing waits for ever. */
export interface StillClock extends Clock.Clock {
  readonly set: (now_ms: number) => void
  /** Sets the time of day by so many milliseconds ahead of what has passed, as when a machine's clock jumps. */
  readonly jump: (ahead_ms: number) => void
}

/** A clock that stands at `now_ms` (milliseconds since the Unix epoch). */
export const make = (now_ms: number): StillClock => {
  let now = now_ms
  let ahead = 0
  const { sleep } = Clock.make()
  const millis = () => now + ahead
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
    },
    jump: (ahead_ms) => {
      ahead = ahead_ms
    }
  }
}
