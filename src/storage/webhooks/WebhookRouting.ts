import type { WebhookEvent, WebhookMessage } from "../../model/Webhook.ts"
import { pendingBytesMax, pendingMax } from "./WebhookStore.ts"

/** What routing needs of a webhook. */
export interface Recipient {
  readonly id: string
  readonly owner: string
  readonly events: ReadonlyArray<WebhookEvent>
  readonly pending: number
  /** Of the bodies of what waits for it. */
  readonly bytes: number
}

/** A message, and the bytes of its body. */
export interface Weighed extends WebhookMessage {
  readonly bytes: number
}

/** Which messages each recipient wants and has room for, and how many are dropped for lack of room. All webhooks of a user share one bound on bytes, which messages use up in their order. */
export const route = <R extends Recipient>(
  recipients: ReadonlyArray<R>,
  messages: ReadonlyArray<WebhookMessage>
): ReadonlyArray<{
  readonly recipient: R
  readonly messages: ReadonlyArray<Weighed>
  readonly dropped: number
}> => {
  const routes = recipients.map((recipient) => ({ recipient, messages: [] as Array<Weighed>, dropped: 0 }))
  const owners = new Map<string, { readonly routes: typeof routes; bytes: number }>()
  for (const route of routes) {
    const { bytes, owner } = route.recipient
    const one = owners.get(owner) ?? { routes: [], bytes: 0 }
    owners.set(owner, one)
    one.routes.push(route)
    one.bytes += bytes
  }
  for (const message of messages) {
    const owner = owners.get(message.owner)
    const bytes = Buffer.byteLength(message.body)
    for (const route of owner?.routes ?? []) {
      const { events, pending } = route.recipient
      if (!events.includes(message.event)) continue
      if (pending + route.messages.length < pendingMax && owner!.bytes + bytes <= pendingBytesMax) {
        route.messages.push({ ...message, bytes })
        owner!.bytes += bytes
      } else route.dropped++
    }
  }
  return routes
}
