import { Context, type Effect } from "effect"
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

/** Events that wait for one webhook at most, and bytes of those that wait for all webhooks of a user; what comes then is dropped, and counted. */
export const pendingMax = 10_000
export const pendingBytesMax = 16 * 1_024 * 1_024

/** Dead letters of a webhook that are kept, the newest; their bytes; and for how long, in milliseconds. */
export const deadLettersMax = 1_000
export const deadLettersBytesMax = 16 * 1_024 * 1_024
export const deadLettersFor_ms = 7 * 24 * 3_600_000

/** A message that was not delivered within this time, in milliseconds, is dead, however seldom it was tried. */
export const pendingFor_ms = 25 * 3_600_000

/** How long a webhook that has ended is shown to its owner, in milliseconds, unless a new one needs its place. */
export const endedFor_ms = 7 * 24 * 3_600_000

/** A webhook, and how it stands. */
export interface WebhookStatus extends Webhook {
  readonly status: WebhookState
  /** Events that wait or are on their way. */
  readonly pending: number
  readonly deadLetters: number
  /** Events that were dropped because too many waited, or because the webhook ended. */
  readonly dropped: number
  /** Attempts that failed since the last one that did not, and why the last one did. */
  readonly failures: number
  readonly lastFailure: string | null
}

/** Who wants to be told of what. It changes with each verified webhook that comes or goes, and `version` with it. */
export interface Listeners {
  readonly version: number
  readonly byOwner: ReadonlyMap<string, ReadonlySet<WebhookEvent>>
}

/** What is looked at when it is decided how many messages a webhook gets. */
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
  /** How many messages a webhook gets at most: asked once for each that has some due, in the order in which they became due. One whose last attempt failed gets one. */
  readonly roomFor: (webhook: Claimant) => number
  /** Webhooks, and all those of owners and to hosts, to leave out. */
  readonly busy: {
    readonly webhooks: ReadonlyArray<string>
    readonly owners: ReadonlyArray<string>
    readonly hosts: ReadonlyArray<string>
  }
  /** What goes into one message; and how long the first of them waits for others, in milliseconds. */
  readonly join: JoinBounds
  readonly gatherFor_ms: number
  /** How long nobody else gets them, in milliseconds. */
  readonly lease_ms: number
}

/** A message that its claimer alone may deliver, until the lease ends. */
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
  readonly event: MessageType
  /** How many events it tells. */
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
 * A webhook stands as long as its user does, who is there and not disabled, and the API key that made it: whoever asks later than the end of either is given nothing for it.
 *
 * Laws:
 * 1. `offer` keeps a message for each verified webhook of its owner that stands, wants its event and has room (`pendingMax`, `pendingBytesMax`, but for offers at the same
 *    moment), once however often it is offered, until it is delivered (but for an offer at the very moment of its first claim). In a transaction of the caller's it is part of
 *    that.
 * 2. A message that was kept is claimed again and again until `delivered` or `failed` ends it, `sweep` gives it up, or its webhook ends or is removed.
 * 3. Of claims at the same time at most one gets a message; later ones only when its lease has ended, or was given back. A claim counts as an attempt
 *    whether or not anyone hears of its end.
 * 4. Messages that no claim has given yet are joined by the first one: what it gives has an id and a body of its own from then on, which do not change, and is one message to all
 *    else.
 * 5. Whoever has lost the lease changes nothing of the message.
 * 6. `add` keeps at most `max` webhooks of an owner that stand, however many add at once; those that have ended make room. With a webhook all its messages go.
 * 7. Of a webhook that is not verified, claims give its latest challenge alone, and of one that does not stand nothing.
 */
export class WebhookStore extends Context.Tag("linkmint/WebhookStore")<
  WebhookStore,
  {
    /** Adds a webhook that is not verified, and queues its challenge; `false` where its owner has `max` already, or is disabled or nobody. */
    readonly add: (
      webhook: Webhook,
      challenge: Challenge,
      max: number
    ) => Effect.Effect<boolean, StorageError>
    /** Queues a challenge in place of the one before, where the webhook is not verified: gives how it stands; `null` where there is none. */
    readonly challenge: (id: string, challenge: Challenge) => Effect.Effect<WebhookState | null, StorageError>
    /** Has a webhook verified by the answer to its latest challenge; `false`, and nothing is done, where that is another one. */
    readonly verify: (id: string, challengeId: string) => Effect.Effect<boolean, StorageError>
    /** An owner's webhooks in the order in which they were made. */
    readonly list: (owner: string) => Effect.Effect<ReadonlyArray<WebhookStatus>, StorageError>
    readonly find: (id: string) => Effect.Effect<WebhookStatus | null, StorageError>
    /** Removes a webhook; `false` where there is none. */
    readonly remove: (id: string) => Effect.Effect<boolean, StorageError>
    /** Removes all webhooks of an owner: gives how many. In a transaction of the caller's it is part of that. */
    readonly removeAllOf: (owner: string) => Effect.Effect<number, StorageError>
    /**
     * Ends the webhooks that do not stand any more, and drops and counts what waits for them: gives how many events. With `adminKeyId` also those that another `ADMIN_API_KEY` than
     * this one has made (`Webhook.adminKeyIdOf`).
     */
    readonly lapse: (adminKeyId: string | null) => Effect.Effect<number, StorageError>
    /** All who listen, unless they are those of a version that is known already: then `null`. */
    readonly listeners: (known: number | null) => Effect.Effect<Listeners | null, StorageError>
    /** Queues messages; gives how many were dropped. */
    readonly offer: (messages: ReadonlyArray<WebhookMessage>) => Effect.Effect<number, StorageError>
    /** Takes messages that are due, those first that have been for longest. */
    readonly claim: (claim: Claim) => Effect.Effect<ReadonlyArray<Delivery>, StorageError>
    readonly delivered: (delivery: Delivery) => Effect.Effect<void, StorageError>
    /** A challenge that is not tried again is forgotten. */
    readonly failed: (delivery: Delivery, failure: Failure) => Effect.Effect<void, StorageError>
    /** Gives a message back that was not tried: anyone can claim it so many milliseconds later, and no attempt is counted. */
    readonly release: (delivery: Delivery, in_ms: number) => Effect.Effect<void, StorageError>
    /** A webhook's dead letters, the newest first, `limit` of those behind a place. */
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
    /** Gives up messages that are too old, forgets dead letters that are too old or too many and webhooks that ended long ago, and counts again what waits. */
    readonly sweep: Effect.Effect<void, StorageError>
  }
>() {}
