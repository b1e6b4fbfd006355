import { Duration, Effect, Layer, Metric, Schedule } from "effect"
import { WebhookStore } from "../storage/webhooks/WebhookStore.ts"
import * as Metered from "../telemetry/Metered.ts"
import * as TrustedTime from "../time/TrustedTime.ts"

const sweepEvery = Duration.minutes(10)

/** How often webhooks that have ended are looked for, unless the time is in doubt. Nothing is sent to them before that either. */
const lapseEvery = Duration.minutes(1)

const eventsEnded = Metered.counter(
  "linkmint_webhook_events_ended_total",
  "Events that were dropped because their webhook ended with its API key or its user"
)

/** `WebhookStore.lapse`, which counts the events that it drops. */
export const lapse = (store: typeof WebhookStore.Service, adminKeyId: string | null) =>
  store.lapse(adminKeyId).pipe(
    Effect.flatMap((dropped) => Metric.incrementBy(eventsEnded, dropped)),
    Effect.tapError((error) => Effect.logDebug(`Ended webhooks were not looked for: ${error.message}`))
  )

/** Sweeps webhooks' messages, and marks webhooks as ended that have, now and then: any node may. */
export const layer: Layer.Layer<never, never, WebhookStore> = Layer.scopedDiscard(
  Effect.gen(function* () {
    const store = yield* WebhookStore
    yield* TrustedTime.whenSettled(store.sweep).pipe(
      Effect.catchAll((error) => Effect.logDebug(`Webhooks' messages were not swept: ${error.message}`)),
      Effect.repeat(Schedule.spaced(sweepEvery)),
      Effect.delay(sweepEvery),
      Effect.forkScoped
    )
    yield* Effect.ignore(TrustedTime.whenSettled(lapse(store, null))).pipe(
      Effect.repeat(Schedule.spaced(lapseEvery)),
      Effect.delay(lapseEvery),
      Effect.forkScoped
    )
  })
)
