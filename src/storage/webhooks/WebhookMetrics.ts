import { Effect } from "effect"
import * as Metered from "../../telemetry/Metered.ts"

/** Counted by the node whose sweep gives them up. */
export const messagesExpired = Metered.counter(
  "linkmint_webhook_messages_expired_total",
  "Messages to webhooks that were given up because they were not delivered in time, however few attempts they had"
)

export const eventsDropped = Metered.counter(
  "linkmint_webhook_events_dropped_total",
  "Events that were dropped because too many waited for their webhook"
)

/** Counts what an offer has dropped (see `WebhookStore.offer`), once it is committed. */
export const countDropped = (dropped: number): Effect.Effect<void> =>
  Effect.sync(() => {
    if (dropped > 0) Metered.add(eventsDropped, dropped)
  })
