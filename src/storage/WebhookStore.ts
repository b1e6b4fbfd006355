import { Context, type Effect } from "effect"
import type { Webhook, WebhookEvent, WebhookMessage } from "../Webhook.ts"
import type { StorageError } from "./StorageError.ts"

/** Messages that wait for one webhook at most; those that come then are dropped, and counted. */
export const pendingMax = 10_000

/** Dead letters of a webhook that are kept, the newest; and for how long, in milliseconds. */
export const deadLettersMax = 1_000
export const deadLettersFor_ms = 7 * 24 * 3_600_000

/** A message that was not delivered within this time, in milliseconds, is dead, however seldom it was tried. */
export const pendingFor_ms = 25 * 3_600_000

/** A webhook, and how it stands. */
export interface WebhookStatus extends Webhook {
  /** Messages that wait or are on their way. */
  readonly pending: number
  readonly deadLetters: number
  /** Messages that were dropped because too many waited. */
  readonly dropped: number
  /** Attempts that failed since the last one that did not. */
  readonly failures: number
}

/** Who wants to be told of what. It changes with each webhook that comes or goes, and `version` with it. */
export interface Listeners {
  readonly version: number
  readonly byOwner: ReadonlyMap<string, ReadonlySet<WebhookEvent>>
}

/** How many messages to claim. */
export interface Claim {
  readonly max: number
  /** Messages for one webhook at most; one where its last attempt failed. */
  readonly perWebhook: number
  /** Webhooks to leave out. */
  readonly busy: ReadonlyArray<string>
  /** How long nobody else gets them, in milliseconds. */
  readonly lease_ms: number
}

/** A message that its claimer alone may deliver, until the lease ends. */
export interface Delivery {
  readonly id: string
  readonly webhookId: string
  readonly event: WebhookEvent
  readonly body: string
  readonly url: string
  readonly secret: string
  /** Which attempt this is, from 1 on. */
  readonly attempt: number
  /** See `WebhookStatus`, as it was before this attempt. */
  readonly failures: number
  readonly lease: string
}

/** Why an attempt failed, and what comes next. */
export interface Failure {
  readonly reason: string
  /** When the message is tried again, in milliseconds from now; `null`: never, it is dead. */
  readonly retryIn_ms: number | null
  /** How long the webhook gets no message at all, in milliseconds. */
  readonly pause_ms: number
}

/** A message that was given up. Times are milliseconds since the Unix epoch. */
export interface DeadLetter {
  readonly id: string
  readonly event: WebhookEvent
  readonly queuedAt: number
  readonly failedAt: number
  readonly attempts: number
  readonly reason: string
}

/** A place in a list of dead letters. */
export type DeadLetterPosition = Pick<DeadLetter, "failedAt" | "id">

/**
 * Users' webhooks, and the messages on their way to them: a queue that many nodes take from. Times are the store's own.
 *
 * Laws:
 * 1. `offer` keeps a message for each webhook of its owner that wants its event and has room (`pendingMax`, but for offers at the same moment), once
 *    however often it is offered, until it is delivered. In a transaction of the caller's it is part of that.
 * 2. A message that was kept is claimed again and again until `delivered` or `failed` ends it, `sweep` gives it up, or its webhook is removed.
 * 3. Of claims at the same time at most one gets a message; later ones only when its lease has ended, or was given back. A claim counts as an attempt
 *    whether or not anyone hears of its end.
 * 4. Whoever has lost his lease changes nothing of the message.
 * 5. `add` keeps at most `max` webhooks of an owner, however many add at once. With a webhook all its messages go.
 */
export class WebhookStore extends Context.Tag("linkmint/WebhookStore")<
  WebhookStore,
  {
    /** Adds a webhook; `false` where its owner has `max` already. */
    readonly add: (webhook: Webhook, max: number) => Effect.Effect<boolean, StorageError>
    /** An owner's webhooks in the order in which they were made. */
    readonly list: (owner: string) => Effect.Effect<ReadonlyArray<WebhookStatus>, StorageError>
    readonly find: (id: string) => Effect.Effect<WebhookStatus | null, StorageError>
    /** Removes a webhook; `false` where there is none. */
    readonly remove: (id: string) => Effect.Effect<boolean, StorageError>
    /** All who listen, unless they are those of a version that is known already: then `null`. */
    readonly listeners: (known: number | null) => Effect.Effect<Listeners | null, StorageError>
    /** Queues messages; gives how many were dropped. */
    readonly offer: (messages: ReadonlyArray<WebhookMessage>) => Effect.Effect<number, StorageError>
    /** Takes messages that are due, those first that have been for longest. */
    readonly claim: (claim: Claim) => Effect.Effect<ReadonlyArray<Delivery>, StorageError>
    readonly delivered: (delivery: Delivery) => Effect.Effect<void, StorageError>
    readonly failed: (delivery: Delivery, failure: Failure) => Effect.Effect<void, StorageError>
    /** Gives a message back that was not tried: anyone can claim it at once, and no attempt is counted. */
    readonly release: (delivery: Delivery) => Effect.Effect<void, StorageError>
    /** A webhook's dead letters, the newest first, `limit` of those behind a place. */
    readonly deadLetters: (
      webhookId: string,
      limit: number,
      after: DeadLetterPosition | null
    ) => Effect.Effect<ReadonlyArray<DeadLetter>, StorageError>
    /** Queues a dead letter again, as if it were new; `false` where there is none. */
    readonly revive: (webhookId: string, id: string) => Effect.Effect<boolean, StorageError>
    /** Gives up messages that are too old, and forgets dead letters that are too old or too many. */
    readonly sweep: Effect.Effect<void, StorageError>
  }
>() {}
