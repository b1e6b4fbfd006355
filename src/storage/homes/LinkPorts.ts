import { SqlClient } from "@effect/sql"
import { Effect, type Scope } from "effect"
import { GuardedCreates } from "../links/GuardedCreates.ts"
import * as GuardedCreatesSql from "../links/GuardedCreatesSql.ts"
import { LinkLifetime } from "../links/LinkLifetime.ts"
import * as LinkLifetimeSql from "../links/LinkLifetimeSql.ts"
import * as LinkRemovalsSql from "../links/LinkRemovalsSql.ts"
import { LinkRemovals } from "../links/LinkRemovals.ts"
import { LinkStore } from "../links/LinkStore.ts"
import * as LinkStoreSql from "../links/LinkStoreSql.ts"
import * as LinkTombstonesSql from "../links/LinkTombstonesSql.ts"
import { KeyStock } from "../keys/KeyStock.ts"
import { inTransaction } from "../sql/SqlTransaction.ts"
import { VisitStore } from "../visits/VisitStore.ts"
import * as VisitStoreSql from "../visits/VisitStoreSql.ts"
import * as WebhookOutbox from "../webhooks/WebhookOutbox.ts"
import * as GuardedCreatesRouted from "./GuardedCreatesRouted.ts"
import * as LinkLifetimeRouted from "./LinkLifetimeRouted.ts"
import * as LinkRemovalsRouted from "./LinkRemovalsRouted.ts"
import * as LinkStoreRouted from "./LinkStoreRouted.ts"
import type { PlacementCache } from "./PlacementCache.ts"
import * as Router from "./Router.ts"
import * as VisitStoreRouted from "./VisitStoreRouted.ts"

/** One database, and all that has to do with the links in it. */
export interface OneDatabase
  extends
    LinkStoreRouted.HasLinks,
    GuardedCreatesRouted.HasGuards,
    LinkLifetimeRouted.HasLifetime,
    LinkRemovalsRouted.HasOwners,
    VisitStoreRouted.HasVisits {}

/** What the ports of one database stand on. */
export interface DatabaseParts extends Router.LinkDatabase {
  /** Where keys go that are free again: a stock in the same database. */
  readonly stock: typeof KeyStock.Service
  /** Queues messages of changes in the same database; `undefined` where nobody is told of any. */
  readonly outbox?: {
    readonly messages: WebhookOutbox.OutboxMessages
    readonly listeners: WebhookOutbox.OutboxParts["listeners"]
    readonly webhooks: WebhookOutbox.OutboxParts["webhooks"]
  }
}

/** The ports of one database. */
export const ofDatabase = ({
  isAway,
  outbox,
  sql,
  stock
}: DatabaseParts): Effect.Effect<OneDatabase, never, Scope.Scope> =>
  Effect.gen(function* () {
    const store = yield* LinkStoreSql.make
    const links =
      outbox === undefined
        ? store
        : WebhookOutbox.over(outbox.messages, {
            ...outbox,
            store,
            inTransaction: (run) => inTransaction(sql, run)
          })
    const guarded = yield* Effect.provideService(GuardedCreatesSql.make, LinkStore, links)
    const lifetime = yield* Effect.provideService(LinkLifetimeSql.make, KeyStock, stock)
    const visits = yield* VisitStoreSql.make
    const owned = LinkRemovalsRouted.ofDatabase(sql, yield* LinkTombstonesSql.make)
    return { sql, isAway, links, guarded, lifetime, visits, owned }
  }).pipe(Effect.provideService(SqlClient.SqlClient, sql))

/** The ports of links over several databases. The first is the control database. */
export interface RoutedPorts {
  readonly links: typeof LinkStore.Service
  readonly guarded: typeof GuardedCreates.Service
  readonly lifetime: typeof LinkLifetime.Service
  readonly removals: typeof LinkRemovals.Service
  readonly visits: typeof VisitStore.Service
}

/** See {@link RoutedPorts}. */
export const routed = (
  databases: ReadonlyArray<OneDatabase>,
  placement: PlacementCache
): Effect.Effect<RoutedPorts> =>
  Effect.gen(function* () {
    const control = databases[0]!.sql
    const router = Router.make(databases, placement, yield* Effect.runtime<never>())
    const links = LinkStoreRouted.make(router)
    const removals = yield* Effect.provideService(LinkRemovalsSql.make, SqlClient.SqlClient, control)
    return {
      links,
      guarded: GuardedCreatesRouted.make(router, links),
      lifetime: LinkLifetimeRouted.make(router),
      removals: LinkRemovalsRouted.make(router, LinkRemovalsRouted.ofControl(control), removals),
      visits: VisitStoreRouted.make(router)
    }
  })
