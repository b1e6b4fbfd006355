import { Context, Duration, Effect, Layer, type Scope } from "effect"
import * as Pulse from "../../time/Pulse.ts"
import type { WebhookEvent } from "../../model/Webhook.ts"
import type { StorageError } from "../StorageError.ts"
import { type Listeners, WebhookStore } from "./WebhookStore.ts"

/** How often a node reads whether webhooks were added or removed, and whether messages wait: one small row. */
const refreshEvery = Duration.seconds(1)

/**
 * Which owners have webhooks for which events, and whether messages wait for any, cached by this node, so that owners without webhooks cost nothing. Changes by other nodes arrive within some two
 * seconds; while the database is away the cache stays as it was.
 */
export class WebhookListeners extends Context.Tag("linkmint/WebhookListeners")<
  WebhookListeners,
  {
    /** Whether an owner has a webhook for an event. Links without an owner have none. */
    readonly has: (owner: string | null, event: WebhookEvent) => boolean
    /** Reads now, because this node has changed them. */
    readonly refresh: Effect.Effect<void, StorageError>
    /** Ends where messages waited when this was read last, or else once they do. */
    readonly waiting: Effect.Effect<void>
  }
>() {}

/** See {@link WebhookListeners}. */
export const make: Effect.Effect<typeof WebhookListeners.Service, StorageError, WebhookStore | Scope.Scope> =
  Effect.gen(function* () {
    const store = yield* WebhookStore
    let listeners: Listeners | null = null
    const waiting = Effect.unsafeMakeLatch()
    const refresh = Effect.suspend(() => store.look(listeners?.version ?? null)).pipe(
      Effect.map(({ isWaiting, listeners: changed }) => {
        // Answers can arrive out of order.
        if (changed !== null && changed.version >= (listeners?.version ?? 0)) listeners = changed
        if (isWaiting) waiting.unsafeOpen()
        else waiting.unsafeClose()
      })
    )
    yield* refresh
    yield* refresh.pipe(
      Effect.catchAll((error) => Effect.logDebug(`Webhooks are as they were: ${error.message}`)),
      (step) => Pulse.forever(step, refreshEvery),
      Effect.forkScoped
    )
    return {
      has: (owner, event) => owner !== null && listeners?.byOwner.get(owner)?.has(event) === true,
      refresh,
      waiting: waiting.await
    }
  })

/** See {@link make}. */
export const layer: Layer.Layer<WebhookListeners, StorageError, WebhookStore> = Layer.scoped(
  WebhookListeners,
  make
)
