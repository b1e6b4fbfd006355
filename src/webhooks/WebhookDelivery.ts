import { Duration, Effect, FiberSet, Layer, Metric, Random, Schedule } from "effect"
import { Quotas } from "../accounts/Quotas.ts"
import { AdminKey } from "../accounts/AdminKey.ts"
import * as Metered from "../telemetry/Metered.ts"
import { WebhookListeners } from "../storage/webhooks/WebhookListeners.ts"
import {
  type Claim,
  type Delivery,
  type Failure,
  pauseMax_ms,
  retryMax_ms,
  WebhookStore
} from "../storage/webhooks/WebhookStore.ts"
import { adminKeyIdOf, verificationType } from "../model/Webhook.ts"
import * as WebhookRates from "./WebhookRates.ts"
import { NotTaken, WebhookSender } from "./WebhookSender.ts"
import * as WebhookUpkeep from "./WebhookUpkeep.ts"
import * as Verification from "./WebhookVerification.ts"
import type { Message } from "../model/Messages.ts"

/** Messages that a node delivers at a time. */
const underWayMax = 64

/** Events in one message at most, and bytes of its body; and how long the first one waits for others. */
const join: Claim["join"] = { events: 100, bytes: 256 * 1_024 }
const gatherFor_ms = 500

/** How long a claim lasts: longer than an attempt. A message whose node died is claimed again after this. */
const lease_ms = 20_000

/** How often a node looks for due messages when there were none; and the pause between two claims when there are many. */
const lookEvery = Duration.seconds(1)
const claimEvery = Duration.millis(20)

/** Attempts for a message at most: with the waits between them, some 17 to 23 hours. */
export const attemptsMax = 15

const retryFirst_ms = 5_000
const pauseFirst_ms = 1_000

/** Attempts by their outcome. */
const attempts = Metered.countersBy(
  "linkmint_webhook_attempts_total",
  "Attempts to deliver a message to a webhook; dead: it failed, and was the last",
  "outcome",
  ["delivered", "failed", "dead"]
)

/**
 * What follows a failed attempt. The message is retried after twice the last wait, randomly shortened by up to a quarter, so that messages that failed
 * together are not retried together. Its webhook is paused for a second, twice as long with each failure, at most five minutes.
 */
export const afterFailure = (
  { attempt, failures }: Pick<Delivery, "attempt" | "failures">,
  reason: Message
): Effect.Effect<Failure> =>
  Effect.map(Random.nextRange(0.75, 1), (share) => ({
    reason,
    retryIn_ms:
      attempt >= attemptsMax
        ? null
        : Math.min(Math.round(retryFirst_ms * 2 ** (attempt - 1) * share), retryMax_ms),
    pause_ms: Math.min(pauseFirst_ms * 2 ** Math.min(failures, 20), pauseMax_ms)
  }))

/** How long a challenge waits at least, in milliseconds, when its quota is used up. */
const postponedMin_ms = 1_000

/**
 * Delivers messages to webhooks. Every node does: the one that claims a message delivers it. A webhook that is slow or fails does not delay others, since a node
 * has few messages under way for it, and none while it is paused; nor does a user with many webhooks (see `WebhookRates`).
 */
export const make = Effect.gen(function* () {
  const store = yield* WebhookStore
  const sender = yield* WebhookSender
  const listeners = yield* WebhookListeners
  const quotas = yield* Quotas
  const { digest } = yield* AdminKey
  const paces = yield* WebhookRates.make
  const fibers = yield* FiberSet.make()
  const hasEnded = Effect.unsafeMakeLatch()

  const count = (outcome: keyof typeof attempts) => Metric.increment(attempts[outcome])

  const tell = (delivery: Delivery) =>
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
      })
    )

  /** Sends a challenge, as often as the quotas allow. */
  const challenge = Effect.fnUntraced(function* (delivery: Delivery) {
    const standing = yield* quotas.challenge(delivery.owner, delivery.host)
    if (standing?.isAllowed === false) {
      return yield* store.release(delivery, Math.max(postponedMin_ms, Math.ceil(standing.retryIn_ms)))
    }
    yield* sender.send(delivery).pipe(
      Effect.filterOrFail(
        ({ body }) => Verification.isProof(delivery, body),
        ({ status }) => new NotTaken({ reason: `It answered ${status} without the challenge.` })
      ),
      Effect.matchEffect({
        onSuccess: () =>
          store.verify(delivery.webhookId, delivery.id).pipe(
            // The other nodes read it within a second.
            Effect.zipRight(Effect.ignore(listeners.refresh)),
            Effect.zipRight(count("delivered"))
          ),
        onFailure: ({ reason }) =>
          Effect.zipRight(
            store.failed(delivery, Verification.afterFailure(delivery, reason)),
            count("failed")
          )
      })
    )
  })

  const attempt = (delivery: Delivery) =>
    (delivery.event === verificationType ? challenge(delivery) : tell(delivery)).pipe(
      Effect.onInterrupt(() => Effect.ignore(store.release(delivery, 0))),
      // It is claimed again when its lease ends.
      Effect.catchAll((error) => Effect.logWarning(`A webhook's message stays as it was: ${error.message}`))
    )

  const begin = (delivery: Delivery) => {
    paces.begin(delivery)
    const end = Effect.sync(() => {
      paces.end(delivery)
      hasEnded.unsafeOpen()
    })
    return FiberSet.run(fibers, Effect.ensuring(Effect.interruptible(attempt(delivery)), end))
  }

  const claimSome = Effect.gen(function* () {
    hasEnded.unsafeClose()
    const free = underWayMax - (yield* FiberSet.size(fibers))
    if (free <= 0) return
    const busy = paces.busy()
    const deliveries = yield* store.claim({
      max: free,
      roomFor: paces.rooms(),
      busy,
      join,
      gatherFor_ms,
      lease_ms
    })
    yield* Effect.forEach(deliveries, begin, { discard: true })
  }).pipe(
    Effect.catchAll((error) => Effect.logWarning(`Webhooks wait: ${error.message}`)),
    Effect.uninterruptible
  )

  // First, so that nothing is sent for a former `ADMIN_API_KEY`.
  yield* WebhookUpkeep.lapse(store, adminKeyIdOf(digest)).pipe(
    Effect.retry(Schedule.spaced(lookEvery)),
    Effect.zipRight(
      claimSome.pipe(
        Effect.zipRight(Effect.sleep(claimEvery)),
        Effect.zipRight(Effect.timeoutOption(hasEnded.await, lookEvery)),
        Effect.zipRight(listeners.waiting),
        Effect.forever
      )
    ),
    Effect.forkScoped
  )
})

/** See {@link make}. */
export const layer: Layer.Layer<
  never,
  never,
  WebhookStore | WebhookListeners | WebhookSender | Quotas | AdminKey
> = Layer.scopedDiscard(make)
