import { Clock, Duration, Effect, Layer } from "effect"
import { LinkStore } from "../storage/links/LinkStore.ts"
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

/** How long after its end an hour is ranked: longer than visits wait to be written, and than clocks differ. Those that come later are ranked with the link's next visit. */
const rankAfter = Duration.minutes(20)

/** How long the last batch of a writer is remembered: longer than any batch is retried. */
const writersKept = Duration.days(30)

/** Rolls visits up to days and months when these are over, drops old ones, and ranks links by the visits of hours that are over: at most `stepMax` rows, and their values, at a time. */
export const layer = ({
  stepMax
}: {
  readonly stepMax: number
}): Layer.Layer<never, never, LinkStore | VisitStore> =>
  Layer.scopedDiscard(
    Effect.gen(function* () {
      const store = yield* VisitStore
      const links = yield* LinkStore
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
        const ranked = hourOf(now_ms - Duration.toMillis(rankAfter))
        yield* untilDone(store.rank(ranked, stepMax, links.rankMany))
      }).pipe(Effect.catchAll(({ message }) => Effect.logWarning(`Visits are not rolled up: ${message}`)))

      yield* Effect.forkScoped(Effect.forever(Effect.delay(TrustedTime.whenSettled(look), lookEvery)))
    })
  )
