import { Clock, Duration, Effect, Layer } from "effect"
import { VisitStore } from "../storage/visits/VisitStore.ts"
import * as TrustedTime from "../time/TrustedTime.ts"
import { hourOf } from "../model/Visit.ts"
import { firstDayKept, firstHourKept, VisitRetention } from "./VisitRetention.ts"

/** How often a node rolls up and drops. Any node may: the store allows one at a time. */
const lookEvery = Duration.minutes(10)

/** A pause between steps, for other work of the database. */
const stepPause = Duration.millis(20)

/** How long after its end a day is rolled up, in hours: longer than visits wait to be written, and than clocks differ. */
const settleHours = 12

/** How long the last batch of a writer is remembered: longer than any batch is retried. */
const writersKept = Duration.days(30)

/** Rolls visits up to days and months when these are over, and drops old ones: at most `stepMax` rows, and their values, at a time. */
export const layer = ({ stepMax }: { readonly stepMax: number }): Layer.Layer<never, never, VisitStore> =>
  Layer.scopedDiscard(
    Effect.gen(function* () {
      const store = yield* VisitStore
      const kept = yield* VisitRetention
      const untilDone = <E>(step: Effect.Effect<boolean, E>) =>
        Effect.repeat(Effect.delay(step, stepPause), { while: (more) => more })

      const look = Effect.gen(function* () {
        const now_ms = yield* Clock.currentTimeMillis
        const now = hourOf(now_ms)
        yield* untilDone(store.rollUp(now - settleHours, stepMax))
        yield* untilDone(
          store.drop({ hours: firstHourKept(kept, now), days: firstDayKept(kept, now) }, stepMax)
        )
        yield* store.dropWriters(now_ms - Duration.toMillis(writersKept))
      }).pipe(Effect.catchAll(({ message }) => Effect.logWarning(`Visits are not rolled up: ${message}`)))

      yield* Effect.forkScoped(Effect.forever(Effect.delay(TrustedTime.whenSettled(look), lookEvery)))
    })
  )
