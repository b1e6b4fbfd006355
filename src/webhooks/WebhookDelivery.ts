import { Duration, Effect, FiberSet, Layer, Metric, Random, Schedule } from "effect"
import * as Metered from "../Metered.ts"
import { type Delivery, type Failure, WebhookStore } from "../storage/WebhookStore.ts"
import { WebhookSender } from "./WebhookSender.ts"

/** Messages that a node delivers at a time, and to one webhook. */
const underWayMax = 64
const perWebhookMax = 4

/** Longer than an attempt takes: a message whose node died is claimed again after this. */
const lease_ms = 20_000

/** How often a node looks for messages that are due, when there was none; and the pause between two claims when there are many. */
const lookEvery = Duration.seconds(1)
const claimEvery = Duration.millis(20)

const sweepEvery = Duration.minutes(10)

/** Attempts for a message at most: with the waits between them, some 17 to 23 hours. */
export const attemptsMax = 15

const retryFirst_ms = 5_000
const pauseFirst_ms = 1_000
const pauseMax_ms = 300_000

/** Attempts by their outcome. */
const attempts = Metered.countersBy(
  "linkmint_webhook_attempts_total",
  "Attempts to deliver a message to a webhook; dead: it failed, and was the last",
  "outcome",
  ["delivered", "failed", "dead"]
)

/**
 * What comes after a failed attempt: the message waits twice as long as before its last one, shortened by up to a quarter by chance, so that messages that failed
 * together do not come together; and its webhook for a second, twice as long with each failure, five minutes at most.
 */
export const afterFailure = (
  { attempt, failures }: Pick<Delivery, "attempt" | "failures">,
  reason: string
): Effect.Effect<Failure> =>
  Effect.map(Random.nextRange(0.75, 1), (share) => ({
    reason,
    retryIn_ms: attempt >= attemptsMax ? null : Math.round(retryFirst_ms * 2 ** (attempt - 1) * share),
    pause_ms: Math.min(pauseFirst_ms * 2 ** Math.min(failures, 20), pauseMax_ms)
  }))

/**
 * Delivers messages to webhooks, as each node does: whoever claims a message delivers it. A webhook that takes long or fails holds up no other one, since a node
 * has few messages under way for it, and none while it is paused.
 */
export const make = Effect.gen(function* () {
  const store = yield* WebhookStore
  const sender = yield* WebhookSender
  const busy = new Map<string, number>()
  const fibers = yield* FiberSet.make()
  const hasEnded = Effect.unsafeMakeLatch()

  const count = (outcome: keyof typeof attempts) => Metric.increment(attempts[outcome])

  const attempt = (delivery: Delivery) =>
    sender.send(delivery).pipe(
      Effect.matchEffect({
        onSuccess: () => Effect.zipRight(store.delivered(delivery), count("delivered")),
        onFailure: ({ reason }) =>
          Effect.flatMap(afterFailure(delivery, reason), (failure) =>
            Effect.zipRight(
              store.failed(delivery, failure),
              count(failure.retryIn_ms === null ? "dead" : "failed")
            )
          )
      }),
      Effect.onInterrupt(() => Effect.ignore(store.release(delivery))),
      // It is claimed again when its lease has ended.
      Effect.catchAll((error) => Effect.logWarning(`A webhook's message stays as it was: ${error.message}`))
    )

  const begin = (delivery: Delivery) => {
    const { webhookId } = delivery
    busy.set(webhookId, (busy.get(webhookId) ?? 0) + 1)
    const end = Effect.sync(() => {
      const left = busy.get(webhookId)! - 1
      if (left === 0) busy.delete(webhookId)
      else busy.set(webhookId, left)
      hasEnded.unsafeOpen()
    })
    return FiberSet.run(fibers, Effect.ensuring(Effect.interruptible(attempt(delivery)), end))
  }

  const claimSome = Effect.gen(function* () {
    hasEnded.unsafeClose()
    const free = underWayMax - (yield* FiberSet.size(fibers))
    if (free <= 0) return
    const deliveries = yield* store.claim({
      max: free,
      perWebhook: perWebhookMax,
      busy: [...busy.keys()],
      lease_ms
    })
    yield* Effect.forEach(deliveries, begin, { discard: true })
  }).pipe(
    Effect.catchAll((error) => Effect.logWarning(`Webhooks wait: ${error.message}`)),
    Effect.uninterruptible
  )

  yield* claimSome.pipe(
    Effect.zipRight(Effect.sleep(claimEvery)),
    Effect.zipRight(Effect.timeoutOption(hasEnded.await, lookEvery)),
    Effect.forever,
    Effect.forkScoped
  )
  yield* store.sweep.pipe(
    Effect.catchAll((error) => Effect.logDebug(`Webhooks' messages were not swept: ${error.message}`)),
    Effect.repeat(Schedule.spaced(sweepEvery)),
    Effect.delay(sweepEvery),
    Effect.forkScoped
  )
})

/** See {@link make}. */
export const layer: Layer.Layer<never, never, WebhookStore | WebhookSender> = Layer.scopedDiscard(make)
