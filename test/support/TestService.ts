// The whole HTTP service on a real port of this machine, over the real actors and stores in memory that can be made to fail.

import { layer as withLayer, type Vitest } from "@effect/vitest"
import { NodeContext } from "@effect/platform-node"
import { Clock, Context, Duration, Effect, Either, Layer, Logger, LogLevel, Option, Redacted } from "effect"
import { fileURLToPath } from "node:url"
import type { KnownCaller, Scope } from "../../src/accounts/Access.ts"
import * as Accounts from "../../src/accounts/Accounts.ts"
import * as Administrator from "../../src/accounts/Administrator.ts"
import * as Users from "../../src/accounts/Users.ts"
import * as Quotas from "../../src/accounts/Quotas.ts"
import * as RateLimiter from "../../src/accounts/RateLimiter.ts"
import * as Sessions from "../../src/accounts/Sessions.ts"
import * as ReusedLinks from "../../src/actors/links/ReusedLinks.ts"
import * as Visits from "../../src/visits/Visits.ts"
import { VisitRetention, type VisitRetentionService } from "../../src/visits/VisitRetention.ts"
import * as VisitorHashLive from "../../src/http/redirects/VisitorHashLive.ts"
import * as VisitOptOutLive from "../../src/http/redirects/VisitOptOutLive.ts"
import { layerEmbedded } from "../../src/node/Cluster.ts"
import * as Parts from "../../src/node/Parts.ts"
import { AdminKey } from "../../src/accounts/AdminKey.ts"
import * as FairScheduler from "../../src/fibers/FairScheduler.ts"
import * as Documents from "../../src/http/contract/Documents.ts"
import * as ClientAddress from "../../src/http/exchange/ClientAddress.ts"
import * as Domains from "../../src/http/domains/Domains.ts"
import * as LongAliases from "../../src/http/domains/LongAliases.ts"
import type { BrandSettings } from "../../src/http/pages/Brand.ts"
import * as HttpServer from "../../src/http/server/Server.ts"
import { TargetPolicy, type TargetPolicyService } from "../../src/http/links/TargetPolicy.ts"
import type * as Iso8601 from "../../src/model/Iso8601.ts"
import * as KeyMinter from "../../src/keys/KeyMinter.ts"
import * as KeySpace from "../../src/keys/KeySpace.ts"
import { type Domain, domainsMax } from "../../src/model/Domain.ts"
import * as DomainStoreMemory from "../../src/sim/stores/DomainStoreMemory.ts"
import { DomainStore } from "../../src/storage/domains/DomainStore.ts"
import { DomainProofs } from "../../src/http/domains/DomainProofs.ts"
import { parseAll } from "../../src/model/Network.ts"
import * as Secret from "../../src/secrets/Secret.ts"
import { AccountStore } from "../../src/storage/accounts/AccountStore.ts"
import * as AccountStoreMemory from "../../src/sim/stores/AccountStoreMemory.ts"
import * as AuditLogMemory from "../../src/sim/stores/AuditLogMemory.ts"
import { AuditLog } from "../../src/storage/accounts/AuditLog.ts"
import type { Link } from "../../src/model/Link.ts"
import { GuardedCreates } from "../../src/storage/links/GuardedCreates.ts"
import * as GuardedCreatesMemory from "../../src/sim/stores/GuardedCreatesMemory.ts"
import * as DatabaseMarkMemory from "../../src/sim/stores/DatabaseMarkMemory.ts"
import { KeyLedger } from "../../src/storage/keys/KeyLedger.ts"
import { KeyPool } from "../../src/storage/keys/KeyPool.ts"
import * as KeyPoolMemory from "../../src/storage/keys/KeyPoolMemory.ts"
import { KeyRangeStore } from "../../src/storage/keys/KeyRangeStore.ts"
import * as KeyRangeStoreMemory from "../../src/sim/stores/KeyRangeStoreMemory.ts"
import { KeyStock } from "../../src/storage/keys/KeyStock.ts"
import * as KeyStockMemory from "../../src/sim/stores/KeyStockMemory.ts"
import { LinkStore } from "../../src/storage/links/LinkStore.ts"
import * as NodeReports from "../../src/storage/nodes/NodeReports.ts"
import * as RunnersSeen from "../../src/storage/nodes/RunnersSeen.ts"
import * as LinkGroupCommit from "../../src/storage/links/LinkGroupCommit.ts"
import * as LinkInvalidationsLocal from "../../src/storage/links/LinkInvalidationsLocal.ts"
import { LinkRemovals } from "../../src/storage/links/LinkRemovals.ts"
import * as LinkRemovalsMemory from "../../src/sim/stores/LinkRemovalsMemory.ts"
import * as LinkStoreMemory from "../../src/sim/stores/LinkStoreMemory.ts"
import { VisitStore } from "../../src/storage/visits/VisitStore.ts"
import * as VisitStoreMemory from "../../src/sim/stores/VisitStoreMemory.ts"
import * as QuotaStoreMemory from "../../src/sim/stores/QuotaStoreMemory.ts"
import * as WebhookListeners from "../../src/storage/webhooks/WebhookListeners.ts"
import { WebhookStore } from "../../src/storage/webhooks/WebhookStore.ts"
import * as WebhookStoreMemory from "../../src/sim/stores/WebhookStoreMemory.ts"
import * as CheapPasswords from "./CheapPasswords.ts"
import { testHashLayer } from "./TestHash.ts"
import { keyOf, userOf } from "./samples/SomeWebhooks.ts"
import { exercised } from "./services/Exercised.ts"
import { type Answer, agent, type NoAnswer, type Request, send } from "./http/HttpClient.ts"
import { type Fault, faultOf, faulty, type Faults } from "./StoreFaults.ts"
import { freePort } from "./FreePort.ts"
import * as StillClock from "./StillClock.ts"

/** The administrator's API key of every service under test. */
export const adminKey = "lm_the-administrator-of-tests"

/** The moment at which a service's clock stands until a test sets it. */
export const startOfTests_ms = Date.parse("2026-11-21T10:00:00.000Z")

/** How a service under test differs from the default one. */
export interface TestServiceOptions {
  /** `http://localhost:<its port>` by default. */
  readonly baseUrl?: URL
  readonly anonymousCreates?: boolean
  readonly defaultExpiry?: Iso8601.Duration
  readonly signUp?: boolean
  /** None by default. */
  readonly quotas?: Partial<Quotas.QuotaPolicy>
  /** Reverse proxies that it trusts. */
  readonly trustedProxies?: string
  /** Which visits it does not record; all are recorded by default. */
  readonly optOut?: VisitOptOutLive.VisitOptOutOptions
  /** How long it keeps visits, where not by default. */
  readonly retention?: VisitRetentionService
  /** Where links may lead; anywhere by default. */
  readonly targets?: TargetPolicyService
  /** Who bears it may read the metrics; everybody by default. */
  readonly metricsToken?: string
  /** Its further domains, numbered from 1 on; none by default. */
  readonly domains?: ReadonlyArray<Domain>
  /** As the default domain by default. */
  readonly unknownHosts?: "default" | "not-found"
  /** The folder of its web page; none by default. */
  readonly webFolder?: string
  /** Linkmint's own by default. */
  readonly brand?: BrandSettings
}

/** The marks of its only pool. */
export const poolMarks = { low: 100, high: 500 }

/** What happens between what a request reads of links and what it writes; nothing by default. */
interface Meanwhile {
  afterList: Effect.Effect<unknown, unknown>
  beforeWrite: (keys: ReadonlyArray<string>) => Effect.Effect<unknown, unknown>
}

/** A service that listens, and what the tests can do with it and see of it. */
export class TestService extends Context.Tag("test/TestService")<
  TestService,
  {
    readonly port: number
    readonly send: (request: Request) => Effect.Effect<Answer, NoAnswer>
    /** Links that its store has bound so far. */
    readonly stored: Effect.Effect<number>
    /** Keys that its store has been asked for so far. */
    readonly lookedUp: Effect.Effect<number>
    /** Where it counts visits. */
    readonly visits: typeof VisitStore.Service
    /** Its webhooks, whatever fault they are under. */
    readonly webhooks: typeof WebhookStore.Service
    /** Its audit log, whatever fault that is under. */
    readonly audit: typeof AuditLog.Service
    /** The deletion of links of users who are gone, likewise. */
    readonly removals: typeof LinkRemovals.Service
    /** Its accounts, likewise. */
    readonly accounts: typeof AccountStore.Service
    readonly clock: StillClock.StillClock
    /** What domains show: TXT records by name, after a wait, and files by host and path. */
    readonly shown: {
      readonly txt: Map<string, string>
      readonly files: Map<string, string>
      wait: Effect.Effect<void>
    }
    /** Its links, whatever fault they are under: what another node would do. */
    readonly links: typeof LinkStore.Service
    /** What happens just after a page of links has been read, and just before links are changed or deleted. */
    readonly meanwhile: Meanwhile
    /** Makes its stores fail, or be silent, until told otherwise. */
    readonly setFault: (store: keyof Faults, fault: Fault) => Effect.Effect<void>
  }
>() {}

const countedLinks = Effect.sync(() => {
  let bound = 0
  let lookedUp = 0
  const rows = new Map<string, Link>()
  const ended = new Map<string, number>()
  const store = LinkStoreMemory.makeOver(rows, ended)
  const meanwhile: Meanwhile = { afterList: Effect.void, beforeWrite: () => Effect.void }
  const asking =
    <Q extends { readonly key: string }, A, E>(write: (questions: ReadonlyArray<Q>) => Effect.Effect<A, E>) =>
    (questions: ReadonlyArray<Q>) =>
      Effect.suspend(() => Effect.orDie(meanwhile.beforeWrite(questions.map(({ key }) => key)))).pipe(
        Effect.zipRight(write(questions))
      )
  const counted = LinkStore.of({
    ...store,
    list: (query) => Effect.tap(store.list(query), () => Effect.orDie(meanwhile.afterList)),
    updateMany: asking(store.updateMany),
    deleteMany: asking(store.deleteMany),
    findMany: (keys) =>
      Effect.suspend(() => {
        lookedUp += keys.length
        return store.findMany(keys)
      }),
    insertMany: (links) =>
      Effect.tap(store.insertMany(links), (outcomes) =>
        Effect.sync(() => (bound += outcomes.filter(Boolean).length))
      )
  })
  return {
    store: counted,
    uncounted: store,
    meanwhile,
    rows,
    ended,
    bound: Effect.sync(() => bound),
    lookedUp: Effect.sync(() => lookedUp)
  }
})

/** The id of the API key that a user without a session comes with. */
const keyIdOf = (userId: string) => `key_of_${userId}`

const callerOf = (userId: string, scopes: ReadonlyArray<Scope>): KnownCaller => ({
  userId,
  isAdmin: false,
  scopes: new Set(scopes),
  keyId: keyIdOf(userId),
  limits: { createsPerMinute: null, redirectsPerDay: null }
})

/** API keys of users who are no administrators. */
export const userKeys = { one: "lm_one", other: "lm_other", reader: "lm_reader", blind: "lm_blind" } as const

const testCallers: Readonly<Record<string, KnownCaller>> = {
  [userKeys.one]: callerOf("usr_one", ["links:read", "links:write", "stats:read"]),
  [userKeys.other]: callerOf("usr_other", ["links:read", "links:write", "stats:read"]),
  [userKeys.reader]: callerOf("usr_one", ["links:read"]),
  [userKeys.blind]: callerOf("usr_one", ["stats:read"])
}

const withTestCallers = Layer.effect(
  Accounts.Accounts,
  Effect.map(Accounts.Accounts, (accounts) => ({
    ...accounts,
    ofKey: (key: Redacted.Redacted) => {
      const known = testCallers[Redacted.value(key)]
      return known === undefined ? accounts.ofKey(key) : Effect.succeed(known)
    }
  }))
)

/** Those that the build has left, as every start takes them. */
const documents = Documents.read(fileURLToPath(new URL("../../src/http/contract", import.meta.url)))

const make = (options: TestServiceOptions) =>
  Effect.gen(function* () {
    exercised("memory")
    const port = yield* freePort
    const clock = StillClock.make(startOfTests_ms)
    const links = yield* countedLinks
    const pool = yield* KeyPoolMemory.make({ shards: 1, settleAfter: 64 })
    const visits = yield* VisitStoreMemory.make
    const none = {
      links: "none",
      removing: "none",
      ranges: "none",
      stock: "none",
      leases: "none",
      visits: "none",
      accounts: "none",
      audit: "none",
      webhooks: "none",
      domains: "none"
    } as const
    const faults: Faults = { ...none }
    // Silent stores would hold up the end of the service as well.
    const heal = Effect.sync(() => Object.assign(faults, none))

    const accounts = yield* AccountStoreMemory.make
    for (const id of ["usr_one", "usr_other"]) {
      yield* accounts.addUser(userOf(id))
      yield* accounts.addKey(keyOf(keyIdOf(id), id), 10)
    }
    const webhooks = yield* WebhookStoreMemory.makeOver(accounts)
    const audit = yield* AuditLogMemory.make
    const changes = yield* Layer.build(LinkInvalidationsLocal.layer)
    const removals = yield* Effect.provide(
      LinkRemovalsMemory.makeOver({ links: links.rows, ended: links.ended }),
      changes
    )
    const stores = Layer.mergeAll(
      WebhookListeners.layer.pipe(
        Layer.provideMerge(Layer.succeed(WebhookStore, faulty(webhooks, faultOf(faults, "webhooks"))))
      ),
      Layer.succeed(KeyRangeStore, faulty(yield* KeyRangeStoreMemory.make, faultOf(faults, "ranges"))),
      Layer.succeed(KeyStock, faulty(yield* KeyStockMemory.make(), faultOf(faults, "stock"))),
      LinkGroupCommit.links({ inFlightMax: 1 }).pipe(
        Layer.provide(Layer.succeed(LinkStore, faulty(links.store, faultOf(faults, "links"))))
      ),
      Layer.succeed(VisitStore, faulty(visits, faultOf(faults, "visits"))),
      Layer.succeed(
        GuardedCreates,
        faulty(GuardedCreatesMemory.makeOver(links.rows, links.store), faultOf(faults, "links"))
      ),
      Layer.succeed(KeyPool, { ...pool, ...faulty({ lease: pool.lease }, faultOf(faults, "leases")) }),
      KeyMinter.layer(KeySpace.make("base62", 7), new Uint8Array(16)),
      Layer.succeed(AccountStore, faulty(accounts, faultOf(faults, "accounts"))),
      Layer.succeed(LinkRemovals, {
        ...removals,
        ...faulty({ remove: removals.remove }, faultOf(faults, "removing"))
      }),
      Layer.succeed(AuditLog, faulty(audit, faultOf(faults, "audit"))),
      QuotaStoreMemory.layer,
      NodeReports.layerMemory,
      RunnersSeen.layerAlone("the-only-node"),
      DatabaseMarkMemory.layer,
      Layer.succeed(KeyLedger, {
        counts: Effect.succeed({ minted: 5_000, bound: 40, quarantined: 2, stocked: 0 })
      }),
      CheapPasswords.layer,
      testHashLayer,
      Layer.succeed(AdminKey, { digest: Secret.digest(adminKey), drawn: Option.none() })
    )
    const baseUrl = options.baseUrl ?? new URL(`http://localhost:${port}`)
    const { unknownHosts = "default" } = options
    const domains = new Domains.KnownDomains({ ownHost: baseUrl.hostname, unknownHosts })
    const domainStore = yield* DomainStoreMemory.make
    for (const domain of options.domains ?? []) {
      const added = yield* domainStore.add(domain, domainsMax)
      if (typeof added === "string" || domain.verifiedAt === null) continue
      yield* domainStore.verify(added.number, domain.token, domain.verifiedAt)
    }
    domains.set((yield* domainStore.read(null))!)
    const shown = {
      txt: new Map<string, string>(),
      files: new Map<string, string>(),
      wait: Effect.void as Effect.Effect<void>
    }
    const clientAddress = ClientAddress.layer(
      Either.getOrThrow(parseAll(options.trustedProxies ?? "10.0.0.0/8"))
    )
    const service = HttpServer.layer({
      host: "127.0.0.1",
      port,
      drainDelay: Duration.zero,
      connectionsMax: 10_000,
      perClientMax: 256,
      own: { baseUrl, port },
      defaultExpiry: Option.fromNullable(options.defaultExpiry),
      anonymousCreates: options.anonymousCreates ?? true,
      signUp: options.signUp ?? false,
      allowPrivateWebhooks: false,
      metricsToken: Option.map(Option.fromNullable(options.metricsToken), Redacted.make),
      node: { id: "the-only-node", address: `localhost:${port}`, role: "all" },
      poolMarks,
      documents,
      ...(options.webFolder !== undefined && { webFolder: options.webFolder }),
      ...(options.brand !== undefined && { brand: options.brand })
    }).pipe(
      Layer.provide(
        options.targets === undefined ? Layer.empty : Layer.succeed(TargetPolicy, options.targets)
      ),
      Layer.provide([
        Layer.provideMerge(
          Layer.provide(withTestCallers, Accounts.layer),
          Sessions.layer({ idle: Duration.hours(24) })
        ),
        Users.layer,
        Quotas.layer({ ...Quotas.unlimited, ...options.quotas }),
        clientAddress
      ]),
      Layer.provide([
        Layer.succeed(Domains.Domains, domains),
        Layer.provide(LongAliases.layer(domains, true), Layer.succeed(DomainStore, domainStore)),
        Layer.succeed(
          DomainStore,
          faulty(domainStore, () => faults.domains)
        ),
        Layer.succeed(DomainProofs, {
          txt: (name) =>
            Effect.suspend(() => Effect.as(shown.wait, [shown.txt.get(name) ?? "another record"])),
          file: (host, path) => Effect.sync(() => shown.files.get(`${host}${path}`) ?? null)
        })
      ]),
      Layer.provide([RateLimiter.layer, Administrator.layer({ drawsPassword: false })]),
      // Only for the requests: `@effect/cluster` 0.60 repeats message ids while the time stands still.
      Layer.provide(Layer.setClock(clock)),
      Layer.provide([
        ReusedLinks.layer,
        Visits.layer({ ownHost: "localhost", writer: "test", batchCountsMax: Visits.batchCountsMax.sqlite })
      ]),
      Layer.provide(
        options.retention === undefined ? Layer.empty : Layer.succeed(VisitRetention, options.retention)
      ),
      Layer.provide(VisitorHashLive.layer),
      Layer.provide(options.optOut === undefined ? Layer.empty : VisitOptOutLive.layer(options.optOut)),
      Layer.provide(clientAddress),
      // Without the sweeps, which go by another clock than the tests.
      Layer.provide(
        Parts.layerCore({
          inFlightMax: 1,
          pool: poolMarks,
          bufferCapacity: 64,
          redirectCacheMax: 1_000,
          staleRedirects: Duration.minutes(1)
        })
      ),
      Layer.provide(layerEmbedded),
      Layer.provide(stores),
      Layer.provide(Layer.succeedContext(changes)),
      Layer.provide([Logger.minimumLogLevel(LogLevel.None), NodeContext.layer])
    )
    yield* Layer.build(service)
    yield* Effect.addFinalizer(() => heal)
    const connections = yield* agent()

    return TestService.of({
      port,
      send: (request) => send(connections, port, request),
      stored: links.bound,
      lookedUp: links.lookedUp,
      visits,
      webhooks,
      audit,
      removals,
      accounts,
      clock,
      shown,
      links: links.uncounted,
      meanwhile: links.meanwhile,
      setFault: (store, fault) => Effect.sync(() => (faults[store] = fault))
    })
  })

/** A service of its own for each build of the layer. */
export const layer = (options: TestServiceOptions = {}): Layer.Layer<TestService> =>
  // The service starts on real time, whatever clock the test has, with the program's scheduler and, as the program does, without traces: what is traced goes other ways.
  Layer.scoped(
    TestService,
    Effect.orDie(make(options)).pipe(
      Effect.withClock(Clock.make()),
      Effect.withTracerEnabled(false),
      FairScheduler.within
    )
  )

/** A suite whose tests share one service of these options. Its titles begin with `title`. */
export const withService = (
  title: string,
  options: TestServiceOptions,
  tests: (it: Vitest.MethodsNonLive<TestService, true>) => void
): void => withLayer(layer(options), { excludeTestServices: true })(title, tests)

/** Sends a create of the given body, as JSON unless it is text or bytes already. */
export const create = (body: unknown, headers: Request["headers"] = {}) =>
  Effect.flatMap(TestService, (service) =>
    service.send({
      method: "POST",
      path: "/api/v1/links",
      headers: { "content-type": "application/json", ...headers },
      body: typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body)
    })
  )

/** Sends a GET, with `Accept: application/json` unless told otherwise. */
export const get = (path: string, headers: Request["headers"] = { accept: "application/json" }) =>
  Effect.flatMap(TestService, (service) => service.send({ path, headers }))

/** Sends a request with an API key, and a body as JSON where there is one. */
export const withKey = (key: string, method: string, path: string, body?: unknown) =>
  Effect.flatMap(TestService, (service) =>
    service.send({
      method,
      path,
      headers: {
        "x-api-key": key,
        accept: "application/json",
        ...(body !== undefined && { "content-type": "application/json" })
      },
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) })
    })
  )

/** Sends a request as the administrator. */
export const asAdmin = (method: string, path: string, body?: unknown) => withKey(adminKey, method, path, body)
