import { Clock, Effect, Layer } from "effect"
import {
  adminKeyPrefix,
  hostOf,
  verificationType,
  type Webhook,
  type WebhookEvent,
  type WebhookState
} from "../../model/Webhook.ts"
import { AccountStore } from "../../storage/accounts/AccountStore.ts"
import * as Queue from "./WebhookQueueMemory.ts"
import {
  type Delivery,
  endedFor_ms,
  type WebhookStatus,
  WebhookStore
} from "../../storage/webhooks/WebhookStore.ts"

/** What tells whether users and API keys are there. */
type Accounts = Pick<typeof AccountStore.Service, "userById" | "keysOf">

const statusOf = (place: Queue.Place, status: WebhookState): WebhookStatus => {
  const { dropped, failures, lastFailure, webhook } = place
  const { pending } = Queue.loadOf(place)
  const hasEnded = status === "ended"
  return {
    ...webhook,
    status,
    failures,
    lastFailure,
    dropped: dropped + (hasEnded ? pending : 0),
    pending: hasEnded ? 0 : pending,
    deadLetters: Queue.deadOf(place).length
  }
}

/** Webhooks that end at once, as over SQL: the listeners have another version for each time. */
const lapseMax = 100

/** The oldest first. */
const byAge = ({ webhook: one }: Queue.Place, { webhook: other }: Queue.Place) =>
  one.createdAt - other.createdAt || (one.id < other.id ? -1 : 1)

/** The ids of the events in a message. */
export const eventsOf = ({
  body,
  event,
  id
}: Pick<Delivery, "body" | "event" | "id">): ReadonlyArray<string> =>
  event === "events"
    ? (JSON.parse(body) as { data: ReadonlyArray<{ id: string }> }).data.map((one) => one.id)
    : [id]

/** `WebhookStore` in this process's memory, by Effect's clock: for a process without a database. Without accounts every webhook stands that has not been ended. */
export const makeOver = (accounts?: Accounts): Effect.Effect<typeof WebhookStore.Service> =>
  Effect.sync(() => {
    const places = new Map<string, Queue.Place>()
    let version = 0
    let ids = 0
    const nextId = () => String(++ids)
    const all = () => [...places.values()]
    const ofOwner = (owner: string) => all().filter(({ webhook }) => webhook.owner === owner)

    const hasKey = Effect.fnUntraced(function* ({ webhook: { keyId, owner } }: Queue.Place) {
      if (accounts === undefined || keyId === null || keyId.startsWith(adminKeyPrefix)) return true
      const now = yield* Clock.currentTimeMillis
      return (yield* accounts.keysOf(owner)).some(
        ({ expiresAt, id }) => id === keyId && (expiresAt === null || expiresAt > now)
      )
    })

    const hasUser = ({ createdAt, keyId, owner }: Webhook) =>
      accounts === undefined
        ? Effect.succeed(true)
        : Effect.map(
            accounts.userById(owner),
            (user) =>
              user !== null && user.disabledAt === null && (keyId !== null || createdAt > user.webhooksSince)
          )

    const stateOf = Effect.fnUntraced(function* (place: Queue.Place) {
      const stands = place.endedAt === null && (yield* hasUser(place.webhook)) && (yield* hasKey(place))
      const state: WebhookState = stands ? (place.isVerified ? "active" : "unverified") : "ended"
      return state
    })

    const withStates = (some: ReadonlyArray<Queue.Place>) =>
      Effect.forEach(some, (place) => Effect.map(stateOf(place), (state) => ({ place, state })))

    /** Those that are in one of some states. */
    const inState = (some: ReadonlyArray<Queue.Place>, ...states: ReadonlyArray<WebhookState>) =>
      Effect.map(withStates(some), (found) =>
        found.filter(({ state }) => states.includes(state)).map(({ place }) => place)
      )

    /** Does something at a moment. */
    const at = <A, E>(f: (now: number) => Effect.Effect<A, E>) => Effect.flatMap(Clock.currentTimeMillis, f)

    const withPlace = (
      { webhookId }: Pick<Delivery, "webhookId">,
      f: (place: Queue.Place, now: number) => void
    ) =>
      at((now) =>
        Effect.sync(() => {
          const place = places.get(webhookId)
          if (place !== undefined) f(place, now)
        })
      )

    const removeAll = (some: ReadonlyArray<Queue.Place>) => {
      for (const { webhook } of some) places.delete(webhook.id)
      if (some.some(({ isVerified }) => isVerified)) version++
      return some.length
    }

    const ask = (
      place: Queue.Place,
      challenge: { readonly id: string; readonly body: string },
      now: number
    ) => {
      const message = { ...challenge, event: verificationType, events: 0, bytes: 0 } as const
      place.messages.set(challenge.id, Queue.newMessage(message, now))
    }

    const end = (place: Queue.Place, now: number) => {
      const { pending } = Queue.loadOf(place)
      place.messages.clear()
      place.joined.clear()
      place.endedAt = now
      place.dropped += pending
      return pending
    }

    return WebhookStore.of({
      add: Effect.fnUntraced(function* (webhook, challenge, max) {
        if (!(yield* hasUser(webhook))) return false
        const own = ofOwner(webhook.owner).toSorted(byAge)
        const ended = yield* inState(own, "ended")
        if (own.length - ended.length >= max) return false
        removeAll(ended.slice(0, Math.max(0, own.length - max + 1)))
        const place: Queue.Place = {
          webhook,
          host: hostOf(webhook.url),
          messages: new Map(),
          joined: new Map(),
          isVerified: false,
          endedAt: null,
          failures: 0,
          lastFailure: null,
          pausedUntil: 0,
          dropped: 0
        }
        places.set(webhook.id, place)
        ask(place, challenge, yield* Clock.currentTimeMillis)
        return true
      }),
      challenge: Effect.fnUntraced(function* (id, challenge) {
        const place = places.get(id)
        const state = place === undefined ? null : yield* stateOf(place)
        if (place === undefined || state !== "unverified") return state
        place.messages.clear()
        ask(place, challenge, yield* Clock.currentTimeMillis)
        Queue.reset(place)
        return state
      }),
      verify: (id, challengeId) =>
        Effect.sync(() => {
          const place = places.get(id)
          if (place?.messages.get(challengeId)?.event !== verificationType) return false
          place.messages.delete(challengeId)
          place.isVerified = true
          Queue.reset(place)
          version++
          return true
        }),
      list: (owner) =>
        Effect.map(withStates(ofOwner(owner)), (found) =>
          found
            .toSorted(({ place: one }, { place: other }) => byAge(one, other))
            .map(({ place, state }) => statusOf(place, state))
        ),
      find: Effect.fnUntraced(function* (id) {
        const place = places.get(id)
        return place === undefined ? null : statusOf(place, yield* stateOf(place))
      }),
      remove: (id) => Effect.sync(() => removeAll(all().filter(({ webhook }) => webhook.id === id)) > 0),
      removeAllOf: (owner) => Effect.sync(() => removeAll(ofOwner(owner))),
      lapse: (adminKeyId) =>
        at((now) =>
          Effect.map(withStates(all().filter(({ endedAt }) => endedAt === null)), (found) => {
            const lapsed = found.filter(
              ({ place: { webhook }, state }) =>
                state === "ended" ||
                (adminKeyId !== null &&
                  webhook.keyId?.startsWith(adminKeyPrefix) === true &&
                  webhook.keyId !== adminKeyId)
            )
            version += Math.ceil(lapsed.length / lapseMax)
            return lapsed.reduce((sum, { place }) => sum + end(place, now), 0)
          })
        ),
      look: (known) =>
        Effect.sync(() => {
          const isWaiting = all().some(Queue.isWaiting)
          if (known === version) return { listeners: null, isWaiting }
          const byOwner = new Map<string, Set<WebhookEvent>>()
          for (const { endedAt, isVerified, webhook } of all()) {
            if (!isVerified || endedAt !== null) continue
            byOwner.set(webhook.owner, new Set([...(byOwner.get(webhook.owner) ?? []), ...webhook.events]))
          }
          return { listeners: { version, byOwner }, isWaiting }
        }),
      offer: (messages) =>
        at((now) => Effect.map(inState(all(), "active"), (active) => Queue.offer(active, messages, now))),
      claim: (wanted) =>
        at((now) =>
          Effect.map(inState(all(), "active", "unverified"), (some) => Queue.claim(some, wanted, nextId, now))
        ),
      delivered: (delivery) => withPlace(delivery, (place) => Queue.delivered(place, delivery)),
      failed: (delivery, failure) =>
        withPlace(delivery, (place, now) => Queue.failed(place, delivery, failure, now)),
      release: (delivery, in_ms) =>
        withPlace(delivery, (place, now) => Queue.release(place, delivery, in_ms, now)),
      deadLetters: (webhookId, limit, after) =>
        Effect.sync(() => {
          const place = places.get(webhookId)
          const letters = (place === undefined ? [] : Queue.deadOf(place)).map((held) => ({
            id: held.id,
            event: held.event,
            events: held.events,
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
        at((now) =>
          Effect.gen(function* () {
            const place = places.get(webhookId)
            if (place === undefined || (yield* stateOf(place)) === "ended") return "none"
            return Queue.revive(place, ofOwner(place.webhook.owner), id, now)
          })
        ),
      sweep: at((now) =>
        Effect.sync(() => {
          for (const place of all()) {
            if (place.endedAt !== null && place.endedAt < now - endedFor_ms) places.delete(place.webhook.id)
            else Queue.sweep(place, now)
          }
        })
      )
    })
  })

/** See {@link makeOver}, without accounts. */
export const make: Effect.Effect<typeof WebhookStore.Service> = makeOver()

/** See {@link makeOver}: its webhooks stand as their users and API keys do. */
export const layer: Layer.Layer<WebhookStore, never, AccountStore> = Layer.effect(
  WebhookStore,
  Effect.flatMap(AccountStore, makeOver)
)
