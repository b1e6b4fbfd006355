import { joinedType, type MessageType, verificationType, type WebhookMessage } from "../../model/Webhook.ts"
import { groupsOf, joinedBody } from "../../storage/webhooks/WebhookJoining.ts"
import { route } from "../../storage/webhooks/WebhookRouting.ts"
import {
  type Claim,
  deadLettersBytesMax,
  deadLettersFor_ms,
  deadLettersMax,
  type Delivery,
  type Failure,
  leaseMax_ms,
  notInTime,
  pauseMax_ms,
  pendingBytesMax,
  pendingFor_ms,
  pendingMax,
  retryMax_ms,
  type WebhookStatus
} from "../../storage/webhooks/WebhookStore.ts"

/** A message of a webhook. */
export interface Held {
  readonly id: string
  readonly event: MessageType
  readonly body: string
  /** Events that it tells; none where it is a challenge. */
  readonly events: number
  readonly bytes: number
  queuedAt: number
  dueAt: number
  attempts: number
  /** It was given by a claim, and is sent again as it is. */
  isSealed: boolean
  lease: string | null
  deadAt: number | null
  reason: string
}

/** A webhook, and what there is of it. */
export interface Place {
  readonly webhook: Pick<WebhookStatus, "id" | "owner" | "keyId" | "url" | "events" | "secret" | "createdAt">
  readonly host: string
  readonly messages: Map<string, Held>
  /** In which message an event was joined. */
  readonly joined: Map<string, string>
  isVerified: boolean
  endedAt: number | null
  failures: number
  lastFailure: string | null
  pausedUntil: number
  dropped: number
}

const isPending = ({ deadAt }: Held) => deadAt === null

/** Whether a message waits for its delivery, or is on its way. */
export const isWaiting = ({ messages }: Place): boolean => {
  for (const held of messages.values()) if (isPending(held)) return true
  return false
}

const pendingOf = ({ messages }: Place) => [...messages.values()].filter(isPending)

/** Events that wait, and their bytes. */
export const loadOf = ({ messages }: Place): { readonly pending: number; readonly bytes: number } => {
  let [pending, bytes] = [0, 0]
  for (const held of messages.values()) {
    if (!isPending(held)) continue
    pending += held.events
    bytes += held.bytes
  }
  return { pending, bytes }
}

/** Whether a message waits until a moment that only a clock that was ahead can have set. */
const isAhead = ({ attempts, dueAt, event, lease }: Held, now: number) => {
  const isUntried = attempts === 0 && event !== verificationType
  return dueAt > now + (lease !== null ? leaseMax_ms : isUntried ? 0 : retryMax_ms)
}

/** In the order in which messages are given at `now`. */
const inOrderAt = (now: number) => (one: Held, other: Held) =>
  Number(isAhead(other, now)) - Number(isAhead(one, now)) ||
  one.dueAt - other.dueAt ||
  (one.id < other.id ? -1 : 1)

/** By when they died and then by their ids, the newest first. */
const newestFirst = (one: Held, other: Held) => other.deadAt! - one.deadAt! || (one.id < other.id ? 1 : -1)

/** A webhook's dead letters, the newest first. */
export const deadOf = ({ messages }: Place): ReadonlyArray<Held> =>
  [...messages.values()].filter((held) => !isPending(held)).toSorted(newestFirst)

/** A message that is queued now. */
export const newMessage = (
  message: Pick<Held, "id" | "event" | "body" | "events" | "bytes">,
  now: number
): Held => ({
  ...message,
  queuedAt: now,
  dueAt: now,
  attempts: 0,
  isSealed: message.event === verificationType,
  lease: null,
  deadAt: null,
  reason: ""
})

/** Removes a message, and what was joined in it. */
const remove = ({ joined, messages }: Place, id: string) => {
  messages.delete(id)
  for (const [event, message] of joined) if (message === id) joined.delete(event)
}

/** Queues messages for those of these webhooks that want them: gives how many were dropped. */
export const offer = (
  places: ReadonlyArray<Place>,
  messages: ReadonlyArray<WebhookMessage>,
  now: number
): number => {
  const recipients = places.map((place) => ({ ...place.webhook, ...loadOf(place), place }))
  const routed = route(recipients, messages)
  for (const {
    dropped,
    messages,
    recipient: { place }
  } of routed) {
    place.dropped += dropped
    for (const message of messages) {
      if (place.messages.has(message.id) || place.joined.has(message.id)) continue
      place.messages.set(message.id, newMessage({ ...message, events: 1 }, now))
    }
  }
  return routed.reduce((sum, { dropped }) => sum + dropped, 0)
}

/** Puts one message in place of several. */
const joinedOf = (place: Place, members: ReadonlyArray<Held>, id: string, now: number): Held => {
  for (const member of members) {
    place.messages.delete(member.id)
    place.joined.set(member.id, id)
  }
  const joined: Held = {
    ...newMessage(
      {
        id,
        event: joinedType,
        body: joinedBody(members, now),
        events: members.length,
        bytes: members.reduce((sum, { bytes }) => sum + bytes, 0)
      },
      now
    ),
    queuedAt: Math.min(...members.map(({ queuedAt }) => queuedAt))
  }
  place.messages.set(id, joined)
  return joined
}

/** Claims messages of these webhooks. `nextId` gives a text that is new each time. */
export const claim = (
  places: ReadonlyArray<Place>,
  { busy, gatherFor_ms, join, lease_ms, max, roomFor }: Claim,
  nextId: () => string,
  now: number
): ReadonlyArray<Delivery> => {
  const inOrder = inOrderAt(now)
  const looked = (place: Place) => {
    let first: Held | undefined
    const ahead: Array<Held> = []
    for (const held of place.messages.values()) {
      if (!isPending(held)) continue
      if (first === undefined || held.dueAt < first.dueAt) first = held
      if (isAhead(held, now)) ahead.push(held)
    }
    const dueAt = first === undefined ? Infinity : first.dueAt + (first.isSealed ? 0 : gatherFor_ms)
    return { place, ahead, dueAt }
  }
  const waiting = places
    .filter(
      (place) =>
        (place.pausedUntil <= now || place.pausedUntil > now + pauseMax_ms) &&
        !busy.webhooks.includes(place.webhook.id) &&
        !busy.owners.includes(place.webhook.owner) &&
        !busy.hosts.includes(place.host)
    )
    .map(looked)
    .filter(({ ahead, dueAt }) => ahead.length > 0 || dueAt <= now)
    .toSorted(
      (one, other) =>
        Number(other.ahead.length > 0) - Number(one.ahead.length > 0) ||
        one.dueAt - other.dueAt ||
        (one.place.webhook.id < other.place.webhook.id ? -1 : 1)
    )
    .slice(0, max)
  const fair = Math.ceil(max / waiting.length)
  const looks = waiting.map(({ ahead, place }) => {
    const { failures, host, webhook } = place
    const room = roomFor({ id: webhook.id, owner: webhook.owner, host, failures })
    return { ahead, place, messages: Math.max(0, Math.min(failures > 0 ? 1 : fair, room)) }
  })
  /** How many due messages are looked at, of webhooks with such that a clock that was ahead has queued and of others: as SQLite does, as many of each. */
  const mostOf = (areAhead: boolean) =>
    join.events *
    Math.max(0, ...looks.flatMap(({ ahead, messages }) => (ahead.length > 0 === areAhead ? [messages] : [])))
  const groups = looks
    .flatMap(({ ahead, messages, place }) => {
      const due = (ahead.length > 0 ? ahead : pendingOf(place).filter(({ dueAt }) => dueAt <= now))
        .filter(({ event }) => place.isVerified || event === verificationType)
        .toSorted(inOrder)
        .slice(0, mostOf(ahead.length > 0))
      return groupsOf(due, join)
        .slice(0, messages)
        .map((members) => ({ place, members }))
    })
    .toSorted((one, other) => inOrder(one.members[0]!, other.members[0]!))
    .slice(0, max)
  const lease = nextId()
  return groups.map(({ members, place }) => {
    const held = members.length === 1 ? members[0]! : joinedOf(place, members, `msg_${nextId()}`, now)
    Object.assign(held, { lease, dueAt: now + lease_ms, attempts: held.attempts + 1, isSealed: true })
    const { id: webhookId, owner, secret, url } = place.webhook
    const { attempts: attempt, body, event, id } = held
    const { failures, host } = place
    return { id, webhookId, owner, host, event, body, url, secret, attempt, failures, lease }
  })
}

const heldBy = ({ messages }: Place, { id, lease }: Delivery): Held | undefined => {
  const held = messages.get(id)
  return held?.lease === lease ? held : undefined
}

/** Forgets the failures of a webhook. */
export const reset = (place: Place): void =>
  void Object.assign(place, { failures: 0, pausedUntil: 0, lastFailure: null })

/** A message was delivered. */
export const delivered = (place: Place, delivery: Delivery): void => {
  if (heldBy(place, delivery) !== undefined) remove(place, delivery.id)
  if (delivery.failures > 0) reset(place)
}

/** An attempt failed. */
export const failed = (
  place: Place,
  delivery: Delivery,
  { pause_ms, reason, retryIn_ms }: Failure,
  now: number
): void => {
  place.failures++
  place.pausedUntil = now + pause_ms
  place.lastFailure = reason
  const held = heldBy(place, delivery)
  if (held === undefined) return
  held.lease = null
  if (retryIn_ms !== null) held.dueAt = now + retryIn_ms
  else if (held.event === verificationType) remove(place, held.id)
  else Object.assign(held, { deadAt: now, reason })
}

/** A message was not tried. */
export const release = (place: Place, delivery: Delivery, in_ms: number, now: number): void => {
  const held = heldBy(place, delivery)
  if (held !== undefined)
    Object.assign(held, { lease: null, dueAt: now + in_ms, attempts: held.attempts - 1 })
}

/** Queues a dead letter again; `ofOwner` are all webhooks of its owner. */
export const revive = (
  place: Place,
  ofOwner: ReadonlyArray<Place>,
  id: string,
  now: number
): "queued" | "none" | "full" => {
  const held = place.messages.get(id)
  if (held === undefined || isPending(held)) return "none"
  const bytes = ofOwner.reduce((sum, one) => sum + loadOf(one).bytes, held.bytes)
  if (loadOf(place).pending + held.events > pendingMax || bytes > pendingBytesMax) return "full"
  Object.assign(held, { deadAt: null, lease: null, attempts: 0, queuedAt: now, dueAt: now })
  return "queued"
}

/** Gives up and forgets messages of a webhook. */
export const sweep = (place: Place, now: number): void => {
  for (const held of pendingOf(place)) {
    if (held.event !== verificationType && held.queuedAt < now - pendingFor_ms) {
      Object.assign(held, { deadAt: now, lease: null, reason: notInTime })
    }
  }
  let bytes = 0
  deadOf(place).forEach((held, index) => {
    bytes += held.bytes
    if (index >= deadLettersMax || bytes > deadLettersBytesMax || held.deadAt! < now - deadLettersFor_ms) {
      remove(place, held.id)
    }
  })
}
