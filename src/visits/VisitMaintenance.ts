import { Clock, Duration, Effect, Layer } from "effect"
import { VisitStore } from "../storage/visits/VisitStore.ts"
import * as TrustedTime from "../time/TrustedTime.ts"
import { dayHours, hourOf } from "../model/Visit.ts"

/** How often there is a look at what is over or too old. Any node may: the store lets one at a time. */
const lookEvery = Duration.minutes(10)

/** A pause between steps, for whatever else the database has to do. */
const stepPause = Duration.millis(20)

/** How long a day has been over when it is rolled up, in hours: longer than visits wait to be written, and than clocks go wrong. */
const settleHours = 12

/** How long visits are kept by the hour, and by the day. By the month they are kept as long as their link. */
export const hoursKept_days = 35
export const daysKept_days = 1_100

/** How long the last batch of a writer is remembered: longer than any is tried again. */
const writersKept = Duration.days(30)

const firstOfDay = (hour: number) => hour - (hour % dayHours)

/** The first hour, at hour `now`, of which visits are there by the hour. */
export const firstHourKept = (now: number): number => firstOfDay(now - hoursKept_days * dayHours)

/** The first hour, at hour `now`, of which visits are there by the day. */
export const firstDayKept = (now: number): number => firstOfDay(now - daysKept_days * dayHours)

/** Rolls visits up to days and months when these are over, and drops what is too old: at most `stepMax` rows, and their values, at a time. */
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
