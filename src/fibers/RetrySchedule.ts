import { Duration, Schedule } from "effect"

/** When a write is tried again that nobody waits for: after 200 ms, then twice as long each time but 2 s at most, for 10 minutes. */
export const patient = Schedule.exponential(Duration.millis(200)).pipe(
  Schedule.union(Schedule.spaced(Duration.seconds(2))),
  Schedule.upTo(Duration.minutes(10))
)
