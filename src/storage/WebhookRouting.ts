import type { WebhookEvent, WebhookMessage } from "../Webhook.ts"
import { pendingMax } from "./WebhookStore.ts"

/** What routing needs to know of a webhook. */
export interface Recipient {
  readonly id: string
  readonly owner: string
  readonly events: ReadonlyArray<WebhookEvent>
  readonly pending: number
}

/** Which messages each recipient wants and has room for, and how many he wanted and has no room for. */
export const route = <R extends Recipient>(
  recipients: ReadonlyArray<R>,
  messages: ReadonlyArray<WebhookMessage>
): ReadonlyArray<{
  readonly recipient: R
  readonly messages: ReadonlyArray<WebhookMessage>
  readonly dropped: number
}> =>
  recipients.map((recipient) => {
    const wanted = messages.filter(
      ({ event, owner }) => owner === recipient.owner && recipient.events.includes(event)
    )
    const room = Math.max(0, pendingMax - recipient.pending)
    return {
      recipient,
      messages: wanted.slice(0, room),
      dropped: Math.max(0, wanted.length - room)
    }
  })
