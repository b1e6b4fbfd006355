import { Clock, Effect } from "effect"
import { verificationType } from "../../../model/Webhook.ts"
import { leaseMax_ms } from "../../../storage/webhooks/WebhookStore.ts"
import type { Mutation } from "../../mutants/Mutation.ts"
import type { DomainStore } from "../../../storage/domains/DomainStore.ts"
import * as AccountStoreMemory from "../AccountStoreMemory.ts"
import type { AuditEntry } from "../../../storage/accounts/AuditLog.ts"
import * as AuditLogMemory from "../AuditLogMemory.ts"
import * as DomainStoreMemory from "../DomainStoreMemory.ts"
import * as QuotaStoreMemory from "../QuotaStoreMemory.ts"
import * as ComparedUsers from "../sql/ComparedUsers.ts"
import type { BrokenStatements } from "../sql/BrokenStatements.ts"
import { Comparison, type Differs } from "../sql/Comparison.ts"
import type { BySql, UserStores } from "../sql/SqlStores.ts"
import * as WebhookStoreMemory from "../WebhookStoreMemory.ts"

/** An event that waits for a webhook's receiver, by its id. */
export interface Waiting {
  readonly webhook: string
  readonly event: string
}

/** What the database knows of users and what they did, quotas, webhooks and further domains, in memory. No failover forgets anything of them. */
export class UserTables {
  /** As they are asked, at one moment: with those of production, if they are compared. */
  readonly stores: UserStores
  readonly domains: typeof DomainStore.Service
  /** The queue of webhooks in memory. */
  readonly #queue: UserStores["webhooks"]
  readonly #audit: UserStores["audit"]
  readonly #comparison: Comparison | undefined

  /** `compared`: the stores of production, which they are compared with, and who is told of differences. The last one: what replaces parts of it. */
  constructor(
    compared:
      | {
          readonly sql: Pick<BySql, "domains" | "users">
          readonly differs: Differs
          readonly broken: BrokenStatements
        }
      | undefined,
    {
      quotaTables: brokenQuotas,
      users: brokenUsers,
      webhookTables: brokenWebhooks
    }: Pick<Mutation, "quotaTables" | "users" | "webhookTables">
  ) {
    const sound = Effect.runSync(AccountStoreMemory.make)
    const accounts = brokenUsers?.(sound) ?? sound
    this.#queue = Effect.runSync(WebhookStoreMemory.makeOver(accounts))
    const webhooks = brokenWebhooks?.(this.#queue) ?? this.#queue
    const [audit, sharing] = Effect.runSync(Effect.all([AuditLogMemory.make, QuotaStoreMemory.make]))
    const quotas = brokenQuotas?.(sharing) ?? sharing
    this.#audit = audit
    const inMemory = { accounts, audit, quotas, webhooks }
    const domains = Effect.runSync(DomainStoreMemory.make)
    this.#comparison = compared && new Comparison(compared.differs, compared.broken)
    this.domains = this.#comparison?.port("DomainStore", domains, compared!.sql.domains) ?? domains
    this.stores =
      compared === undefined ? inMemory : ComparedUsers.make(inMemory, compared.sql.users, this.#comparison!)
  }

  /** All entries of the audit log. */
  get audited(): ReadonlyArray<AuditEntry> {
    return Effect.runSync(Effect.orDie(this.#audit.list({ limit: Number.MAX_SAFE_INTEGER })))
  }

  /** Whether they are, or were, compared with those of production. */
  get isCompared(): boolean {
    return this.#comparison !== undefined
  }

  /** Answers that were compared with those of production. */
  get answers(): number {
    return this.#comparison?.answers ?? 0
  }

  /** Compares nothing any more. */
  part() {
    this.#comparison?.part()
  }

  /** Takes the events that wait for webhooks, also those that are tried again within a day. */
  takeEvents(now_ms: number): ReadonlyArray<Waiting> {
    const later_ms = now_ms + 24 * 3_600_000
    const later = {
      ...Clock.make(),
      unsafeCurrentTimeMillis: () => later_ms,
      currentTimeMillis: Effect.succeed(later_ms)
    }
    const claim = this.#queue.claim({
      max: 100_000,
      roomFor: () => 100_000,
      busy: { webhooks: [], owners: [], hosts: [] },
      join: { events: 1, bytes: 0 },
      gatherFor_ms: 0,
      lease_ms: leaseMax_ms
    })
    const some = () => Effect.runSync(Effect.withClock(claim, later))
    const all: Array<Waiting> = []
    for (let found = some(); found.length > 0; found = some())
      for (const delivery of found) {
        const { webhookId: webhook } = delivery
        // A challenge tells of nothing.
        if (delivery.event !== verificationType)
          all.push(...WebhookStoreMemory.eventsOf(delivery).map((event) => ({ webhook, event })))
      }
    return all
  }
}
