import { Clock, Duration, Effect, Layer } from "effect"
import { VisitStore } from "../storage/visits/VisitStore.ts"
import * as TrustedTime from "../time/TrustedTime.ts"
import { dayHours, hourOf } from "../model/Visit.ts"

/** How often a node rolls up and drops. Any node may: the store allows one at a time. */
const lookEvery = Duration.minutes(10)

/** A pause between steps, for other work of the database. */
const stepPause = Duration.millis(20)

/** How long after its end a day is rolled up, in hours: longer than visits wait to be written, and than clocks differ. */
const settleHours = 12

/** How long visits are kept by the hour, and by the day. By the month they are kept as long as their link. */
export const hoursKept_days = 35
export const daysKept_days = 1_100

/** How long the last batch of a writer is remembered: longer than any batch is retried. */
const writersKept = Duration.days(30)

const firstOfDay = (hour: number) => hour - (hour % dayHours)

/** The first hour whose visits are kept by the hour, at hour `now`. */
export const firstHourKept = (now: number): number => firstOfDay(now - hoursKept_days * dayHours)

/** The first hour whose visits are kept by the day, at hour `now`. */
export const firstDayKept = (now: number): number => firstOfDay(now - daysKept_days * dayHours)

/** Rolls visits up to days and months when these are over, and drops old ones: at most `stepMax` rows, and their values, at a time. */
export const layer = ({ stepMax }: { readonly stepMax: number }): Layer.Layer<never, never, VisitStore> =>
  Layer.scopedDiscard(
    Effect.gen(function* () {
      const store = yield* VisitStore
      const untilDone = <E>(step: Effect.Effect<boolean, E>) =>
        Effect.repeat(Effect.delay(step, stepPause), { while: (more) => more })

      const look = Effect.gen(function* () {
        const now_ms = yield* Clock.currentTimeMillis
        const now = hourOf(now_ms)
        yield* untilDone(store.rollUp(now - settleHours, stepMax))
        yield* untilDone(store.drop({ hours: firstHourKept(now), days: firstDayKept(now) }, stepMax))
        yield* store.dropWriters(now_ms - Duration.toMillis(writersKept))
      }).pipe(Effect.catchAll(({ message }) => Effect.logWarning(`Visits are not rolled up: ${message}`)))

      yield* Effect.forkScoped(Effect.forever(Effect.delay(TrustedTime.whenSettled(look), lookEvery)))
    })
  )
