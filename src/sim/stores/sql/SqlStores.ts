import { SqlClient } from "@effect/sql"
import type { BrokenStatements } from "./BrokenStatements.ts"
import { Clock, Effect, identity, type Scope } from "effect"
import { fromStrings, toStrings } from "../../../keys/PackedKeys.ts"
import { plainKeyOf } from "../../../keys/QualifiedKey.ts"
import type { AccountStore } from "../../../storage/accounts/AccountStore.ts"
import * as AccountStoreSql from "../../../storage/accounts/AccountStoreSql.ts"
import type { AuditLog } from "../../../storage/accounts/AuditLog.ts"
import * as AuditLogSql from "../../../storage/accounts/AuditLogSql.ts"
import type { QuotaStore } from "../../../storage/accounts/QuotaStore.ts"
import * as QuotaStoreSql from "../../../storage/accounts/QuotaStoreSql.ts"
import type { DomainStore } from "../../../storage/domains/DomainStore.ts"
import * as DomainStoreSql from "../../../storage/domains/DomainStoreSql.ts"
import { KeyStock, type StockKind } from "../../../storage/keys/KeyStock.ts"
import * as KeyRangeStoreSql from "../../../storage/keys/KeyRangeStoreSql.ts"
import * as KeyStockSql from "../../../storage/keys/KeyStockSql.ts"
import * as GuardedCreatesSql from "../../../storage/links/GuardedCreatesSql.ts"
import { LinkAnnouncer } from "../../../storage/links/LinkInvalidationsLocal.ts"
import * as LinkLifetimeSql from "../../../storage/links/LinkLifetimeSql.ts"
import * as LinkRemovalsSql from "../../../storage/links/LinkRemovalsSql.ts"
import { LinkStore } from "../../../storage/links/LinkStore.ts"
import * as LinkStoreSql from "../../../storage/links/LinkStoreSql.ts"
import * as Migrations from "../../../storage/sql/Migrations.ts"
import { asStorageError } from "../../../storage/sql/SqlTransaction.ts"
import * as SqliteClient from "../../../storage/sql/SqliteClient.ts"
import type { StorageError } from "../../../storage/StorageError.ts"
import type { VisitStore } from "../../../storage/visits/VisitStore.ts"
import * as VisitStoreSql from "../../../storage/visits/VisitStoreSql.ts"
import type { Delivery, WebhookStore } from "../../../storage/webhooks/WebhookStore.ts"
import * as WebhookStoreSql from "../../../storage/webhooks/WebhookStoreSql.ts"
import type { Backends } from "../../mutants/Mutation.ts"
import type { UsersBySql } from "./ComparedUsers.ts"
import * as SqliteHere from "./SqliteHere.ts"

/** What the database does at one moment, with its visits. */
export interface Stores extends Backends {
  readonly visits: typeof VisitStore.Service
}

/** What the database knows of users. */
export interface UserStores {
  readonly accounts: typeof AccountStore.Service
  readonly audit: typeof AuditLog.Service
  readonly quotas: typeof QuotaStore.Service
  readonly webhooks: typeof WebhookStore.Service
}

/** The stores of production over SQL. */
export interface BySql extends Stores {
  readonly domains: typeof DomainStore.Service
  readonly users: UsersBySql
}

/** The shard of a batch that is open only while keys are freed: it has all minted keys that may be. */
const shardOfEnded = -1

/** Gives as well those of such keys that the batch still has in the end. */
const recording =
  (sql: SqlClient.SqlClient) =>
  <A, E>(
    freeing: Effect.Effect<A, E>
  ): Effect.Effect<readonly [A, ReadonlySet<string>], E | StorageError> => {
    const ofShard = sql`shard = ${shardOfEnded}`
    const open = Effect.gen(function* () {
      const ended = yield* sql<{
        readonly key: string
      }>`SELECT key FROM links WHERE deleted_at IS NOT NULL AND NOT custom`
      const keys = KeyStockSql.textOf(fromStrings(ended.map(({ key }) => plainKeyOf(key))))
      yield* sql`INSERT OR REPLACE INTO pool_batches (shard, epoch, sequence, keys) VALUES (${shardOfEnded}, 0, 0, ${keys})`
      return ended
    })
    const asked = asStorageError("LinkLifetime.recycle")
    return Effect.acquireUseRelease(
      asked(open),
      (ended) =>
        Effect.zip(
          freeing,
          sql<{ readonly keys: string }>`SELECT keys FROM pool_batches WHERE ${ofShard}`.pipe(
            Effect.map(([batch]) => {
              const left = new Set(toStrings(KeyStockSql.keysOf(batch!.keys)))
              return new Set(ended.flatMap(({ key }) => (left.has(plainKeyOf(key)) ? [key] : [])))
            }),
            asked
          )
        ),
      () => Effect.ignore(sql`DELETE FROM pool_batches WHERE ${ofShard}`)
    )
  }

/**
 * What ends and frees links, which gives those alone that it announces to its process meanwhile, and of which it keeps no ranks (`ranked`) and no records (`recorded`) once they are free: what it keeps from the
 * caches, or keeps, is missing.
 */
const showing = (
  { lifetime, ownersGone }: Pick<Stores, "lifetime" | "ownersGone">,
  announced: Set<string>,
  ranked: Effect.Effect<ReadonlySet<string>>,
  recorded: ReturnType<typeof recording>
): Pick<Stores, "lifetime" | "ownersGone"> => {
  const only = <A, E>(ended: Effect.Effect<ReadonlyArray<A>, E>, keyOf: (one: A) => string) =>
    Effect.suspend(() => {
      announced.clear()
      return Effect.map(ended, (all) => all.filter((one) => announced.has(keyOf(one))))
    })
  return {
    lifetime: {
      ...lifetime,
      expire: (keys) => only(lifetime.expire(keys), identity),
      expireSome: (count) => only(lifetime.expireSome(count), identity),
      recycle: (options) =>
        Effect.zipWith(
          recorded(only(lifetime.recycle(options), ({ key }) => key)),
          ranked,
          ([freed, inRecords], inRanks) => freed.filter(({ key }) => !inRanks.has(key) && !inRecords.has(key))
        )
    },
    ownersGone: { ...ownersGone, remove: (count) => only(ownersGone.remove(count), identity) }
  }
}

/** The stores of production over an SQLite database of their own, by a clock. Nothing that they do waits for anything. */
export const make = (
  clock: Clock.Clock,
  keyStock: Exclude<StockKind, "file"> | undefined,
  rewritten?: SqliteHere.Rewritten,
  failing?: BrokenStatements["next"]
): Effect.Effect<BySql, never, Scope.Scope> =>
  Effect.gen(function* () {
    const sql = yield* Effect.flatMap(SqliteHere.make(rewritten, failing), SqliteClient.over)
    return yield* Effect.gen(function* () {
      yield* Effect.orDie(Migrations.migrate)
      const stock = yield* KeyStockSql.make(keyStock)
      const links = yield* LinkStoreSql.make
      const announced = new Set<string>()
      const ranked = sql<{ readonly link_key: string }>`SELECT link_key FROM link_ranks`.pipe(
        Effect.map((rows) => new Set(rows.map(({ link_key }) => link_key))),
        Effect.orDie
      )
      const ends = yield* Effect.all({
        lifetime: Effect.provideService(LinkLifetimeSql.make, KeyStock, stock),
        ownersGone: LinkRemovalsSql.make
      }).pipe(Effect.provideService(LinkAnnouncer, (keys) => keys.forEach((key) => announced.add(key))))
      return {
        links,
        stock,
        guarded: yield* Effect.provideService(GuardedCreatesSql.make, LinkStore, links),
        ...showing(ends, announced, ranked, recording(sql)),
        ranges: yield* KeyRangeStoreSql.make,
        visits: yield* VisitStoreSql.make,
        domains: yield* DomainStoreSql.make,
        users: {
          accounts: yield* AccountStoreSql.make,
          audit: yield* AuditLogSql.make,
          quotas: yield* QuotaStoreSql.make(Clock.currentTimeMillis),
          webhooks: yield* WebhookStoreSql.make,
          rename: ({ id, webhookId }: Delivery, names: Pick<Delivery, "id" | "lease">) =>
            Effect.zipRight(
              sql`UPDATE webhook_messages SET ${sql.update(names)} WHERE webhook_id = ${webhookId} AND id = ${id}`,
              sql`UPDATE webhook_joined SET message_id = ${names.id} WHERE webhook_id = ${webhookId} AND message_id = ${id}`
            ),
          sealing: ({ id, webhookId }: Delivery) =>
            sql<{ readonly sealed: number; readonly queuedAt: number }>`
              SELECT sealed, queued_at AS "queuedAt" FROM webhook_messages WHERE webhook_id = ${webhookId} AND id = ${id}`.pipe(
              Effect.map(([row]) => row && { isSealed: row.sealed === 1, queuedAt: row.queuedAt })
            )
        }
      }
    }).pipe(Effect.provideService(SqlClient.SqlClient, sql))
  }).pipe(Effect.withClock(clock), Effect.withTracerEnabled(false))
