// Webhooks for tests, those who have them, and claims that take what there is.

import { Effect } from "effect"
import type { ApiKey, User } from "../../../src/storage/accounts/AccountStore.ts"
import type { Claim, WebhookStore } from "../../../src/storage/webhooks/WebhookStore.ts"
import type { Webhook } from "../../../src/model/Webhook.ts"

type Store = WebhookStore["Type"]

/** A user who has webhooks. */
export const userOf = (id: string): User => ({
  id,
  email: `${id}@example.com`,
  firstName: null,
  middleName: null,
  lastName: null,
  passwordHash: null,
  passwordIsTemporary: false,
  isAdmin: false,
  createdAt: 1_000,
  updatedAt: 1_000,
  lastLoginAt: null,
  webhooksSince: 0,
  disabledAt: null
})

/** An API key that makes webhooks. */
export const keyOf = (id: string, userId: string, expiresAt: number | null = null): ApiKey => ({
  id,
  userId,
  secretHash: `secret of ${id}`,
  name: id,
  scopes: ["links:write"],
  createsPerMinute: null,
  redirectsPerDay: null,
  createdAt: 1_000,
  expiresAt
})

/** A webhook. */
export const webhookOf = (id: string, changes: Partial<Webhook> = {}): Webhook => ({
  id,
  owner: "usr_a",
  keyId: null,
  url: `https://${id}.example/hook`,
  events: ["link.created", "link.deleted"],
  secret: "whsec_c2VjcmV0",
  createdAt: 1_000,
  ...changes
})

/** The challenge that a webhook is added with here. */
export const challengeOf = (webhookId: string) => ({
  id: `msg_challenge_of_${webhookId}`,
  body: `{"type":"webhook.verification","data":{"challenge":"${webhookId}"}}`
})

/** Has a webhook's receiver prove itself. */
export const prove = (store: Store, id: string) =>
  Effect.zipRight(store.challenge(id, challengeOf(id)), store.verify(id, challengeOf(id).id))

/** Adds a webhook whose receiver has proven itself; `false` where there are too many. */
export const addVerified = (store: Store, webhook: Webhook, max = 10) =>
  Effect.gen(function* () {
    const challenge = challengeOf(webhook.id)
    const added = yield* store.add(webhook, challenge, max)
    if (added) yield* store.verify(webhook.id, challenge.id)
    return added
  })

/** What of a webhook is shown beside what it was made of, while nothing has happened to it. */
export const fresh = {
  status: "active",
  pending: 0,
  deadLetters: 0,
  dropped: 0,
  failures: 0,
  lastFailure: null
} as const

/** A claim of each message by itself, unless told otherwise. */
export const claimOf = (changes: Partial<Claim> = {}): Claim => ({
  max: 100,
  roomFor: () => Infinity,
  busy: { webhooks: [], owners: [], hosts: [] },
  join: { events: 1, bytes: 1_000_000 },
  gatherFor_ms: 0,
  lease_ms: 60_000,
  ...changes
})
