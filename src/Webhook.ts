/** What webhooks can be told of. */
export const webhookEvents = ["link.created", "link.deleted", "link.visited"] as const
/** See {@link webhookEvents}. */
export type WebhookEvent = (typeof webhookEvents)[number]

/** Webhooks of a user at most. */
export const webhooksMax = 10

/** A user's wish to be told of events of his links. Times are milliseconds since the Unix epoch. */
export interface Webhook {
  readonly id: string
  readonly owner: string
  /** Where messages are posted: http or https. */
  readonly url: string
  /** Each once. */
  readonly events: ReadonlyArray<WebhookEvent>
  /** What messages are signed with, as the Standard Webhooks specification writes it: `whsec_` and Base64. Kept as it is, since every signature needs it. */
  readonly secret: string
  readonly createdAt: number
}

/** Something that happened to an owner's links, as all his webhooks that want to know of it are told. */
export interface WebhookMessage {
  /** The same for whoever tells of the same thing again, so that a receiver can tell repeats. */
  readonly id: string
  readonly owner: string
  readonly event: WebhookEvent
  /** JSON, sent and signed as it is. */
  readonly body: string
}
