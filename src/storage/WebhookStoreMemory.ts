import { Clock, Effect, Layer } from "effect"
import type { WebhookEvent, WebhookMessage } from "../Webhook.ts"
import { route } from "./WebhookRouting.ts"
import {
  type Claim,
  deadLettersFor_ms,
  deadLettersMax,
  type Delivery,
  type Failure,
  pendingFor_ms,
  type WebhookStatus,
  WebhookStore
} from "./WebhookStore.ts"

interface Held {
  readonly message: WebhookMessage
  readonly webhookId: string
  queuedAt: number
  dueAt: number
  attempts: number
  lease: string | null
  deadAt: number | null
  reason: string
}

interface Place {
  readonly webhook: Omit<WebhookStatus, "pending" | "deadLetters">
  readonly messages: Map<string, Held>
  failures: number
  pausedUntil: number
  dropped: number
}

const isPending = ({ deadAt }: Held) => deadAt === null

const statusOf = ({ dropped, failures, messages, webhook }: Place): WebhookStatus => {
  const pending = [...messages.values()].filter(isPending).length
  return { ...webhook, dropped, failures, pending, deadLetters: messages.size - pending }
}

/** By when they died and then by their ids, the newest first. */
const newestFirst = (one: Held, other: Held) =>
  other.deadAt! - one.deadAt! || (one.message.id < other.message.id ? 1 : -1)

const deadOf = (place: Place) =>
  [...place.messages.values()].filter((held) => !isPending(held)).toSorted(newestFirst)

const sweepOne = (place: Place, now: number) => {
  for (const held of place.messages.values()) {
    if (isPending(held) && held.queuedAt < now - pendingFor_ms) {
      Object.assign(held, { deadAt: now, lease: null, reason: "It was not delivered in time." })
    }
  }
  deadOf(place).forEach((held, index) => {
    if (index >= deadLettersMax || held.deadAt! < now - deadLettersFor_ms)
      place.messages.delete(held.message.id)
  })
}

/** `WebhookStore` in this process's memory, by Effect's clock: for a process without a database. */
export const make: Effect.Effect<typeof WebhookStore.Service> = Effect.sync(() => {
  const places = new Map<string, Place>()
  let version = 0
  let leases = 0
  const all = () => [...places.values()]

  /** Does something at a moment. */
  const at = <A>(f: (now: number) => A) => Effect.map(Clock.currentTimeMillis, f)

  const heldBy = ({ id, lease, webhookId }: Delivery): Held | undefined => {
    const held = places.get(webhookId)?.messages.get(id)
    return held?.lease === lease ? held : undefined
  }

  const offer = (messages: ReadonlyArray<WebhookMessage>, now: number): number => {
    const recipients = all().map((place) => ({ ...statusOf(place), place }))
    const routed = route(recipients, messages)
    for (const { dropped, messages, recipient } of routed) {
      const { place } = recipient
      place.dropped += dropped
      for (const message of messages) {
        if (place.messages.has(message.id)) continue
        place.messages.set(message.id, {
          message,
          webhookId: recipient.id,
          queuedAt: now,
          dueAt: now,
          attempts: 0,
          lease: null,
          deadAt: null,
          reason: ""
        })
      }
    }
    return routed.reduce((sum, { dropped }) => sum + dropped, 0)
  }

  const claim = ({ busy, lease_ms, max, perWebhook }: Claim, now: number): ReadonlyArray<Delivery> => {
    const due = all()
      .filter(({ pausedUntil, webhook }) => pausedUntil <= now && !busy.includes(webhook.id))
      .flatMap((place) =>
        [...place.messages.values()]
          .filter((held) => isPending(held) && held.dueAt <= now)
          .toSorted((one, other) => one.dueAt - other.dueAt || (one.message.id < other.message.id ? -1 : 1))
          .slice(0, place.failures > 0 ? 1 : perWebhook)
          .map((held) => ({ held, place }))
      )
      .toSorted((one, other) => one.held.dueAt - other.held.dueAt)
      .slice(0, max)
    const lease = String(++leases)
    return due.map(({ held, place }) => {
      held.lease = lease
      held.dueAt = now + lease_ms
      held.attempts++
      const { body, event, id } = held.message
      const { secret, url } = place.webhook
      const { failures } = place
      return {
        id,
        webhookId: held.webhookId,
        event,
        body,
        url,
        secret,
        attempt: held.attempts,
        failures,
        lease
      }
    })
  }

  const fail = (delivery: Delivery, { pause_ms, reason, retryIn_ms }: Failure, now: number) => {
    const place = places.get(delivery.webhookId)
    if (place === undefined) return
    place.failures++
    place.pausedUntil = now + pause_ms
    const held = heldBy(delivery)
    if (held !== undefined) {
      held.lease = null
      if (retryIn_ms === null) Object.assign(held, { deadAt: now, reason })
      else held.dueAt = now + retryIn_ms
    }
  }

  return WebhookStore.of({
    add: (webhook, max) =>
      Effect.sync(() => {
        version++
        if (all().filter((place) => place.webhook.owner === webhook.owner).length >= max) return false
        const place = { messages: new Map(), failures: 0, pausedUntil: 0, dropped: 0 }
        places.set(webhook.id, { ...place, webhook: { ...webhook, dropped: 0, failures: 0 } })
        return true
      }),
    list: (owner) =>
      Effect.sync(() =>
        all()
          .map(statusOf)
          .filter((webhook) => webhook.owner === owner)
          .toSorted((one, other) => one.createdAt - other.createdAt || (one.id < other.id ? -1 : 1))
      ),
    find: (id) =>
      Effect.sync(() => {
        const place = places.get(id)
        return place === undefined ? null : statusOf(place)
      }),
    remove: (id) =>
      Effect.sync(() => {
        version++
        return places.delete(id)
      }),
    listeners: (known) =>
      Effect.sync(() => {
        if (known === version) return null
        const byOwner = new Map<string, Set<WebhookEvent>>()
        for (const { webhook } of all()) {
          byOwner.set(webhook.owner, new Set([...(byOwner.get(webhook.owner) ?? []), ...webhook.events]))
        }
        return { version, byOwner }
      }),
    offer: (messages) => at((now) => offer(messages, now)),
    claim: (wanted) => at((now) => claim(wanted, now)),
    delivered: (delivery) =>
      Effect.sync(() => {
        const place = places.get(delivery.webhookId)
        if (heldBy(delivery) !== undefined) place!.messages.delete(delivery.id)
        if (place !== undefined && delivery.failures > 0)
          Object.assign(place, { failures: 0, pausedUntil: 0 })
      }),
    failed: (delivery, failure) => at((now) => fail(delivery, failure, now)),
    release: (delivery) =>
      at((now) => {
        const held = heldBy(delivery)
        if (held !== undefined) Object.assign(held, { lease: null, dueAt: now, attempts: held.attempts - 1 })
      }),
    deadLetters: (webhookId, limit, after) =>
      Effect.sync(() => {
        const place = places.get(webhookId)
        const letters = (place === undefined ? [] : deadOf(place)).map((held) => ({
          id: held.message.id,
          event: held.message.event,
          queuedAt: held.queuedAt,
          failedAt: held.deadAt!,
          attempts: held.attempts,
          reason: held.reason
        }))
        const isBehind = (one: { readonly failedAt: number; readonly id: string }) =>
          after === null ||
          one.failedAt < after.failedAt ||
          (one.failedAt === after.failedAt && one.id < after.id)
        return letters.filter(isBehind).slice(0, limit)
      }),
    revive: (webhookId, id) =>
      at((now) => {
        const held = places.get(webhookId)?.messages.get(id)
        if (held === undefined || isPending(held)) return false
        Object.assign(held, { deadAt: null, lease: null, attempts: 0, queuedAt: now, dueAt: now })
        return true
      }),
    sweep: at((now) => all().forEach((place) => sweepOne(place, now)))
  })
})

/** See {@link make}. */
export const layer: Layer.Layer<WebhookStore> = Layer.effect(WebhookStore, make)
