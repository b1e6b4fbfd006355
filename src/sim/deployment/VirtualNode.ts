import {
  Context,
  Duration,
  Effect,
  Either,
  type Fiber,
  flow,
  Layer,
  Option,
  Schedule,
  type Scope
} from "effect"
import { Passwords } from "../../accounts/Passwords.ts"
import * as KeyBuffer from "../../actors/keys/KeyBuffer.ts"
import * as PoolRest from "../../actors/keys/PoolRest.ts"
import type { PoolMarks } from "../../actors/keys/PoolShardLive.ts"
import * as LinkCarrying from "../../actors/links/LinkCarrying.ts"
import * as LinkRemoval from "../../actors/links/LinkRemoval.ts"
import * as WitnessWatch from "../../actors/WitnessWatch.ts"
import * as Stock from "../../node/Stock.ts"
import { adding } from "../../node/Adding.ts"
import * as Parts from "../../node/Parts.ts"
import type { Answer } from "../../http/exchange/Answer.ts"
import * as DrainableSet from "../../http/exchange/DrainableSet.ts"
import { Draining } from "../../http/ops/Draining.ts"
import * as Drain from "../../http/server/Drain.ts"
import * as FrontDoor from "../../http/server/FrontDoor.ts"
import * as LateRequests from "../../http/server/LateRequests.ts"
import type { Request } from "../../http/exchange/Request.ts"
import * as RequestId from "../../http/exchange/RequestId.ts"
import * as HttpServer from "../../http/server/Server.ts"
import { DomainProofs } from "../../http/domains/DomainProofs.ts"
import * as Elsewhere from "../../http/redirects/Elsewhere.ts"
import * as DomainRoutes from "../../http/domains/DomainRoutes.ts"
import * as Domains from "../../http/domains/Domains.ts"
import * as LongAliases from "../../http/domains/LongAliases.ts"
import { TargetPolicy } from "../../http/links/TargetPolicy.ts"
import { DomainStore } from "../../storage/domains/DomainStore.ts"
import type { KeyMinter } from "../../keys/KeyMinter.ts"
import type { GuardedCreates } from "../../storage/links/GuardedCreates.ts"
import type { KeyPool } from "../../storage/keys/KeyPool.ts"
import type { KeyRangeStore } from "../../storage/keys/KeyRangeStore.ts"
import type { KeyStock } from "../../storage/keys/KeyStock.ts"
import type { LinkInvalidations } from "../../storage/links/LinkInvalidations.ts"
import type { LinkLifetime } from "../../storage/links/LinkLifetime.ts"
import type { LinkRemovals } from "../../storage/links/LinkRemovals.ts"
import { LinkReplicas } from "../../storage/links/LinkReplicas.ts"
import type { LinkStore } from "../../storage/links/LinkStore.ts"
import { ShardOwnership } from "../../storage/keys/ShardOwnership.ts"
import type { DatabaseMark } from "../../storage/nodes/DatabaseMark.ts"
import type { Witness } from "../../storage/nodes/Witness.ts"
import * as Pulse from "../../time/Pulse.ts"
import { TrustedTime, type TrustedTimeService } from "../../time/TrustedTime.ts"
import { VisitStore } from "../../storage/visits/VisitStore.ts"
import * as VisitMaintenance from "../../visits/VisitMaintenance.ts"
import { VisitRetention } from "../../visits/VisitRetention.ts"
import * as Visits from "../../visits/Visits.ts"
import * as FurtherDomains from "./FurtherDomains.ts"
import { stubServices } from "./StubServices.ts"
import { orphanedBy, type OrphanPlace } from "./Orphans.ts"
import { isLed, targetPolicy } from "./Visitors.ts"
import * as PasswordsVirtual from "./PasswordsVirtual.ts"
import * as UserParts from "./UserParts.ts"
import type { UserSurroundings } from "./UserParts.ts"
import type { SimOptions } from "../cli/Options.ts"
import type { Counted } from "../clients/Traits.ts"
import type { AsideKeys } from "../actors/AsideKeys.ts"
import { hurried } from "./Hurried.ts"
import type { MachineTime } from "./MachineTime.ts"
import type { Journal } from "../Journal.ts"
import type { Mutation } from "../mutants/Mutation.ts"
import type { Placement } from "./Placement.ts"
import { fork } from "../world/ProcessServices.ts"
import { ms_us } from "../world/Time.ts"
import type { VirtualProcess } from "../world/VirtualProcess.ts"

/** The operator's settings. */
const httpOptions = {
  own: { baseUrl: new URL(`http://${FurtherDomains.ownHost}`), port: 80 },
  defaultExpiry: Option.none(),
  anonymousCreates: true
}

/** How long after its end a day is rolled up in production, and how long after an hour links are ranked; how much faster the time of upkeep goes, and rows of one step: few, so that other things happen in between. */
const settle_ms = Duration.toMillis("12 hours")
const rankAfter_ms = Duration.toMillis("20 minutes")
const hurry = 200
const upkeepStepMax = 3

/** Adds what happens beside requests: the context has what that needs by then. */
const beside =
  <R>(layer: Layer.Layer<never, never, R>) =>
  <Has, E>(self: Effect.Effect<Context.Context<Has>, E, Scope.Scope>) =>
    adding(layer)(
      self as unknown as Effect.Effect<Context.Context<Has | R>, E, Scope.Scope>
    ) as Effect.Effect<Context.Context<Has>, E, Scope.Scope>

/** The upkeep of visits with some of its steps, by a clock that is ahead. */
const visitUpkeep = (steps: Partial<typeof VisitStore.Service>, ahead_ms: number) =>
  hurried(
    VisitMaintenance.layer({ stepMax: upkeepStepMax }).pipe(
      Layer.provide(
        Layer.effect(
          VisitStore,
          Effect.map(VisitStore, (visits) => ({ ...visits, ...steps }))
        )
      )
    ),
    { hurry, ahead_ms }
  )

const nothing = () => Effect.succeed(false)

/** Rolls up visits, and ranks links by them, by clocks by which a day and an hour ended as much earlier as this is to be done earlier. */
const rollingUp = (settle_s: number) =>
  flow(
    beside(visitUpkeep({ rank: nothing }, settle_ms - settle_s * 1_000)),
    beside(visitUpkeep({ rollUp: nothing, drop: nothing }, rankAfter_ms - settle_s * 1_000))
  )

/** Puts what is left in the pool of a process alone into the stock. */
const puttingAway = beside(PoolRest.layer)

/** Carries what is in the further databases of links. */
const carrying = beside(LinkCarrying.layer)

/** Deletes the links of users who are gone. */
const removing = beside(LinkRemoval.layer)

/** How long a node works on an answer at most. */
export const answerMax_us = Duration.toMillis(FrontDoor.answerMax) * ms_us

/** The marks of the pools that a node keeps. */
export const marksOf = (
  { poolHigh, poolHighLater, poolLow }: SimOptions,
  { incarnation }: VirtualProcess
): PoolMarks => {
  if (incarnation === 1 || poolHighLater === null) return { low: poolLow, high: poolHigh }
  return { low: Math.min(poolLow, Math.floor(poolHighLater / 2)), high: poolHighLater }
}

/** How often a node that starts asks for the domains, until it knows them. */
const askAgain = Schedule.spaced("200 millis")

/** What a node knows of domains, and of where aliases can have several segments, by what it has read, and reads again and again. */
const readDomains = (store: typeof DomainStore.Service, mutation: Mutation) =>
  Effect.gen(function* () {
    const known = mutation.knownDomains?.(FurtherDomains.policy) ?? FurtherDomains.unread()
    yield* Effect.retry(Domains.make(known), askAgain)
    return Context.make(Domains.Domains, known).pipe(
      Context.add(LongAliases.LongAliases, yield* LongAliases.make(known, false))
    )
  }).pipe(Effect.provideService(DomainStore, store))

/** How often a node compares the database with its witnesses while links are made: in production five times as often. */
const compareEvery = Duration.seconds(1)

/** The ports, as a node has them. */
export type PortServices =
  | LinkStore
  | LinkInvalidations
  | LinkLifetime
  | LinkRemovals
  | GuardedCreates
  | KeyRangeStore
  | KeyStock
  | KeyPool
  | KeyMinter
  | VisitStore
  | DatabaseMark
  | Witness

/** What surrounds a node. */
export interface Surroundings {
  readonly placement: Placement
  readonly journal: Journal
  /** The stores as a process sees them, and the invalidations of links. */
  readonly ports: (
    process: VirtualProcess
  ) => Effect.Effect<Context.Context<PortServices>, never, Scope.Scope>
  /** What a process reads links from while the database is away, if there is such a server. */
  readonly linkReplica: ((process: VirtualProcess) => (typeof LinkStore.Service)["findMany"]) | undefined
  /** The further domains, as a process reads them, where they can change or have aliases of several segments. */
  readonly domains: ((process: VirtualProcess) => typeof DomainStore.Service) | undefined
  /** Where their proofs are looked for, where administrators change them over HTTP. */
  readonly proofs: typeof DomainProofs.Service | undefined
  /** Notes which keys are put aside, where links are in several databases. */
  readonly aside: AsideKeys | undefined
  /** What users' parts stand on, where there are users. */
  readonly users: UserSurroundings | undefined
  /** The clock and the files of the machine of a process that keeps its time by them. */
  readonly machineTime: MachineTime | undefined
  readonly options: SimOptions
  /** The defect that is planted in the product. */
  readonly mutation: Mutation
}

/** A request, as the network carries it. */
export interface VirtualRequest {
  readonly method: "GET" | "HEAD" | "POST" | "PATCH" | "PUT" | "DELETE"
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** Of a body that comes slowly: how long after the node has begun to read it, and what is called when it has. */
  readonly slow?: { readonly after_us: number; readonly read: () => void } | undefined
  /** Of a redirect: the link that it is asked of, by the text by which it is stored, what follows its key, and how its visit must be counted. */
  readonly link?: {
    readonly key: string
    readonly path?: string | undefined
    readonly counted?: Counted | undefined
  }
  /** Of a visitor's: where it counts if no link leads them. */
  readonly orphan?: OrphanPlace
  /** The client's address, if it is on another machine. */
  readonly from?: string | undefined
}

/** What an answer says of a quota, and of when to ask again: as its headers have it, times in seconds. */
export interface Told {
  readonly retryAfter: string | undefined
  readonly limit: string | undefined
  readonly remaining: string | undefined
  readonly reset: string | undefined
}

/** An answer, as the network carries it. */
export interface VirtualResponse {
  readonly status: number
  readonly location: string | undefined
  /** The headers of requests by which caches tell answers apart. */
  readonly vary: string | undefined
  /** Whether search engines may list it. */
  readonly isIndexed: boolean
  /** What caches may do with it. */
  readonly cacheControl: string | undefined
  /** What it says of quotas and of when to ask again, if anything. */
  readonly told: Told | undefined
  /** Whether it repeats the answer to an earlier request with the same `Idempotency-Key`. */
  readonly isReplay: boolean
  readonly body: string
  /** What it sets as cookies, each as `Set-Cookie` has it. */
  readonly cookies: ReadonlyArray<string>
}

const noCookies: ReadonlyArray<string> = []

/** A request as the service sees it; its body arrives in one piece, in a separate task, and perhaps late. */
const requestOf = (
  process: VirtualProcess,
  { body = "", from, headers, method, path, slow }: VirtualRequest
): Request => ({
  method,
  url: path,
  headers,
  remoteAddress: Option.fromNullable(from),
  readBytes: (_, done) => {
    const arrive = () => process.post(() => done(Either.right(Buffer.from(body))))
    if (slow === undefined) return arrive()
    process.world.after(slow.after_us, process, () => {
      slow.read()
      arrive()
    })
  }
})

const responseOf = ({ body, fixed, headers, status }: Answer): VirtualResponse => {
  const of = (name: string) => {
    const at = headers.indexOf(name)
    return at === -1 ? undefined : headers[at + 1]
  }
  if (typeof body !== "string") throw new Error("Streams and images are not simulated")
  return {
    status,
    location: of("location"),
    vary: of("vary"),
    isIndexed: fixed?.includes("x-robots-tag") !== true && of("x-robots-tag") === undefined,
    cacheControl: of("cache-control") ?? fixed?.[fixed.indexOf("cache-control") + 1],
    told:
      status === 429 || status === 503 || headers.includes("ratelimit-limit")
        ? {
            retryAfter: of("retry-after"),
            limit: of("ratelimit-limit"),
            remaining: of("ratelimit-remaining"),
            reset: of("ratelimit-reset")
          }
        : undefined,
    isReplay: of("idempotency-replayed") === "true",
    body,
    cookies: headers.includes("set-cookie")
      ? headers.filter((_, index) => index % 2 === 1 && headers[index - 1] === "set-cookie")
      : noCookies
  }
}

/** Compares the database with its witnesses, which the context has, after creates, which it has as well. */
const watched = beside(WitnessWatch.layer(compareEvery))

/** Begins to answer a request; `done` may be called at once. Returns what to call when the client disconnects before. */
type Serve = (request: VirtualRequest, done: (response: VirtualResponse) => void) => () => void

/** A node that serves. */
interface Serving {
  readonly serve: Serve
  readonly late: LateRequests.LateRequests
}

/** A connection to a node, which carries one request. It is open as long as it is among the node's connections. */
interface Connection {
  /** Tells the client that the node closed it before the answer. */
  readonly closed: () => void
  /** Ends the work on its request. */
  giveUp: () => void
}

/** A node of the deployment in one virtual process: the service from its HTTP handlers to its ports, as it runs in production. */
export class VirtualNode {
  readonly process: VirtualProcess
  readonly #surroundings: Surroundings
  readonly #main: Fiber.RuntimeFiber<unknown, unknown>
  readonly #drain: Drain.Drain
  readonly #connections = DrainableSet.make<Connection>()
  /** Those whose request has been read. */
  readonly #underWay = DrainableSet.make<Connection>()
  #serving: Serving | undefined
  #buffer: typeof KeyBuffer.KeyBuffer.Service | undefined
  #isRefusing = false
  /** Whether it received SIGTERM. */
  isStopping = false
  /** Connections that it closed before it had answered. */
  #unanswered = 0

  /** Starts a node; only from within the world. `ended` is called when it has stopped by itself. */
  constructor(process: VirtualProcess, surroundings: Surroundings, ended: () => void) {
    this.process = process
    this.#surroundings = surroundings
    surroundings.journal.add({ tag: "started", by: process.id })
    const { mutation, options } = surroundings
    const { drain: mutateDrain = (sound) => sound } = mutation
    this.#drain = mutateDrain(
      Drain.make(this.#drainable(), {
        drainDelay: Duration.millis(options.drainDelay_ms),
        // No second signal arrives.
        hurry: Effect.never
      }),
      process
    )
    this.#main = fork(process, this.#run())
    this.#main.addObserver((exit) => {
      if (!process.isAlive) return
      this.#close(this.#connections.members)
      process.world.tell(process.id, "ended", exit._tag)
      surroundings.journal.add({ tag: "ended", by: process.id, unanswered: this.#unanswered })
      process.kill()
      ended()
    })
  }

  /** Whether it accepts connections. */
  get isListening(): boolean {
    return this.process.isAlive && this.#serving !== undefined && !this.#isRefusing
  }

  /** Takes all keys from its buffer, for the ledger: when its world runs no more. */
  get buffered(): ReadonlyArray<string> {
    const buffer = this.#buffer
    if (buffer === undefined) return []
    const keys: Array<string> = []
    for (let key = buffer.takeNow(); key !== undefined; key = buffer.takeNow()) keys.push(key)
    return [...keys, ...(this.#surroundings.aside?.of(this.process) ?? [])]
  }

  /** Accepts a connection, as its machine does whether or not the process gets to run. Only while it {@link isListening}. */
  accept(closed: () => void): Connection {
    const connection = { closed, giveUp: () => {} }
    this.#connections.add(connection)
    return connection
  }

  /**
   * Reads the request of a connection, and returns what to call when the process notices that the client has closed it. `done` is not called if the process dies first, or closes the connection.
   * `left_us`: when its machine was told that the client has closed it, if it was.
   */
  answer(
    connection: Connection,
    request: VirtualRequest,
    done: (response: VirtualResponse) => void,
    left_us: () => number | undefined
  ): () => void {
    const isOpen = () => this.#connections.members.has(connection)
    const serving = this.#serving
    if (serving === undefined || !isOpen()) return () => {}
    const { late, serve } = serving
    this.#underWay.add(connection)
    const begin = () => {
      const begun_us = this.process.world.now_us
      const closed_us = left_us()
      if (closed_us !== undefined)
        this.#surroundings.journal.add({
          tag: "begun late",
          by: this.process.id,
          method: request.method,
          closed_us
        })
      const giveUp = serve(request, (response) => {
        // What a node gives up itself may have redirected by then, as what its client gives up.
        const isLate = response.status === 503 && this.process.world.now_us - begun_us >= answerMax_us
        this.#visited(request, isLate ? undefined : response)
        if (this.#end(connection)) done(response)
      })
      connection.giveUp = () => {
        this.#visited(request, undefined)
        giveUp()
      }
    }
    if (late.mayBeLate(request.method)) late.hold(() => !isOpen(), begin)
    else begin()
    return () => {
      if (this.#end(connection)) connection.giveUp()
    }
  }

  /** What the first SIGTERM does. A second one would hurry it on, and no supervisor sends it so soon. */
  stop() {
    this.isStopping = true
    this.#main.unsafeInterruptAsFork(this.#main.id())
  }

  /** Notes that a redirect was answered, or may have been when its client left. */
  #visited(request: VirtualRequest, response: VirtualResponse | undefined) {
    const wasLed = response !== undefined && isLed(response)
    if (!wasLed) this.#notLed(request, response)
    const { link } = request
    if (link === undefined || (response !== undefined && !wasLed)) return
    const { counted, key, path } = link
    const isOfSeveral = path !== undefined || key.includes("/")
    this.#surroundings.journal.add({
      tag: "visited",
      by: this.process.id,
      key,
      isSure: response !== undefined,
      ...(isOfSeveral && { path, location: response?.location }),
      ...(counted !== undefined && { counted })
    })
  }

  /** Notes that a visitor was led by no link, or may not have been when they left. */
  #notLed({ link, method, orphan }: VirtualRequest, response: VirtualResponse | undefined) {
    if (orphan === undefined || method !== "GET") return
    const { isSure, kinds } = orphanedBy(response)
    if (kinds.length === 0) return
    this.#surroundings.journal.add({
      tag: "not led",
      by: this.process.id,
      domains: orphan.domains,
      kinds,
      isSure: isSure && orphan.isSure,
      ...(link?.counted !== undefined && { counted: link.counted })
    })
  }

  /** Notes which keys are put back. */
  #noting(buffer: typeof KeyBuffer.KeyBuffer.Service): typeof KeyBuffer.KeyBuffer.Service {
    return {
      ...buffer,
      putBack: (keys) =>
        Effect.suspend(() => {
          this.#surroundings.journal.add({ tag: "put back", by: this.process.id, keys })
          return buffer.putBack(keys)
        })
    }
  }

  #drainable(): Drain.Drainable {
    const [all, begun] = [this.#connections, this.#underWay]
    return {
      connections: all,
      underWay: begun,
      refuse: () => {
        this.#isRefusing = true
        this.#surroundings.journal.add({ tag: "refusing", by: this.process.id })
      },
      closeIdle: () => this.#close(Array.from(all.members).filter((one) => !begun.members.has(one))),
      closeAll: () => this.#close(all.members)
    }
  }

  /** Closes a connection. Returns whether it was open. */
  #end(connection: Connection): boolean {
    const wasOpen = this.#connections.members.has(connection)
    this.#underWay.remove(connection)
    this.#connections.remove(connection)
    return wasOpen
  }

  #close(connections: Iterable<Connection>) {
    for (const connection of Array.from(connections)) {
      if (!this.#end(connection)) continue
      this.#unanswered++
      connection.closed()
      connection.giveUp()
    }
  }

  #run() {
    const { aside, domains, linkReplica, machineTime, mutation, options, placement, ports, proofs, users } =
      this.#surroundings
    const { process } = this
    const same = <A>(context: A) => context
    const kept: TrustedTimeService = {
      isSettled: () => process.time.isSettled(process.monotonicNow_ms()),
      wallAhead_ms: () => process.wallClock_ms() - process.time.at(process.monotonicNow_ms()),
      heard: () => Effect.void
    }
    const timed = Effect.tap(machineTime?.keep(process) ?? Effect.succeed(kept), () => {
      if (mutation.clock !== undefined) process.clock_ms = mutation.clock(process)
    })
    const stored = Effect.zip(ports(process), PasswordsVirtual.make)
    const own = Effect.zipWith(timed, stored, (time, [ports, passwords]) =>
      Context.merge(stubServices, ports).pipe(
        Context.add(ShardOwnership, placement.ownership(process)),
        Context.add(Draining, this.#drain),
        Context.add(Pulse.Pulse, { start_ms: process.monotonicNow_ms() }),
        Context.add(TrustedTime, mutation.time?.(time) ?? time),
        (context) =>
          options.visitsSettle_s === null
            ? context
            : Context.add(context, VisitRetention, { hours_days: options.visitHours_days, days_days: 1_100 }),
        Context.add(LinkReplicas, Option.fromNullable(linkReplica?.(process))),
        Context.add(Passwords, mutation.passwords?.(passwords) ?? passwords)
      )
    )
    const whole = own.pipe(
      users === undefined ? same : UserParts.before(users, process),
      Effect.map((context) => {
        if (options.workload.refused === 0) return context
        const policy = targetPolicy(process.world)
        return Context.add(context, TargetPolicy, mutation.targets?.(policy) ?? policy)
      }),
      (self) => (options.witnessed ? adding(Stock.witnessed)(self) : self),
      options.alone === null ? same : puttingAway,
      Parts.parts({
        // A process alone has one writer, mostly.
        inFlightMax: options.alone === null ? 4 : 1,
        runner: placement.layer(process),
        pool: marksOf(options, process),
        ownerCacheMax: options.ownerCacheMax,
        bufferCapacity: options.bufferCapacity,
        redirectCacheMax: options.redirectCacheMax,
        staleRedirects: Duration.seconds(options.staleRedirects_s),
        recycleQuarantine: Duration.seconds(options.quarantine_s),
        keyStockTarget: options.keyStock === "none" ? null : options.keyStockTarget,
        visits: {
          ownHost: FurtherDomains.ownHost,
          writer: process.id,
          batchCountsMax: Visits.batchCountsMax.postgres
        },
        replaced: {
          buffer: (buffer) => {
            this.#buffer = buffer
            const own = this.#noting(mutation.buffer?.(buffer, process) ?? buffer)
            return aside?.over(process, own) ?? own
          },
          ...(mutation.cache !== undefined && { cache: (cache) => mutation.cache!(cache, process) })
        }
      }),
      options.witnessed ? watched : same,
      options.databases > 1 ? carrying : same,
      options.visitsSettle_s === null ? same : rollingUp(options.visitsSettle_s),
      users === undefined ? same : UserParts.after(users, process),
      users === undefined ? same : removing
    )
    return Effect.scoped(
      Effect.gen(this, function* () {
        const context = yield* whole
        const serving = Effect.gen(function* () {
          const links = yield* Effect.provide(HttpServer.linkOperations(httpOptions), context)
          const asked =
            domains === undefined || proofs === undefined
              ? undefined
              : yield* DomainRoutes.make(httpOptions.own).pipe(
                  Effect.provide(context),
                  Effect.provideService(DomainStore, domains(process)),
                  Effect.provideService(DomainProofs, mutation.proofs?.(proofs) ?? proofs)
                )
          const operations = {
            ...links,
            ...(users !== undefined && (yield* UserParts.routes(context, httpOptions.own))),
            ...(asked !== undefined && { domains: asked }),
            certificates: yield* DomainRoutes.certificates
          }
          const elsewhere = yield* Effect.provide(Elsewhere.make, context)
          return yield* FrontDoor.make({ operations, requestId: yield* RequestId.make, elsewhere })
        })
        const { serve } =
          domains !== undefined
            ? yield* Effect.provide(serving, yield* readDomains(domains(process), mutation))
            : options.workload.withDomain > 0
              ? yield* Effect.provideService(serving, Domains.Domains, FurtherDomains.known())
              : yield* serving
        const sound = yield* LateRequests.make(yield* Effect.clock)
        const late = mutation.late?.(sound) ?? sound
        // The last finalizer runs first: before what serves is closed, as `Listener.layerDrain` has it.
        yield* Effect.addFinalizer(() => this.#drain.drain)
        this.#serving = {
          late,
          serve: (request, done) => serve(requestOf(process, request), (answer) => done(responseOf(answer)))
        }
        return yield* Effect.never
      })
    )
  }
}
