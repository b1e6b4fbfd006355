import { Clock, Context, Duration, Effect, Layer } from "effect"
import { monotonic_ms, monotonicNow_ms } from "./MonotonicTime.ts"

/** When a process's beats come, in `monotonicNow_ms`. */
export interface PulseService {
  /** A beat of every period. */
  readonly start_ms: number
}

/**
 * What a process does again and again, it does at the same moments: the beats of a period are as many milliseconds apart, and the beats of two periods are the same where one is a multiple of the
 * other. So an idle process is woken twice a second rather than forty times: a wake-up costs more than most of what it is for.
 */
export class Pulse extends Context.Reference<Pulse>()("linkmint/Pulse", {
  defaultValue: (): PulseService => ({ start_ms: 0 })
}) {}

/** Beats that count from now, so that the processes of a cluster do not all ask the database at once. */
export const layer: Layer.Layer<Pulse> = Layer.effect(
  Pulse,
  Effect.map(monotonic_ms, (start_ms): PulseService => ({ start_ms }))
)

/** A beat that is nearer is the one that has just come: timers have whole milliseconds, and can be early by one. */
const near_ms = 2

/** Milliseconds from `now_ms`, of `monotonicNow_ms`, until the next beat of a period of at least some milliseconds. No more than the period, and 2 ms. */
export const untilBeat_ms = ({ start_ms }: PulseService, now_ms: number, period_ms: number): number => {
  const left_ms = Math.ceil(period_ms - ((now_ms - start_ms) % period_ms))
  return left_ms <= near_ms ? left_ms + period_ms : left_ms
}

const sleep = (clock: Clock.Clock, pulse: PulseService, period: Duration.Duration): Effect.Effect<void> =>
  clock.sleep(Duration.millis(untilBeat_ms(pulse, monotonicNow_ms(clock), Duration.toMillis(period))))

/** Waits for the next beat of a period. */
export const pause = (period: Duration.Duration): Effect.Effect<void> =>
  Effect.withFiberRuntime((fiber) =>
    sleep(
      Context.get(fiber.currentDefaultServices, Clock.Clock),
      Context.get(fiber.currentContext, Pulse),
      period
    )
  )

/** Takes a step with each beat of a period; with the next one, where it takes longer. */
export const forever = <A, E, R>(
  step: Effect.Effect<A, E, R>,
  period: Duration.Duration
): Effect.Effect<never, E, R> => Effect.forever(Effect.zipRight(pause(period), step))

/** Takes a step now, and then one with each beat of a period. */
export const fromNow = <A, E, R>(
  step: Effect.Effect<A, E, R>,
  period: Duration.Duration
): Effect.Effect<never, E, R> => Effect.zipRight(step, forever(step, period))

/** Has the waits of these very durations (the values, not their lengths) end with beats: those of a library that waits by itself. */
export const layerOf = (periods: ReadonlyArray<Duration.Duration>): Layer.Layer<never> =>
  Layer.unwrapEffect(
    Effect.zipWith(Effect.clock, Pulse, (clock, pulse) =>
      Layer.setClock(
        Object.assign(Object.create(clock) as Clock.Clock, {
          sleep: (duration: Duration.Duration) =>
            periods.includes(duration)
              ? Effect.suspend(() => sleep(clock, pulse, duration))
              : clock.sleep(duration)
        })
      )
    )
  )
