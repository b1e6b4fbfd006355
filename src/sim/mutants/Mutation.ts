import { Context } from "effect"
import type { Accounts } from "../../accounts/Accounts.ts"
import type { Passwords } from "../../accounts/Passwords.ts"
import type { Quotas } from "../../accounts/Quotas.ts"
import type { RateLimiter } from "../../accounts/RateLimiter.ts"
import type { Sessions } from "../../accounts/Sessions.ts"
import type { AccountStore } from "../../storage/accounts/AccountStore.ts"
import type { AuditLog } from "../../storage/accounts/AuditLog.ts"
import type { QuotaStore } from "../../storage/accounts/QuotaStore.ts"
import type { OutboxParts } from "../../storage/webhooks/WebhookOutbox.ts"
import type { WebhookStore } from "../../storage/webhooks/WebhookStore.ts"
import type { KeyBuffer } from "../../actors/keys/KeyBuffer.ts"
import type { RedirectCache } from "../../actors/links/RedirectCache.ts"
import type { DomainProofs } from "../../http/domains/DomainProofs.ts"
import type { HostPolicy, KnownDomains } from "../../http/domains/Domains.ts"
import type { TargetPolicyService } from "../../http/links/TargetPolicy.ts"
import type { Drain } from "../../http/server/Drain.ts"
import type { LateRequests } from "../../http/server/LateRequests.ts"
import type { KeyMinter } from "../../keys/KeyMinter.ts"
import type { Link } from "../../model/Link.ts"
import { GuardedCreates } from "../../storage/links/GuardedCreates.ts"
import type { GuardRow } from "../stores/GuardedCreatesMemory.ts"
import type { KeyFile } from "../../storage/keys/KeyFile.ts"
import { KeyPool } from "../../storage/keys/KeyPool.ts"
import { KeyRangeStore } from "../../storage/keys/KeyRangeStore.ts"
import { KeyStock } from "../../storage/keys/KeyStock.ts"
import type { Tables } from "../stores/KeyStockMemory.ts"
import { LinkInvalidations, type LinkInvalidationsService } from "../../storage/links/LinkInvalidations.ts"
import { LinkLifetime } from "../../storage/links/LinkLifetime.ts"
import { DatabaseMark } from "../../storage/nodes/DatabaseMark.ts"
import { Witness } from "../../storage/nodes/Witness.ts"
import type { LinkRemovals } from "../../storage/links/LinkRemovals.ts"
import { LinkStore } from "../../storage/links/LinkStore.ts"
import { VisitStore } from "../../storage/visits/VisitStore.ts"
import type { DomainStore } from "../../storage/domains/DomainStore.ts"
import type { TrustedTimeService } from "../../time/TrustedTime.ts"
import type { SessionBounds } from "../../storage/sql/postgres/PrimaryClient.ts"
import type { BucketPlacement } from "../../storage/links/buckets/BucketPlacement.ts"
import type { PoolOptions } from "../stores/database/Connections.ts"
import type { MoveDefects } from "../stores/homes/BucketMoves.ts"
import type { Rewritten } from "../stores/sql/SqliteHere.ts"
import type { VirtualDisk } from "../stores/VirtualDisk.ts"
import type { VirtualRedis } from "../redis/VirtualRedis.ts"
import type { VirtualProcess } from "../world/VirtualProcess.ts"

/** The ports of a process. */
export interface Ports {
  readonly links: typeof LinkStore.Service
  readonly guarded: typeof GuardedCreates.Service
  readonly ranges: typeof KeyRangeStore.Service
  readonly stock: typeof KeyStock.Service
  readonly lifetime: typeof LinkLifetime.Service
  readonly pool: typeof KeyPool.Service
  readonly visits: typeof VisitStore.Service
  readonly changes: LinkInvalidationsService
  readonly mark: typeof DatabaseMark.Service
  readonly witness: typeof Witness.Service
}

/** What the database does at one moment, over its tables. */
export interface Backends {
  readonly links: typeof LinkStore.Service
  readonly guarded: typeof GuardedCreates.Service
  readonly ranges: typeof KeyRangeStore.Service
  readonly stock: typeof KeyStock.Service
  readonly lifetime: typeof LinkLifetime.Service
  readonly ownersGone: typeof LinkRemovals.Service
}

/** The database's tables. */
export interface DatabaseTables {
  readonly rows: Map<string, Link>
  /** When each tombstone was written, in milliseconds since the Unix epoch. */
  readonly ended: Map<string, number>
  readonly guards: Map<string, GuardRow>
  readonly stocked: Tables
}

/**
 * What takes the place of sound parts, in the simulation alone. One is made for each run, since it may remember things. Each function is given the sound
 * part, and gives what stands in for it.
 */
export interface Mutation {
  readonly ports?: (ports: Ports, process: VirtualProcess) => Partial<Ports>
  readonly database?: (backends: Backends, tables: DatabaseTables) => Partial<Backends>
  /** The SQL of the stores of production, where those of the database are compared with them. */
  readonly statement?: Rewritten
  /** How processes are connected to the database: the bounds of their sessions that differ from production's, and their pools. */
  readonly connections?: {
    readonly bounds?: Partial<SessionBounds>
    readonly pool?: Partial<PoolOptions>
  }
  readonly minter?: (minter: typeof KeyMinter.Service, process: VirtualProcess) => typeof KeyMinter.Service
  /** What a process reads links from while the database is away. */
  readonly linkReplica?: (
    read: (typeof LinkStore.Service)["findMany"],
    process: VirtualProcess
  ) => (typeof LinkStore.Service)["findMany"]
  /** The key file on a node's disk. */
  readonly file?: (
    file: typeof KeyFile.Service,
    disk: VirtualDisk,
    process: VirtualProcess
  ) => typeof KeyFile.Service
  /** Replaces methods of a pool shard's Redis. */
  readonly redis?: (redis: VirtualRedis) => void
  readonly buffer?: (buffer: typeof KeyBuffer.Service, process: VirtualProcess) => typeof KeyBuffer.Service
  readonly cache?: (
    cache: typeof RedirectCache.Service,
    process: VirtualProcess
  ) => typeof RedirectCache.Service
  /** What users' quotas are leased from, what records what they do, what takes their events to webhooks, and what limits. */
  readonly quotas?: (store: typeof QuotaStore.Service, process: VirtualProcess) => typeof QuotaStore.Service
  readonly audit?: (log: typeof AuditLog.Service, process: VirtualProcess) => typeof AuditLog.Service
  readonly webhooks?: (
    store: typeof WebhookStore.Service,
    process: VirtualProcess
  ) => typeof WebhookStore.Service
  readonly limiter?: (
    limiter: typeof RateLimiter.Service,
    process: VirtualProcess
  ) => typeof RateLimiter.Service
  readonly quotasOf?: (quotas: typeof Quotas.Service) => typeof Quotas.Service
  readonly accounts?: (accounts: typeof Accounts.Service, process: VirtualProcess) => typeof Accounts.Service
  /** Where links may lead. */
  readonly targets?: (targets: TargetPolicyService) => TargetPolicyService
  /** By which the passwords of links are checked. */
  readonly passwords?: (passwords: typeof Passwords.Service) => typeof Passwords.Service
  readonly sessions?: (sessions: typeof Sessions.Service, process: VirtualProcess) => typeof Sessions.Service
  /** What the database does at one moment with users. */
  readonly users?: (accounts: typeof AccountStore.Service) => typeof AccountStore.Service
  /** What the database does at one moment with quotas. */
  readonly quotaTables?: (quotas: typeof QuotaStore.Service) => typeof QuotaStore.Service
  /** What the database does at one moment with webhooks. */
  readonly webhookTables?: (webhooks: typeof WebhookStore.Service) => typeof WebhookStore.Service
  /** What queues events in the transaction of a change. */
  readonly outbox?: (
    outbox: typeof LinkStore.Service,
    parts: Omit<OutboxParts, "listeners">
  ) => typeof LinkStore.Service
  /** Where a process believes buckets to be, where several databases have links. */
  readonly placement?: (
    store: typeof BucketPlacement.Service,
    process: VirtualProcess
  ) => typeof BucketPlacement.Service
  /** What fences writers that have an old placement, and the steps of a move. */
  readonly moves?: MoveDefects
  /** What a process reads of further domains, and of aliases of several segments. */
  readonly domains?: (
    store: typeof DomainStore.Service,
    process: VirtualProcess
  ) => typeof DomainStore.Service
  /** Where the proofs of domains are looked for. */
  readonly proofs?: (proofs: typeof DomainProofs.Service) => typeof DomainProofs.Service
  /** What a node knows of domains, before it has read any. */
  readonly knownDomains?: (policy: HostPolicy) => KnownDomains
  /** What a process's clock shows, in milliseconds since the Unix epoch. */
  readonly clock?: (process: VirtualProcess) => () => number
  /** What a node knows of its time. */
  readonly time?: (time: TrustedTimeService) => TrustedTimeService
  /** What a node does with requests that it reads after it stood still. */
  readonly late?: (late: LateRequests) => LateRequests
  /** How a node stops serving. */
  readonly drain?: (drain: Drain, process: VirtualProcess) => Drain
}

/** Nothing is broken. */
export const sound: Mutation = {}

type PortTags =
  | LinkStore
  | GuardedCreates
  | KeyRangeStore
  | KeyStock
  | LinkLifetime
  | KeyPool
  | VisitStore
  | DatabaseMark
  | Witness

/** The ports of a process, as the mutation has them; those that it could replace are among the context's. */
export const mutatePorts = <A>(
  { ports }: Mutation,
  process: VirtualProcess,
  whole: Context.Context<A>
): Context.Context<A> => {
  if (ports === undefined) return whole
  const context = whole as unknown as Context.Context<PortTags>
  const soundPorts: Ports = {
    links: Context.get(context, LinkStore),
    guarded: Context.get(context, GuardedCreates),
    ranges: Context.get(context, KeyRangeStore),
    stock: Context.get(context, KeyStock),
    lifetime: Context.get(context, LinkLifetime),
    pool: Context.get(context, KeyPool),
    visits: Context.get(context, VisitStore),
    changes: Context.get(context, LinkInvalidations),
    mark: Context.get(context, DatabaseMark),
    witness: Context.get(context, Witness)
  }
  const { changes, guarded, lifetime, links, mark, pool, ranges, stock, visits, witness } = {
    ...soundPorts,
    ...ports(soundPorts, process)
  }
  return context.pipe(
    Context.add(LinkStore, links),
    Context.add(GuardedCreates, guarded),
    Context.add(KeyRangeStore, ranges),
    Context.add(KeyStock, stock),
    Context.add(LinkLifetime, lifetime),
    Context.add(KeyPool, pool),
    Context.add(VisitStore, visits),
    Context.add(LinkInvalidations, changes),
    Context.add(DatabaseMark, mark),
    Context.add(Witness, witness)
  ) as unknown as Context.Context<A>
}
