/** What webhooks can be told of. */
export const webhookEvents = ["link.created", "link.deleted", "link.visited"] as const
/** See {@link webhookEvents}. */
export type WebhookEvent = (typeof webhookEvents)[number]

/** Several events in one message. */
export const joinedType = "events"

/** The message by which a receiver proves itself. */
export const verificationType = "webhook.verification"

/** What a message tells: one event or several, or it asks the receiver to prove itself. */
export type MessageType = WebhookEvent | typeof joinedType | typeof verificationType

/** Webhooks of a user at most. */
export const webhooksMax = 10

/** A user's wish to be told of events of their links. Times are milliseconds since the Unix epoch. */
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
 * How a webhook stands. `unverified`: its receiver has not proven itself, and nothing is sent but challenges. `ended`: the API key that made it has ended, or its user, and nothing is
 * sent any more.
 */
export const webhookStates = ["unverified", "active", "ended"] as const
/** See {@link webhookStates}. */
export type WebhookState = (typeof webhookStates)[number]

/**
 * How the id of `ADMIN_API_KEY` begins, which is no key in the database: its webhooks end when a node starts with another one. Of its digest the id has 16 bits: enough to tell two keys
 * apart, and too few to find a chosen one in a copy of the database.
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

/** Something that happened to an owner's links, as all their webhooks that want to know of it are told. */
export interface WebhookMessage {
  /** The same for whoever tells of the same thing again, so that a receiver can tell repeats. */
  readonly id: string
  readonly owner: string
  readonly event: WebhookEvent
  /** A JSON object, sent and signed as it is. */
  readonly body: string
}
