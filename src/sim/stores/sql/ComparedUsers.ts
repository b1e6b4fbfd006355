import { Clock, Effect, Struct } from "effect"
import type { AuditEvent } from "../../../model/Audit.ts"
import type { Ask } from "../../../storage/accounts/QuotaStore.ts"
import {
  type Claimant,
  deadLettersMax,
  type Delivery,
  type Look
} from "../../../storage/webhooks/WebhookStore.ts"
import type { Comparison } from "./Comparison.ts"
import { eventsOf } from "../WebhookStoreMemory.ts"
import type { UserStores } from "./SqlStores.ts"

/** Stores of users over SQL. */
export interface UsersBySql extends UserStores {
  /** Gives a claimed message the names that the stores in memory have drawn for it and for its lease. */
  readonly rename: (
    claimed: Delivery,
    names: Pick<Delivery, "id" | "lease">
  ) => Effect.Effect<unknown, unknown>
  /** Whether a claimed message is sent again as it is, whatever waits beside it by then, and since when it waits. */
  readonly sealing: (claimed: Delivery) => Effect.Effect<Sealing | undefined, unknown>
}

interface Sealing {
  readonly isSealed: boolean
  /** Milliseconds since the Unix epoch. */
  readonly queuedAt: number
}

/** Entries of the audit log that are compared after each one, at most, and of what time. */
const auditedMax = 5
const auditedFor_ms = 10_000

/** Once in so many times that quotas are asked, one that nobody else has is asked twice at once. */
const leasedTwice = 8
const askedTwice: Ask = { id: "compared", limit: 5, period: "minute", demand: 1 }

/** The ids that each side draws are left out: that of a claim's lease, and that of a message that was joined. */
const shownDelivery = (delivery: Delivery) =>
  delivery.event === "events" ? Struct.omit(delivery, "id", "lease") : Struct.omit(delivery, "lease")

const shownLook = ({ isWaiting, listeners }: Look) => ({
  isWaiting,
  listeners: listeners && {
    version: listeners.version,
    byOwner: Array.from(listeners.byOwner, ([owner, events]) => [
      owner,
      Array.from(events).toSorted()
    ]).toSorted()
  }
})

const placeOf = ({ body, id, event, webhookId }: Delivery) => `${webhookId} ${event === "events" ? body : id}`

/** The stores of users, quotas and webhooks in memory, and the same asked of those over SQL, whose answers must be equal; see `Compared`. */
export const make = (memory: UserStores, sql: UsersBySql, comparison: Comparison): UserStores => {
  const webhooks = comparison.port("WebhookStore", memory.webhooks, sql.webhooks, { look: shownLook })

  /** When events were queued, by their ids; `undefined`: they came twice, and not all webhooks may have had them at first. */
  const queuedAt = new Map<string, number | undefined>()

  /** Since when a message that has just been joined waits, if that is known: as long as its oldest event. */
  const joinedSince = (delivery: Delivery) => {
    if (delivery.event !== "events" || delivery.attempt > 1) return undefined
    const all = eventsOf(delivery).map((id) => queuedAt.get(id))
    return all.every((at) => at !== undefined) ? Math.min(...all) : undefined
  }

  const owners = new Set<string>()
  /** Compares as well what has been left of all webhooks. */
  const leavingAll = <A, E>(self: Effect.Effect<A, E>) =>
    comparison.after(self, () => Effect.forEach(owners, webhooks.list))

  /** Compares as well what a change has left of a webhook. */
  const leaving = <A, E>(self: Effect.Effect<A, E>, { webhookId }: Delivery) =>
    comparison.after(self, () => webhooks.find(webhookId))

  const quotas = comparison.port("QuotaStore", memory.quotas, sql.quotas)
  let leased = 0

  const accounts = comparison.port("AccountStore", memory.accounts, sql.accounts)
  const audit = comparison.port("AuditLog", memory.audit, sql.audit)

  /** Asks for entries as their readers do, of whom and what the last one is: the first page, and what comes behind it. */
  const entriesOf = ({ action, at, doer, owner }: AuditEvent) =>
    Effect.gen(function* () {
      const [last] = yield* audit.list({ limit: 1, user: doer.userId ?? undefined })
      yield* audit.list({ limit: auditedMax, user: owner ?? undefined, after: last })
      yield* audit.list({ limit: auditedMax, action, from: at - auditedFor_ms, until: at })
    })

  return {
    accounts: {
      ...accounts,
      // Which of too many sessions have ended.
      addSession: (session, passwordHash, sessionsMax) =>
        comparison.after(accounts.addSession(session, passwordHash, sessionsMax), () =>
          accounts.sessionsOf(session.userId)
        )
    },
    audit: {
      ...audit,
      record: (event) => comparison.after(audit.record(event), () => entriesOf(event))
    },
    quotas: {
      ...quotas,
      // Who gives up an answer and asks again may have both in one batch.
      leaseMany: (asks) =>
        comparison.after(quotas.leaseMany(asks), () =>
          ++leased % leasedTwice === 0 ? quotas.leaseMany([askedTwice, askedTwice]) : Effect.void
        )
    },
    webhooks: {
      ...webhooks,
      add: (webhook, challenge, max) =>
        Effect.zipRight(
          Effect.sync(() => owners.add(webhook.owner)),
          webhooks.add(webhook, challenge, max)
        ),
      lapse: (adminKeyId) => leavingAll(webhooks.lapse(adminKeyId)),
      sweep: leavingAll(webhooks.sweep),
      offer: (messages) =>
        comparison.after(webhooks.offer(messages), () =>
          Effect.flatMap(Clock.currentTimeMillis, (now) => {
            for (const { id } of messages) queuedAt.set(id, queuedAt.has(id) ? undefined : now)
            return Effect.forEach(new Set(messages.map(({ owner }) => owner)), webhooks.list)
          })
        ),
      claim: (claim) =>
        Effect.suspend(() => {
          // What there is room for is asked once, since that takes the room.
          const rooms = new Map<string, number>()
          const roomFor = (webhook: Claimant) => {
            const room = rooms.get(webhook.id) ?? claim.roomFor(webhook)
            rooms.set(webhook.id, room)
            return room
          }
          let bySql: ReadonlyArray<Delivery> = []
          const ofSql = Effect.tap(sql.webhooks.claim({ ...claim, roomFor }), (claimed) =>
            Effect.sync(() => (bySql = claimed))
          )
          const both = comparison.both(
            "WebhookStore.claim",
            memory.webhooks.claim({ ...claim, roomFor }),
            ofSql,
            (claimed) => claimed.map(shownDelivery)
          )
          return comparison.after(both, (claimed) => {
            const names = new Map(claimed.map((delivery) => [placeOf(delivery), delivery]))
            return Effect.forEach(bySql, (delivery) => {
              const { id, lease } = names.get(placeOf(delivery))!
              const since = joinedSince(delivery)
              return Effect.zipRight(
                Effect.orDie(sql.rename(delivery, { id, lease })),
                comparison.both(
                  "WebhookStore.claim, sealing",
                  Effect.succeed({ isSealed: true, queuedAt: since }),
                  Effect.map(sql.sealing({ ...delivery, id }), (sealing) => ({
                    isSealed: sealing?.isSealed,
                    queuedAt: since && sealing?.queuedAt
                  }))
                )
              )
            })
          })
        }),
      delivered: (delivery) => leaving(webhooks.delivered(delivery), delivery),
      failed: (delivery, failure) =>
        comparison.after(leaving(webhooks.failed(delivery, failure), delivery), () =>
          failure.retryIn_ms === null
            ? webhooks.deadLetters(delivery.webhookId, deadLettersMax, null)
            : Effect.void
        ),
      release: (delivery, in_ms) => leaving(webhooks.release(delivery, in_ms), delivery)
    }
  }
}
