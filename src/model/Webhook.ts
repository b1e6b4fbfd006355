/** The events that webhooks can receive. */
export const webhookEvents = ["link.created", "link.deleted", "link.visited"] as const
/** See {@link webhookEvents}. */
export type WebhookEvent = (typeof webhookEvents)[number]

/** Several events in one message. */
export const joinedType = "events"

/** The message by which a receiver proves itself. */
export const verificationType = "webhook.verification"

/** The type of a message: one event, several, or a challenge to the receiver. */
export type MessageType = WebhookEvent | typeof joinedType | typeof verificationType

/** Webhooks of a user at most. */
export const webhooksMax = 10

/** A webhook: it receives events of its owner's links. Times are milliseconds since the Unix epoch. */
export interface Webhook {
  readonly id: string
  readonly owner: string
  /** The API key that made it, with which it ends; `null`: a session did. */
  readonly keyId: string | null
  /** Where messages are posted: http or https. */
  readonly url: string
  /** Each once. */
  readonly events: ReadonlyArray<WebhookEvent>
  /** What messages are signed with, as the Standard Webhooks specification writes it: `whsec_` and Base64. Kept as it is, since every signature needs it. */
  readonly secret: string
  readonly createdAt: number
}

/** The host that a webhook's messages go to, by which they are paced. */
export const hostOf = (url: string): string => new URL(url).hostname.replace(/\.$/, "")

/**
 * The states of a webhook. `unverified`: its receiver has not proven itself, and only challenges are sent. `ended`: the API key that made it, or its user, does not exist or work any more, and nothing is
 * sent.
 */
export const webhookStates = ["unverified", "active", "ended"] as const
/** See {@link webhookStates}. */
export type WebhookState = (typeof webhookStates)[number]

/**
 * The prefix of the id of `ADMIN_API_KEY`, which is not in the database: its webhooks end when a node starts with another key. The id has 16 bits of the key's digest: enough to tell two keys
 * apart, and too few to find a weak key from a copy of the database.
 */
export const adminKeyPrefix = "adm_"

/** The id of `ADMIN_API_KEY` by its digest. */
export const adminKeyIdOf = (digest: string): string => `${adminKeyPrefix}${digest.slice(0, 4)}`

/** A message for one webhook. */
export interface Challenge {
  readonly id: string
  /** JSON, sent and signed as it is. */
  readonly body: string
}

/** The message of an event of an owner's links, for all their webhooks that want it. */
export interface WebhookMessage {
  /** The same for each repeat of the event, so that a receiver can deduplicate. */
  readonly id: string
  readonly owner: string
  readonly event: WebhookEvent
  /** A JSON object, sent and signed as it is. */
  readonly body: string
}
