import { Context, type Effect } from "effect"
import type { Message } from "../../model/Messages.ts"
import type {
  Challenge,
  MessageType,
  Webhook,
  WebhookEvent,
  WebhookMessage,
  WebhookState
} from "../../model/Webhook.ts"
import type { StorageError } from "../StorageError.ts"
import type { JoinBounds } from "./WebhookJoining.ts"

/** Events that wait for one webhook at most, and bytes of those that wait for all webhooks of a user; further ones are dropped, and counted. */
export const pendingMax = 10_000
export const pendingBytesMax = 16 * 1_024 * 1_024

/** How long a claim lasts at most, a message waits for its retry, and a webhook is paused after a failed attempt, in milliseconds. */
export const leaseMax_ms = 60_000
export const retryMax_ms = 12 * 3_600_000
export const pauseMax_ms = 300_000

/** Why a message was given up that waited for too long. */
export const notInTime: Message = "It was not delivered in time."

/** Dead letters of a webhook that are kept, the newest; their bytes; and for how long, in milliseconds. */
export const deadLettersMax = 1_000
export const deadLettersBytesMax = 16 * 1_024 * 1_024
export const deadLettersFor_ms = 7 * 24 * 3_600_000

/** A message that was not delivered within this time, in milliseconds, is dead, however few attempts it had. */
export const pendingFor_ms = 25 * 3_600_000

/** How long a webhook that has ended is shown to its owner, in milliseconds, unless a new one needs its place. */
export const endedFor_ms = 7 * 24 * 3_600_000

/** A webhook and its status. */
export interface WebhookStatus extends Webhook {
  readonly status: WebhookState
  /** Events that wait or are on their way. */
  readonly pending: number
  readonly deadLetters: number
  /** Events that were dropped because too many waited, or because the webhook ended. */
  readonly dropped: number
  /** Failed attempts since the last successful one, and why the last one failed. */
  readonly failures: number
  readonly lastFailure: string | null
}

/** What a node asks again and again. */
export interface Look {
  /** The listeners, or `null` where their version is known. */
  readonly listeners: Listeners | null
  /** Whether a message waits for its delivery, or is on its way. Where none does, `claim` gives none. */
  readonly isWaiting: boolean
}

/** Which owners have webhooks for which events. `version` changes whenever a verified webhook is added or removed. */
export interface Listeners {
  readonly version: number
  readonly byOwner: ReadonlyMap<string, ReadonlySet<WebhookEvent>>
}

/** What decides how many messages a webhook gets. */
export interface Claimant {
  readonly id: string
  readonly owner: string
  /** See `Webhook.hostOf`. */
  readonly host: string
  /** See `WebhookStatus`. */
  readonly failures: number
}

/** Which messages to claim. */
export interface Claim {
  readonly max: number
  /** How many messages a webhook gets at most: called once for each webhook with due messages, in the order in which they became due. One whose last attempt failed gets one. */
  readonly roomFor: (webhook: Claimant) => number
  /** Webhooks to leave out, and owners and hosts whose webhooks to leave out. */
  readonly busy: {
    readonly webhooks: ReadonlyArray<string>
    readonly owners: ReadonlyArray<string>
    readonly hosts: ReadonlyArray<string>
  }
  /** What goes into one message; and how long its first event waits for others, in milliseconds. */
  readonly join: JoinBounds
  readonly gatherFor_ms: number
  /** How long no other claim gets them, in milliseconds, up to `leaseMax_ms`. */
  readonly lease_ms: number
}

/** A message that only its claimer may deliver, until the lease ends. */
export interface Delivery {
  readonly id: string
  readonly webhookId: string
  readonly owner: string
  /** See `Webhook.hostOf`. */
  readonly host: string
  readonly event: MessageType
  readonly body: string
  readonly url: string
  readonly secret: string
  /** The number of the attempt, from 1. */
  readonly attempt: number
  /** See `WebhookStatus`, as it was before this attempt. */
  readonly failures: number
  readonly lease: string
}

/** Why an attempt failed, and what happens next. */
export interface Failure {
  readonly reason: string
  /** When the message is retried, in milliseconds from now, up to `retryMax_ms`; `null`: never, it is dead. */
  readonly retryIn_ms: number | null
  /** How long the webhook gets no messages, in milliseconds, up to `pauseMax_ms`. */
  readonly pause_ms: number
}

/** A message that was given up. Times are milliseconds since the Unix epoch. */
export interface DeadLetter {
  readonly id: string
  readonly event: MessageType
  /** How many events it has. */
  readonly events: number
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
 * A webhook ends with its user, who is removed or disabled, and with the API key that made it: from then on no operation gives a message for it.
 *
 * Laws:
 * 1. `offer` queues a message for each verified webhook of its owner that has not ended, wants its event and has room (`pendingMax`, `pendingBytesMax`, except for concurrent
 *    offers), once however often it is offered, until it is delivered (except for an offer at the very moment of its first claim). In a transaction of the caller it is part of
 *    that.
 * 2. A queued message is claimed again and again until `delivered` or `failed` ends it, `sweep` gives it up, or its webhook ends or is removed.
 * 3. Of concurrent claims at most one gets a message; later ones get it when its lease has ended, or was given back. A claim counts as an attempt
 *    whether or not its outcome is reported.
 * 4. A claim joins messages that were never claimed before: the result has an id and a body of its own, which do not change from then on, and is a single message to all
 *    operations.
 * 5. A claimer that has lost the lease changes nothing of the message.
 * 6. `add` keeps at most `max` webhooks of an owner that have not ended, however many concurrent calls there are; those that have ended make room. Removing a webhook removes its messages.
 * 7. For a webhook that is not verified, claims give only its latest challenge; for one that has ended, nothing.
 * 8. A moment further in the future than any is set was written while the clock was ahead, and does not count. Such a pause is over. Such a message is due before all others, also if its
 *    claimer still delivers it: one that is leased for longer than `leaseMax_ms`, one that waits for longer than `retryMax_ms`, and an event that waits although it was never tried.
 */
export class WebhookStore extends Context.Tag("linkmint/WebhookStore")<
  WebhookStore,
  {
    /** Adds an unverified webhook, and queues its challenge; `false` where its owner has `max` already, or is disabled or does not exist. */
    readonly add: (
      webhook: Webhook,
      challenge: Challenge,
      max: number
    ) => Effect.Effect<boolean, StorageError>
    /** Replaces the challenge of a webhook that is not verified: gives its status; `null` where there is none. */
    readonly challenge: (id: string, challenge: Challenge) => Effect.Effect<WebhookState | null, StorageError>
    /** Marks a webhook as verified by its latest challenge; `false`, and nothing is done, where that is another one. */
    readonly verify: (id: string, challengeId: string) => Effect.Effect<boolean, StorageError>
    /** An owner's webhooks, the oldest first. */
    readonly list: (owner: string) => Effect.Effect<ReadonlyArray<WebhookStatus>, StorageError>
    readonly find: (id: string) => Effect.Effect<WebhookStatus | null, StorageError>
    /** Removes a webhook; `false` where there is none. */
    readonly remove: (id: string) => Effect.Effect<boolean, StorageError>
    /** Removes all webhooks of an owner: gives how many. In a transaction of the caller it is part of that. */
    readonly removeAllOf: (owner: string) => Effect.Effect<number, StorageError>
    /**
     * Marks webhooks as ended whose user or API key has, and drops and counts the events that wait for them: gives how many. With `adminKeyId` also those that another `ADMIN_API_KEY` than
     * this one has made (`Webhook.adminKeyIdOf`).
     */
    readonly lapse: (adminKeyId: string | null) => Effect.Effect<number, StorageError>
    /** See {@link Look}; `known`: the version of the listeners that the caller has. */
    readonly look: (known: number | null) => Effect.Effect<Look, StorageError>
    /** Queues messages; gives how many were dropped for lack of room. */
    readonly offer: (messages: ReadonlyArray<WebhookMessage>) => Effect.Effect<number, StorageError>
    /** Claims messages that are due, the longest due first. */
    readonly claim: (claim: Claim) => Effect.Effect<ReadonlyArray<Delivery>, StorageError>
    readonly delivered: (delivery: Delivery) => Effect.Effect<void, StorageError>
    /** A challenge that is not tried again is forgotten. */
    readonly failed: (delivery: Delivery, failure: Failure) => Effect.Effect<void, StorageError>
    /** Gives back a message that was not tried: it can be claimed again after `in_ms`, and no attempt is counted. Only a challenge may have to wait. */
    readonly release: (delivery: Delivery, in_ms: number) => Effect.Effect<void, StorageError>
    /** A webhook's dead letters, the newest first, up to `limit` after a place. */
    readonly deadLetters: (
      webhookId: string,
      limit: number,
      after: DeadLetterPosition | null
    ) => Effect.Effect<ReadonlyArray<DeadLetter>, StorageError>
    /** Queues a dead letter again, as if it were new. `none`: there is none; `full`: there is no room for it (see `offer`). */
    readonly revive: (
      webhookId: string,
      id: string
    ) => Effect.Effect<"queued" | "none" | "full", StorageError>
    /** Gives up messages that are too old, deletes dead letters that are too old or too many and webhooks that ended long ago, and corrects the counts of waiting messages. */
    readonly sweep: Effect.Effect<void, StorageError>
  }
>() {}
