import { fileURLToPath } from "node:url"
import type { FileSystem } from "@effect/platform/FileSystem"
import type { Path } from "@effect/platform/Path"
import type { SocketServerError } from "@effect/platform/SocketServer"
import type { Sharding } from "@effect/cluster/Sharding"
import type { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import { type Context, Duration, Effect, Layer, Option, Redacted } from "effect"
import * as Accounts from "../accounts/Accounts.ts"
import * as AuditSweep from "../actors/AuditSweep.ts"
import * as Administrator from "../accounts/Administrator.ts"
import * as Users from "../accounts/Users.ts"
import * as Quotas from "../accounts/Quotas.ts"
import * as RateLimiter from "../accounts/RateLimiter.ts"
import * as Sessions from "../accounts/Sessions.ts"
import * as KeyMetrics from "../actors/keys/KeyMetrics.ts"
import { followersMax } from "../actors/keys/KeyRing.ts"
import * as Batcher from "../fibers/Batcher.ts"
import * as LinkCarrying from "../actors/links/LinkCarrying.ts"
import * as LinkRemoval from "../actors/links/LinkRemoval.ts"
import * as PoolRest from "../actors/keys/PoolRest.ts"
import * as PoolWarmUp from "../actors/keys/PoolWarmUp.ts"
import * as VisitMaintenance from "../visits/VisitMaintenance.ts"
import { VisitRetention } from "../visits/VisitRetention.ts"
import * as WitnessWatch from "../actors/WitnessWatch.ts"
import { layerEmbedded } from "./Cluster.ts"
import * as ClusterRunner from "./ClusterRunner.ts"
import { DeploymentName, layerAdminKey, layerHash, layerMinter } from "./Deployment.ts"
import * as Documents from "../http/contract/Documents.ts"
import * as ClientAddress from "../http/exchange/ClientAddress.ts"
import * as DomainProofs from "../http/domains/DomainProofs.ts"
import * as Domains from "../http/domains/Domains.ts"
import * as LongAliases from "../http/domains/LongAliases.ts"
import * as LinkAnswers from "../http/links/LinkAnswers.ts"
import * as HttpServer from "../http/server/Server.ts"
import * as VisitOptOutLive from "../http/redirects/VisitOptOutLive.ts"
import * as VisitorCountryLive from "../http/redirects/VisitorCountryLive.ts"
import * as VisitorHashLive from "../http/redirects/VisitorHashLive.ts"
import * as Passwords from "../accounts/Passwords.ts"
import * as TargetPolicy from "../http/links/TargetPolicy.ts"
import { adding } from "./Adding.ts"
import * as Parts from "./Parts.ts"
import type { Settings } from "./Settings.ts"
import * as Stock from "./Stock.ts"
import * as AccountStoreSql from "../storage/accounts/AccountStoreSql.ts"
import * as DomainStoreSql from "../storage/domains/DomainStoreSql.ts"
import * as AuditLogSql from "../storage/accounts/AuditLogSql.ts"
import * as VisitTotals from "../http/links/VisitTotals.ts"
import * as DataFolder from "../storage/nodes/DataFolder.ts"
import * as DeploymentStore from "../storage/nodes/DeploymentStore.ts"
import type { DatabasesMismatch } from "../storage/homes/FurtherDatabase.ts"
import * as LinkDatabases from "../storage/homes/LinkDatabases.ts"
import * as LinkHomes from "../storage/homes/LinkHomes.ts"
import * as VisitDatabases from "../storage/homes/VisitDatabases.ts"
import type { KeyStock } from "../storage/keys/KeyStock.ts"
import { FurtherDomains } from "../storage/links/FurtherDomains.ts"
import type { GuardedCreates } from "../storage/links/GuardedCreates.ts"
import * as GuardedCreatesSql from "../storage/links/GuardedCreatesSql.ts"
import type { KeyPool } from "../storage/keys/KeyPool.ts"
import * as KeyPoolMemory from "../storage/keys/KeyPoolMemory.ts"
import * as KeyPoolRedis from "../storage/keys/KeyPoolRedis.ts"
import * as KeyLedger from "../storage/keys/KeyLedger.ts"
import * as LinkInvalidationsLocal from "../storage/links/LinkInvalidationsLocal.ts"
import type { LinkLifetime } from "../storage/links/LinkLifetime.ts"
import * as LinkLifetimeSql from "../storage/links/LinkLifetimeSql.ts"
import type { LinkRemovals } from "../storage/links/LinkRemovals.ts"
import * as LinkRemovalsSql from "../storage/links/LinkRemovalsSql.ts"
import type { LinkStore } from "../storage/links/LinkStore.ts"
import * as LinkStoreSql from "../storage/links/LinkStoreSql.ts"
import * as WebhookOutbox from "../storage/webhooks/WebhookOutbox.ts"
import * as Migrations from "../storage/sql/Migrations.ts"
import * as NodeReports from "../storage/nodes/NodeReports.ts"
import * as Durability from "../storage/sql/postgres/Durability.ts"
import * as DatabasePresence from "../storage/sql/postgres/DatabasePresence.ts"
import * as DatabaseServers from "../storage/sql/postgres/DatabaseServers.ts"
import type { SessionLost } from "../storage/sql/postgres/PersistentSession.ts"
import * as LinkReplicasPostgres from "../storage/links/LinkReplicasPostgres.ts"
import * as LinkInvalidationsPostgres from "../storage/links/LinkInvalidationsPostgres.ts"
import * as PostgresClient from "../storage/sql/postgres/PostgresClient.ts"
import type { QuotaStore } from "../storage/accounts/QuotaStore.ts"
import * as QuotaStoreSql from "../storage/accounts/QuotaStoreSql.ts"
import * as RunnersSeen from "../storage/nodes/RunnersSeen.ts"
import * as ShardOwnership from "../storage/keys/ShardOwnership.ts"
import * as SqliteClient from "../storage/sql/SqliteClient.ts"
import type { StorageError } from "../storage/StorageError.ts"
import * as Metered from "../telemetry/Metered.ts"
import * as TrustedTime from "../time/TrustedTime.ts"
import { VisitsApart } from "../storage/visits/VisitRemovals.ts"
import type { VisitStore } from "../storage/visits/VisitStore.ts"
import * as VisitStoreSql from "../storage/visits/VisitStoreSql.ts"
import * as WebhookListeners from "../storage/webhooks/WebhookListeners.ts"
import type { WebhookStore } from "../storage/webhooks/WebhookStore.ts"
import * as WebhookStoreSql from "../storage/webhooks/WebhookStoreSql.ts"
import * as Witnesses from "./Witnesses.ts"
import type { Witness } from "../storage/nodes/Witness.ts"
import * as Pulse from "../time/Pulse.ts"
import * as Visits from "../visits/Visits.ts"
import * as VisitEvents from "../webhooks/VisitEvents.ts"
import * as WebhookDelivery from "../webhooks/WebhookDelivery.ts"
import * as WebhookUpkeep from "../webhooks/WebhookUpkeep.ts"
import * as WebhookMessages from "../webhooks/WebhookMessages.ts"
import * as WebhookSender from "../webhooks/WebhookSender.ts"

/** Links in a node's redirect cache, which bounds their bytes as well: some 100 MB with URLs of 100 characters (`npm run bench -- --case memory`). */
const redirectCacheMax = 100_000

/** Statements of one kind that a node runs at once on PostgreSQL. SQLite has one writer, so there it is one. */
const inFlightMax = 4

/** Rows that are rolled up in one step. SQLite takes up to 30 ms for the values of 10 rows, and writes nothing else meanwhile. */
const rollUpMax = { sqlite: 10, postgres: 200 }

/** The number of links up to which the ledger is counted while requests are served: some 30 ms on SQLite, where it occupies one of two readers, and a second on PostgreSQL. */
const countedMax = { sqlite: 100_000, postgres: 5_000_000 }

/** How soon the witnesses learn about new links. A file is synced each time; SQLite, which has no standby, forgets only when it is restored. */
const compareEvery = { sqlite: Duration.seconds(1), postgres: Duration.millis(200) }

/** How the operating system and the other nodes identify this process. */
export interface NodeIdentity {
  readonly pid: number
  /** A text that is unique to this start of this node. */
  readonly incarnation: string
}

/** What differs between a process alone and a node of a cluster. */
interface Surroundings {
  readonly database: Layer.Layer<
    SqlClient,
    | SqlError
    | StorageError
    | DatabasePresence.DatabaseInUse
    | SessionLost
    | DataFolder.DataFolderInUse
    | DataFolder.DataFolderUnusable
    | SqliteClient.SqliteOpenError,
    FileSystem | Path
  >
  readonly runner: Layer.Layer<Sharding, SocketServerError | SqlError>
  readonly pool: Layer.Layer<KeyPool, never, DeploymentName | KeyStock>
  /** What remembers the database's mark outside the database. */
  readonly witness: Layer.Layer<Witness, never, DeploymentName>
  /** How often the witness learns about new links. */
  readonly compareEvery: Duration.Duration
  /** Announces changes of links to caches. */
  readonly changes: Layer.Layer<never>
  readonly ownership: Layer.Layer<never, never, SqlClient>
  readonly quotas: Layer.Layer<QuotaStore, never, SqlClient>
  /** The reports of nodes. */
  readonly nodes: Layer.Layer<NodeReports.NodeReports | RunnersSeen.RunnersSeen, never, SqlClient>
  /** The address that other nodes and administrators see. */
  readonly address: string
  readonly inFlightMax: number
  /** The number of links up to which the ledger is counted. */
  readonly countedMax: number
}

/** SQLite in the data folder, which belongs to this process alone, migrated. */
export const sqlite = (folder: string, pid: number) =>
  Migrations.layer.pipe(
    Layer.provideMerge(
      Layer.unwrapEffect(
        Effect.map(DataFolder.DataFolder, ({ clockFile, databaseFile }) =>
          Layer.provideMerge(SqliteClient.layer(databaseFile), TrustedTime.layerWall(clockFile))
        )
      )
    ),
    Layer.provide(DataFolder.layer(folder, pid))
  )

/** PostgreSQL, migrated. Nothing uses it before this process has registered its presence. */
const postgres = (
  servers: Layer.Layer<DatabaseServers.DatabaseServers>,
  presence: "alone" | "cluster",
  { databaseReplicaUrls, linkDatabaseUrls }: Pick<Settings, "databaseReplicaUrls" | "linkDatabaseUrls">
) =>
  Durability.layer.pipe(
    Layer.merge(
      LinkReplicasPostgres.layer(
        Option.match(databaseReplicaUrls, { onNone: () => [], onSome: Redacted.value })
      )
    ),
    Layer.provideMerge(PostgresClient.layer),
    Layer.provide(Migrations.layer.pipe(Layer.provide(PostgresClient.layerUnbounded))),
    Layer.provideMerge(DatabasePresence.layer(presence, 1 + linkDatabaseUrls.length)),
    Layer.provide(servers),
    Layer.provideMerge(TrustedTime.layerDatabase)
  )

/** The pool of a process alone. */
export const poolInMemory = ({ bufferCapacity }: Pick<Settings, "bufferCapacity">) =>
  KeyPoolMemory.layer({ shards: 1, settleAfter: followersMax(bufferCapacity) })

/** A process alone: its actors, its pool and its caches are in its memory. */
const alone = (settings: Settings, { incarnation, pid }: NodeIdentity): Surroundings => ({
  ...Option.match(settings.databaseUrl, {
    onNone: (): Pick<Surroundings, "changes" | "database"> => ({
      database: sqlite(settings.dataDir, pid),
      changes: LinkInvalidationsLocal.layer
    }),
    onSome: (url) => {
      const servers = DatabaseServers.layer(url)
      // A statement that was given up may still change a link when the process has read it again.
      return {
        database: postgres(servers, "alone", settings),
        changes: Layer.provide(LinkInvalidationsPostgres.layer, servers)
      }
    }
  }),
  runner: layerEmbedded,
  pool: Layer.provideMerge(PoolRest.layer, poolInMemory(settings)),
  witness: Witnesses.alone(settings),
  compareEvery: Option.isNone(settings.databaseUrl) ? compareEvery.sqlite : compareEvery.postgres,
  ownership: Layer.empty,
  quotas: QuotaStoreSql.layer,
  nodes: Layer.merge(NodeReports.layerMemory, RunnersSeen.layerAlone(incarnation)),
  address: `${settings.runnerHost}:${settings.port}`,
  inFlightMax: Option.isNone(settings.databaseUrl) ? 1 : inFlightMax,
  countedMax: Option.isNone(settings.databaseUrl) ? countedMax.sqlite : countedMax.postgres
})

/** A node of a cluster: it shares PostgreSQL and Redis with others. */
const clustered = (
  settings: Settings,
  { incarnation }: NodeIdentity,
  databaseUrl: Redacted.Redacted,
  urls: Parameters<typeof KeyPoolRedis.layer>[0]["urls"]
): Surroundings => {
  const applicationName = ShardOwnership.sessionName(incarnation)
  // One value, so that all connections share what is known about the servers.
  const servers = DatabaseServers.layer(databaseUrl)
  return {
    database: postgres(servers, "cluster", settings),
    runner: ClusterRunner.layer({
      host: settings.runnerHost,
      port: settings.runnerPort,
      listenHost: settings.host,
      role: settings.nodeRole,
      applicationName
    }).pipe(Layer.provide(servers)),
    pool: Layer.unwrapEffect(
      Effect.map(DeploymentName, (namespace) =>
        KeyPoolRedis.layer({ urls, namespace, kind: settings.keyPool })
      )
    ),
    witness: Witnesses.clustered(urls),
    compareEvery: compareEvery.postgres,
    changes: Layer.provide(LinkInvalidationsPostgres.layer, servers),
    ownership: ShardOwnership.layerPostgres(applicationName),
    quotas: QuotaStoreSql.layerDatabaseClock,
    nodes: Layer.merge(NodeReports.layerSql, RunnersSeen.layerPostgres),
    address: `${settings.runnerHost}:${settings.nodeRole === "all" ? settings.runnerPort : settings.port}`,
    inFlightMax,
    countedMax: countedMax.postgres
  }
}

/** What has to do with links, in one database. The transaction that changes a link also queues the event for its owner's webhooks. */
const linksInOne = (messages: WebhookOutbox.OutboxMessages) =>
  Layer.mergeAll(
    LinkRemovalsSql.layer,
    LinkLifetimeSql.layer,
    VisitStoreSql.layer,
    GuardedCreatesSql.layer.pipe(
      Layer.provideMerge(WebhookOutbox.layer(messages)),
      Layer.provide(LinkStoreSql.layer)
    )
  )

/** Counts keys that left a database of links and did not reach the stock. */
const lostOnTheWay = { lost: (keys: number) => Metered.add(KeyMetrics.lost["not-carried"], keys) }

/** The same in one database or several. */
const links = (
  { linkDatabaseUrls }: Pick<Settings, "linkDatabaseUrls">,
  messages: WebhookOutbox.OutboxMessages
): Layer.Layer<
  GuardedCreates | LinkLifetime | LinkRemovals | LinkStore | VisitStore,
  DatabasesMismatch | SqlError | StorageError,
  DeploymentStore.DeploymentStore | KeyStock | SqlClient | WebhookListeners.WebhookListeners | WebhookStore
> =>
  linkDatabaseUrls.length === 0
    ? linksInOne(messages)
    : LinkHomes.layer(linkDatabaseUrls, messages, lostOnTheWay)

/** Visits in databases of their own: what is here replaces what {@link links} gives of them. */
const visits = ({
  visitDatabaseUrls
}: Pick<Settings, "visitDatabaseUrls">): Layer.Layer<
  never,
  DatabasesMismatch | SqlError | StorageError,
  DeploymentStore.DeploymentStore | SqlClient
> => (visitDatabaseUrls.length === 0 ? Layer.empty : VisitDatabases.layer(visitDatabaseUrls))

/** Checks what `DATABASE_URL` names before anything is decided there. */
const controlChecked = ({ databaseUrl, linkDatabaseUrls, visitDatabaseUrls }: Settings) =>
  Option.isNone(databaseUrl)
    ? Layer.empty
    : Layer.effectDiscard(
        Effect.zipRight(
          LinkDatabases.checkControl(1 + linkDatabaseUrls.length),
          VisitDatabases.checkControl(visitDatabaseUrls.length)
        )
      )

/** Every store over the SQL client. */
const stores =
  (
    settings: Settings,
    surroundings: Surroundings,
    messages: WebhookOutbox.OutboxMessages,
    domains: Domains.KnownDomains
  ) =>
  <Has, E, R>(before: Effect.Effect<Context.Context<Has>, E, R>) =>
    before.pipe(
      adding(WebhookStoreSql.layer),
      adding(WebhookListeners.layer),
      adding(AccountStoreSql.layer),
      adding(DomainStoreSql.layer),
      adding(Domains.layer(domains)),
      adding(LongAliases.layer(domains, Option.isNone(settings.databaseUrl))),
      adding(DomainProofs.layer),
      adding(AuditLogSql.layer),
      adding(surroundings.witness),
      adding(Stock.layer(settings)),
      adding(surroundings.quotas),
      adding(surroundings.nodes),
      adding(Layer.succeed(FurtherDomains, { areInUse: () => domains.areInUse })),
      adding(Layer.succeed(VisitsApart, settings.visitDatabaseUrls.length > 0)),
      adding(links(settings, messages)),
      adding(visits(settings)),
      adding(KeyLedger.layer(surroundings.countedMax)),
      adding(surroundings.ownership)
    )

/** The parts between the stores and the HTTP service. The counting of visits stops after the requests, and writes the rest. */
const parts =
  (
    settings: Settings,
    surroundings: Surroundings,
    { incarnation }: NodeIdentity,
    messages: WebhookMessages.Messages
  ) =>
  <Has, E, R>(before: Effect.Effect<Context.Context<Has>, E, R>) => {
    const database = Option.isNone(settings.databaseUrl) ? "sqlite" : "postgres"
    return before.pipe(
      adding(
        Layer.succeed(VisitRetention, {
          hours_days: Math.floor(Duration.toDays(settings.visitHoursRetention)),
          days_days: Math.floor(Duration.toDays(settings.visitDaysRetention))
        })
      ),
      adding(VisitMaintenance.layer({ stepMax: rollUpMax[database] })),
      adding(ClientAddress.layer(settings.trustedProxies)),
      adding(VisitOptOutLive.layer(settings)),
      adding(VisitorCountryLive.layer(settings)),
      adding(VisitorHashLive.layer),
      adding(VisitEvents.layer(messages.visited)),
      Parts.parts({
        inFlightMax: surroundings.inFlightMax,
        runner: surroundings.runner,
        pool: { low: settings.poolLow, high: settings.poolHigh },
        bufferCapacity: settings.bufferCapacity,
        redirectCacheMax,
        staleRedirects: settings.staleRedirects,
        recycleQuarantine: settings.recycleQuarantine,
        keyStockTarget: settings.keyStockTarget,
        visits: {
          ownHost: settings.baseUrl.hostname,
          writer: incarnation,
          batchCountsMax: Visits.batchCountsMax[database]
        }
      })
    )
  }

/** What runs beside requests. */
const beside = (settings: Settings, { compareEvery }: Surroundings) =>
  Layer.mergeAll(
    AuditSweep.layer(settings.auditRetention),
    LinkRemoval.layer,
    settings.linkDatabaseUrls.length + settings.visitDatabaseUrls.length === 0
      ? Layer.empty
      : LinkCarrying.layer,
    WitnessWatch.layer(compareEvery),
    PoolWarmUp.layer
  )

/**
 * A whole node in this process, from the database to the listening socket. The parts stop in this order: requests first, then the
 * buffer, which returns its keys, then the actors, then the database.
 *
 * Provides the administrator's key and password, which the first start prints.
 */
export const layer = (settings: Settings, identity: NodeIdentity) => {
  const { baseUrl, blocklistFile, defaultExpiry, drainDelay, host, port } = settings
  const surroundings = Option.match(Option.all([settings.databaseUrl, settings.redisUrls]), {
    onNone: () => alone(settings, identity),
    onSome: ([databaseUrl, redisUrls]) => clustered(settings, identity, databaseUrl, redisUrls)
  })
  const poolMarks = { low: settings.poolLow, high: settings.poolHigh }
  const domains = new Domains.KnownDomains({ ownHost: baseUrl.hostname, unknownHosts: settings.unknownHosts })
  const naming = { baseUrl, domains }
  const messages = WebhookMessages.make({
    link: (link) => LinkAnswers.bodyOf(link, naming, VisitTotals.none),
    names: (text) => LinkAnswers.namesOf(text, naming)
  })
  const http = HttpServer.layer({
    host,
    port,
    drainDelay,
    connectionsMax: settings.connectionsMax,
    perClientMax: settings.connectionsPerClient,
    own: { baseUrl, port },
    defaultExpiry,
    anonymousCreates: settings.anonymousCreates,
    signUp: settings.signUp,
    allowPrivateWebhooks: settings.allowPrivateWebhooks,
    metricsToken: settings.metricsToken,
    node: { id: identity.incarnation, address: surroundings.address, role: settings.nodeRole },
    poolMarks,
    ...(Option.isSome(settings.metricsPort) && { metricsPort: settings.metricsPort.value }),
    documents: Documents.read(fileURLToPath(new URL("../http/contract", import.meta.url))),
    webFolder: fileURLToPath(new URL("../http/web", import.meta.url)),
    brand: settings.brand,
    ...(Option.isSome(settings.messagesDir) && { messagesDir: settings.messagesDir.value })
  })
  const delivery = WebhookDelivery.layer.pipe(
    Layer.provide(WebhookSender.layer({ allowPrivate: settings.allowPrivateWebhooks })),
    Layer.merge(WebhookUpkeep.layer)
  )
  return Layer.scopedContext(
    Effect.context<FileSystem | Path>().pipe(
      adding(Layer.provideMerge(surroundings.database, Pulse.layer)),
      adding(controlChecked(settings)),
      adding(DeploymentStore.layer),
      adding(surroundings.changes),
      adding(layerMinter(settings)),
      adding(layerHash(settings)),
      stores(settings, surroundings, messages, domains),
      adding(Passwords.layer),
      adding(layerAdminKey(settings)),
      adding(Administrator.layer({ drawsPassword: Option.isNone(settings.databaseUrl) })),
      adding(surroundings.pool),
      parts(settings, surroundings, identity, messages),
      adding(Sessions.layer({ idle: settings.sessionIdle })),
      adding(Accounts.layer),
      adding(Users.layer),
      adding(RateLimiter.layer),
      adding(Quotas.layer(settings)),
      adding(TargetPolicy.layer({ blocklistFile, blockPrivate: settings.blockPrivateTargets })),
      adding(beside(settings, surroundings)),
      adding(Layer.merge(http, delivery))
    )
  ).pipe(Layer.provide(Layer.succeed(Batcher.GatheringTurn, Batcher.eventLoopTurn)))
}
