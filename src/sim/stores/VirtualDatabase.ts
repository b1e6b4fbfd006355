import { plainKeyOf } from "../../keys/QualifiedKey.ts"
import { Clock, Context, Effect, Exit, Record as Records, Scope } from "effect"
import type { Link } from "../../model/Link.ts"
import { AccountStore } from "../../storage/accounts/AccountStore.ts"
import { QuotaStore } from "../../storage/accounts/QuotaStore.ts"
import type { OutboxParts } from "../../storage/webhooks/WebhookOutbox.ts"
import { leaseMax_ms, WebhookStore } from "../../storage/webhooks/WebhookStore.ts"
import * as AccountStoreMemory from "./AccountStoreMemory.ts"
import * as QuotaStoreMemory from "./QuotaStoreMemory.ts"
import * as WebhookStoreMemory from "./WebhookStoreMemory.ts"
import { count, toStrings } from "../../keys/PackedKeys.ts"
import { DatabaseMark } from "../../storage/nodes/DatabaseMark.ts"
import { DeploymentStore } from "../../storage/nodes/DeploymentStore.ts"
import * as DeploymentStoreMemory from "./DeploymentStoreMemory.ts"
import type { DomainStore } from "../../storage/domains/DomainStore.ts"
import * as DomainStoreMemory from "./DomainStoreMemory.ts"
import { type GuardedLink, GuardedCreates } from "../../storage/links/GuardedCreates.ts"
import { KeyRangeStore, type Watermark } from "../../storage/keys/KeyRangeStore.ts"
import {
  type BatchId,
  type BatchRecord,
  KeyStock,
  type PoolClaim,
  type StockKind
} from "../../storage/keys/KeyStock.ts"
import * as KeyStockMemory from "./KeyStockMemory.ts"
import { LinkLifetime, type Recycling } from "../../storage/links/LinkLifetime.ts"
import { LinkTenure, refused } from "../../storage/links/buckets/LinkTenure.ts"
import * as LinkLifetimeMemory from "./LinkLifetimeMemory.ts"
import type { LinkInvalidationsService } from "../../storage/links/LinkInvalidations.ts"
import { type Deletion, LinkStore, type Update } from "../../storage/links/LinkStore.ts"
import type { Fenced, StorageError } from "../../storage/StorageError.ts"
import { isLinkSubject } from "../../model/Visit.ts"
import { type VisitBatch, VisitStore } from "../../storage/visits/VisitStore.ts"
import * as VisitStoreMemory from "./VisitStoreMemory.ts"
import type { Take } from "../../storage/visits/VisitTakes.ts"
import type { Journal } from "../Journal.ts"
import { type Mutation, sound } from "../mutants/Mutation.ts"
import type { VirtualProcess } from "../world/VirtualProcess.ts"
import { VirtualServer } from "../world/VirtualServer.ts"
import { type Away, type Silence, VirtualNews } from "./LinkInvalidationsVirtual.ts"
import { type Changed, CommitLog } from "./database/CommitLog.ts"
import type { SessionBounds } from "../../storage/sql/postgres/PrimaryClient.ts"
import { DatabaseClock } from "./database/DatabaseClock.ts"
import { type Ailment, DatabaseServer } from "./database/DatabaseServer.ts"
import { SessionFigures } from "./database/SessionFigures.ts"
import * as BucketHome from "./homes/BucketHome.ts"
import { AskedEpoch } from "./homes/Statements.ts"
import { cloned, DatabaseCopy, emptyTables, identity, linkRow, type Tables } from "./DatabaseCopy.ts"
import type { Chance } from "../world/Chance.ts"
import { ms_us } from "../world/Time.ts"
import { type Plan, query, statement, transaction, Transactions } from "./database/Transactions.ts"
import { Comparison, type Differs } from "./sql/Comparison.ts"
import * as ComparedUsers from "./sql/ComparedUsers.ts"
import * as SqlStores from "./sql/SqlStores.ts"
import type { StoreOptions } from "./StoreCalls.ts"

const nothing = () => {}

/** A database's machine, in the network, by its number. */
const machineOf = (number: number) => (number === 0 ? "database" : `database-${number}`)

/** How long a statement may take to be answered, as `PostgresClient` has it. */
const answerMax_ms = 4_000

/** The key of a link whose visits a subject is of. */
const keyOf = (subject: string) => subject.slice(0, subject.indexOf("@"))

const nameOf = ({ epoch, sequence }: Omit<BatchId, "shard">) => `${epoch}/${sequence}`

/** The keys that can be taken from the stock, of whatever kind. */
const freeKeys = ({ stocked: { ahead, stock } }: Pick<Tables, "stocked">): ReadonlySet<string> => {
  const unused = Object.values(ahead).map(({ unused }) => unused)
  return unused.some(({ size }) => size > 0)
    ? new Set([stock, ...unused].flatMap((keys) => [...keys]))
    : new Set(stock)
}

/** How a database is. */
export interface DatabaseOptions {
  /** How its keys are stocked. */
  readonly keyStock?: Exclude<StockKind, "file"> | undefined
  /** How far behind its standby is, at most; 0: it has every commit before that is answered. */
  readonly lag_ms?: number
  /** Connections that each process has at most; as in production unless said otherwise. */
  readonly connectionsMax?: number
  /** Microseconds that its clock gains in a second. */
  readonly drift?: number
  /** Where several databases have links, what makes it one of them. */
  readonly homes?: OneOfSeveral
  /** Whether its stores are compared with those of production over SQLite: only where it has all links. */
  readonly isCompared?: boolean
}

/** How stores were compared with those of production. */
export interface Compared {
  /** Answers that were compared. */
  readonly answers: number
  /** Whether those of links were compared to the end: not beyond what only the database in memory can do. */
  readonly isWhole: boolean
}

/** A database among several that have links. */
export interface OneOfSeveral {
  /** Its number; the control database is 0. */
  readonly number: number
  /** The control database: all go by one clock, and are judged together. */
  readonly control: VirtualDatabase | undefined
  /** Whether statements are not asked by which epoch they were put. */
  readonly isUnfenced: boolean
}

/** Visits of keys that a process had counted. */
type Uncounted = readonly [by: string, visits: ReadonlyArray<readonly [key: string, visits: number]>]

/** A primary that has been left behind, and the visits that its last commit has counted in vain. */
interface Former {
  readonly server: DatabaseServer
  readonly copy: DatabaseCopy
  readonly visits: Array<Uncounted>
}

/** Has a process carry out an operation, by these statements. */
type Call = <A, E>(
  operation: string,
  plan: Plan,
  apply: (copy: DatabaseCopy) => Effect.Effect<A, E>
) => Effect.Effect<A, E | StorageError>

/** Operations whose statements ask by themselves whether the caller's epoch is in force. */
const asksEpoch: ReadonlySet<string> = new Set([
  "LinkStore.insertMany",
  "LinkStore.findMany",
  "LinkStore.takenAmong",
  "LinkStore.list"
])

/** Tells a journal of a process's writing of visits. `writer`: which one, where a process has several. */
export const noteWrites =
  (
    journal: Journal,
    by: string,
    write: (typeof VisitStore.Service)["write"],
    writerOf: (batch: VisitBatch) => { readonly writer?: string } = () => ({})
  ): (typeof VisitStore.Service)["write"] =>
  (batch) =>
    Effect.suspend(() => {
      journal.add({ tag: "counting", by, sequence: batch.sequence, ...writerOf(batch) })
      return Effect.tap(write(batch), () => journal.add({ tag: "heard counted", by, ...writerOf(batch) }))
    })

/** The rows of other tables than that of links, by their names. */
const guardRow = (name: string) => `create_guards ${name}`
const shardRow = (shard: number) => `pool_shards ${shard}`
const rangeRow = ({ length, range }: Omit<Watermark, "next">) => `key_ranges ${length}/${range}`
const batchRow = (batch: BatchId) => `pool_batches ${KeyStockMemory.idOf(batch)}`

/**
 * The database: the tables of the ports' backends in memory, outside of every process. What a transaction does happens at its commit, at one moment; until then it
 * holds the locks of its rows as in production. What was committed stays, unless it fails over to a standby that lags.
 */
export class VirtualDatabase {
  readonly server: VirtualServer
  readonly clock: DatabaseClock
  #sessions: DatabaseServer
  readonly #transactions: Transactions
  readonly #journal: Journal
  readonly #news: VirtualNews
  readonly #log: CommitLog
  readonly #chance: Chance
  readonly #lag_us: number
  readonly #primary: DatabaseCopy
  /** What was counted of visits, and has just been forgotten: of which process, the visits of keys. */
  readonly #uncounted: Array<Uncounted> = []
  readonly #stockKind: Exclude<StockKind, "file"> | undefined
  readonly #bounds: Partial<SessionBounds> | undefined
  readonly figures: SessionFigures
  readonly #homes: OneOfSeveral | undefined
  /** A standby that was made last, and the clients whose new connections lead there. */
  #standby: DatabaseServer | undefined
  readonly #astray = new Set<string>()
  /** The primary that has been left behind last, as long as it lives on. */
  #former: Former | undefined
  /** Of users, quotas and webhooks, at one moment. No failover forgets anything of them. */
  readonly users: SqlStores.UserStores
  /** Its queue of webhooks in memory. */
  readonly #queue: typeof WebhookStore.Service
  /** Further domains, likewise. */
  readonly domains = Effect.runSync(DomainStoreMemory.make)
  /** The outbox of each process, by its id. */
  readonly #outboxes = new Map<string, typeof LinkStore.Service>()
  readonly #deployment = Effect.runSync(DeploymentStoreMemory.make)
  /** Of its users' stores with those of production. */
  readonly #comparison: Comparison | undefined
  /** Of what it is compared with. */
  readonly #scope = Effect.runSync(Scope.make())

  constructor(
    options: StoreOptions,
    {
      connections = {},
      database,
      statement
    }: Pick<Mutation, "connections" | "database" | "statement"> = sound,
    { connectionsMax, drift = 0, homes, isCompared = false, keyStock, lag_ms = 0 }: DatabaseOptions = {}
  ) {
    const { begins, crashPoint, faults, journal, network, slow, world } = options
    this.#journal = journal
    this.#stockKind = keyStock
    this.#homes = homes
    this.figures = homes?.control?.figures ?? new SessionFigures()
    this.#lag_us = lag_ms * ms_us
    this.#log = new CommitLog(this.#lag_us)
    this.#chance = world.chance("standby of the database")
    this.server = new VirtualServer(world, network, {
      name: machineOf(homes?.number ?? 0),
      faults,
      slow,
      answerMax_ms,
      inOrder: false,
      crashPoint,
      unanswered: journal.unanswered,
      ...(begins !== undefined && { begins })
    })
    this.clock = homes?.control?.clock ?? new DatabaseClock(world, drift)
    this.#bounds = connections.bounds
    this.#sessions = this.#serverOf(identity.timeline)
    this.server.whenStopped(() => this.#sessions.shutDown())
    this.#transactions = new Transactions((client) => this.#routeOf(client), options, {
      ...(connectionsMax !== undefined && { most: connectionsMax }),
      ...connections.pool
    })
    this.#news = new VirtualNews(
      this.server,
      faults,
      (process) => this.#transactions.proved(process, this.#sessions),
      () => this.clock.now_ms,
      homes?.control === undefined,
      () => this.tables.home.epoch
    )
    // What is broken about it would differ, too.
    const sql =
      isCompared && homes === undefined && database === undefined
        ? Effect.runSync(Scope.extend(SqlStores.make(this.clock.service, keyStock, statement), this.#scope))
        : undefined
    const accounts = Effect.runSync(AccountStoreMemory.make)
    this.#queue = Effect.runSync(WebhookStoreMemory.makeOver(accounts))
    const users = { accounts, quotas: Effect.runSync(QuotaStoreMemory.make), webhooks: this.#queue }
    const differs: Differs = (operation, inMemory, bySql) =>
      journal.add({ tag: "differed", by: "database", operation, inMemory, bySql })
    this.#comparison = sql && new Comparison(differs)
    this.users = sql === undefined ? users : ComparedUsers.make(users, sql.users, this.#comparison!)
    this.#primary = new DatabaseCopy({
      tables: emptyTables(this.#log),
      log: this.#log,
      isLocked: (name) => this.#sessions.isLocked(name),
      journal,
      announce: (keys) => this.#news.announce(keys),
      keyStock,
      broken: database,
      isOneOfSeveral: homes !== undefined,
      compared: sql && { sql, differs }
    })
  }

  /** How its stores were compared with those of production, if they were. */
  get compared(): Compared | undefined {
    const { comparison: links } = this.#primary
    if (links === undefined) return undefined
    return { answers: links.answers + this.#comparison!.answers, isWhole: links.isOn }
  }

  /** Gives up what it is compared with: when the world runs no more. */
  close() {
    this.#primary.comparison?.part()
    this.#comparison?.part()
    Effect.runSync(Scope.close(this.#scope, Exit.void))
  }

  #serverOf(timeline: number): DatabaseServer {
    return new DatabaseServer(this.server, timeline, this.#bounds, this.figures)
  }

  /** Its number among those that have links. */
  get number(): number {
    return this.#homes?.number ?? 0
  }

  /** Where new connections of a client lead. */
  #routeOf(client: string): DatabaseServer {
    return this.#astray.has(client) ? this.#standby! : this.#sessions
  }

  /** The sessions of the primary, and their locks. */
  get sessions(): DatabaseServer {
    return this.#sessions
  }

  /**
   * The primary is lost, and after a time, in microseconds, its standby is the primary. Of the last commits it has a part only, unless it is synchronous: the
   * journal has what it has forgotten. The old primary lives on for a time for some of those that are connected to it: they read there, and what they write is lost. For another time new connections of
   * some lead to a standby of the new primary.
   */
  failOver(down_us: number, livesOn_us = 0, astray_us = 0) {
    const { world } = this.server
    const now_us = world.now_us
    this.#endFormer()
    const left = this.#sessions
    if (livesOn_us > 0) this.#leaveBehind(left, livesOn_us)
    this.#sessions = this.#serverOf(left.timeline + 1)
    if (astray_us > 0) this.#leadAstray(astray_us)
    if (livesOn_us === 0) left.shutDown()
    this.server.stop(down_us)
    const { changed, commits } = this.#log.rewind(now_us - this.#chance.below(this.#lag_us + 1))
    const { own } = this.#stocked
    own.identity = { ...own.identity, timeline: this.#sessions.timeline }
    if (this.#homes?.control === undefined) this.#journal.add({ tag: "promoted", by: this.server.name })
    if (commits === 0) return
    this.#primary.comparison?.part()
    world.tell(this.server.name, "forgot", `${commits} commits`)
    this.#tellForgotten(commits, changed, this.#uncounted)
  }

  /** Something is wrong with the primary for a time, in microseconds. */
  ail(ailment: Ailment, for_us: number) {
    this.#sessions.ail(ailment, for_us)
  }

  /** All faults are over. */
  heal() {
    this.#sessions.heal()
    this.#endFormer()
    this.#astray.clear()
    this.server.start()
  }

  /** Has new connections of some clients lead to a standby, whose sessions stay. */
  #leadAstray(for_us: number) {
    const { world } = this.server
    const standby = this.#serverOf(this.#sessions.timeline)
    standby.isStandby = true
    this.#standby = standby
    this.#astray.clear()
    for (const client of this.#transactions.clients) if (this.#chance.happens(0.5)) this.#astray.add(client)
    world.tell(this.server.name, "leads astray", `${[...this.#astray].join(", ")} to a standby`)
    world.after(for_us, null, () => {
      if (this.#standby === standby) this.#astray.clear()
    })
  }

  #endFormer() {
    this.#former?.server.shutDown()
    this.#former = undefined
  }

  /** Has a server live on that is the primary no more, with the sessions of some clients. */
  #leaveBehind(server: DatabaseServer, for_us: number) {
    const { world } = this.server
    const stays = new Map<string, boolean>()
    server.shutDown((client) => {
      const known = stays.get(client) ?? this.#chance.happens(0.5)
      stays.set(client, known)
      return known
    })
    server.isAlone = this.#lag_us === 0
    const log = new CommitLog(Number.POSITIVE_INFINITY)
    const visits: Array<Uncounted> = []
    const copy = new DatabaseCopy({
      tables: cloned(this.#primary.tables, log),
      log,
      isLocked: (name) => server.isLocked(name),
      journal: this.#inVain(visits),
      announce: nothing,
      keyStock: this.#stockKind,
      broken: undefined,
      isOneOfSeveral: this.#homes !== undefined
    })
    const former: Former = { server, copy, visits }
    this.#former = former
    world.tell(this.server.name, "lives on", `for ${Math.round(for_us / ms_us)} ms, as it was`)
    world.after(for_us, null, () => {
      if (this.#former === former) this.#endFormer()
    })
  }

  /** Has the journal told of what is written to a primary that has been left behind. */
  #inVain(visits: Array<Uncounted>): Pick<Journal, "add"> {
    const journal = this.#journal
    return {
      add: (entry) => {
        if (entry.tag === "advanced" || entry.tag === "recorded") journal.add({ ...entry, isInVain: true })
        if (entry.tag === "stocked" || entry.tag === "freed" || entry.tag === "fenced") journal.add(entry)
        if (entry.tag !== "counted") return
        journal.add(entry)
        visits.push([entry.by, entry.visits])
      }
    }
  }

  /** Has happen what a process's transaction did at a server. */
  #commit<A>(process: VirtualProcess, server: DatabaseServer, apply: (copy: DatabaseCopy) => A): A {
    const { now_us } = this.server.world
    const former = this.#former
    if (former?.server !== server) return this.#log.commit(now_us, () => apply(this.#primary))
    const { copy, visits } = former
    const value = copy.log.commit(now_us, () => apply(copy))
    this.#journal.add({ tag: "left behind", by: process.id })
    this.#tellForgotten(1, copy.log.settle(), visits)
    return value
  }

  #tellForgotten(commits: number, changed: Changed, visits: Array<Uncounted>) {
    if (changed.size === 0) return
    this.#journal.add({
      tag: "database forgot",
      by: this.server.name,
      commits,
      links: Array.from(changed.get("links") ?? []),
      keys: [...(changed.get("keys") ?? []), ...(changed.get("recorded") ?? [])],
      visits: visits.splice(0),
      watermarks: this.watermarks,
      epochs: Array.from(this.#stocked.epochs)
    })
  }

  get #stocked() {
    return this.#primary.tables.stocked
  }

  get #rows() {
    return this.#primary.tables.rows
  }

  /** Restarts: connections are reset, and nobody is served for a time, in microseconds. */
  restart(for_us: number) {
    this.server.stop(for_us)
  }

  /** The stores, as a process reaches them. */
  stores(
    process: VirtualProcess
  ): Context.Context<
    | LinkStore
    | GuardedCreates
    | LinkLifetime
    | KeyRangeStore
    | KeyStock
    | VisitStore
    | DeploymentStore
    | DatabaseMark
  > {
    const call = this.#callOf(process)
    return Context.make(LinkStore, this.#linkStore(call, process.id)).pipe(
      Context.add(KeyRangeStore, this.#keyRangeStore(call, process.id)),
      Context.add(LinkLifetime, this.#linkLifetime(call, process.id)),
      Context.add(GuardedCreates, this.#guardedCreates(call, process.id)),
      Context.add(KeyStock, this.#keyStock(call, process.id)),
      Context.add(VisitStore, this.#visitStore(call, process.id)),
      Context.add(DatabaseMark, this.#databaseMark(call, process.id)),
      Context.add(DeploymentStore, {
        decide: (name, value) =>
          call(
            "DeploymentStore.decide",
            statement(() => [`deployment ${name}`]),
            () => this.#deployment.decide(name, value)
          )
      })
    )
  }

  #callOf(process: VirtualProcess): Call {
    const run: Call = (operation, plan, apply) =>
      this.#transactions.run(process, operation, plan, (server) =>
        this.#commit(process, server, (copy) =>
          Effect.runSyncExit(Effect.withClock(apply(copy), this.clock.service))
        )
      )
    return this.#homes === undefined ? run : this.#onTenure(run)
  }

  /**
   * The same for a caller that knows an epoch of this database: an operation by an old one is refused when it comes to its end. PostgreSQL has those end that had begun before the epoch was raised,
   * and who raises it waits for them.
   */
  #onTenure(run: Call): Call {
    const isUnfenced = this.#homes?.isUnfenced === true
    return <A, E>(operation: string, plan: Plan, apply: (copy: DatabaseCopy) => Effect.Effect<A, E>) =>
      Effect.flatMap(Effect.zip(LinkTenure, AskedEpoch), ([tenure, asked]) => {
        const epoch = asked?.epoch ?? (asksEpoch.has(operation) ? tenure?.epoch : undefined)
        const { isTransaction, steps } = plan
        const whole =
          asked?.epoch === undefined || isTransaction
            ? plan
            : { isTransaction: true, steps: [{ writes: false }, ...steps] }
        return run<A, E | StorageError>(operation, whole, (copy) => {
          const { home } = copy.tables
          if (epoch !== undefined && home.epoch > epoch && !isUnfenced) return refused(operation)
          home.tenure = tenure
          return Effect.ensuring(
            apply(copy),
            Effect.sync(() => {
              home.tenure = undefined
            })
          )
        })
      })
  }

  /** Has a process do something else at this database, at one moment. */
  ask<A>(
    process: VirtualProcess,
    operation: string,
    plan: Plan,
    apply: (tables: Tables) => A
  ): Effect.Effect<A, StorageError> {
    return this.#callOf(process)(operation, plan, ({ tables }) => Effect.sync(() => apply(tables)))
  }

  /** Its tables, for those who look at what is so, and for the servers' replication. */
  get tables(): Tables {
    return this.#primary.tables
  }

  /** Statements about links, of which one can have each key once; `by`: the process whose outbox is written in the same transaction. */
  #planOfKeys(
    by: string | undefined,
    questions: ReadonlyArray<{ readonly key: string }>,
    onlyPresent = false
  ): Plan {
    const locks = () => (onlyPresent ? this.#present(questions) : questions).map(({ key }) => linkRow(key))
    const isTwice = questions.length > 1 && new Set(questions.map(({ key }) => key)).size < questions.length
    const isOutbox = by !== undefined && this.#outboxes.has(by)
    return isTwice || isOutbox ? transaction(locks, undefined) : statement(locks)
  }

  /** The questions about keys that have a row. */
  #present<A extends { readonly key: string }>(questions: ReadonlyArray<A>): ReadonlyArray<A> {
    return questions.filter(({ key }) => this.#rows.has(key))
  }

  /** The rows of guards that are there. */
  #guardRows(guards: ReadonlyArray<{ readonly name: string }>): ReadonlyArray<string> {
    return guards
      .filter(({ name }) => this.#primary.tables.guards.has(name))
      .map(({ name }) => guardRow(name))
  }

  #recyclable({ count, quarantine_ms }: Recycling): ReadonlyArray<string> {
    const { isLocked, tables: all } = this.#primary
    const tables = { ended: all.ended, isLocked }
    return LinkLifetimeMemory.recyclable(tables, this.clock.now_ms - quarantine_ms, count)
  }

  /** Takes the events that wait for webhooks, by their ids: when the world runs no more. */
  get undelivered(): ReadonlyArray<string> {
    const now_ms = this.clock.now_ms + 24 * 3_600_000
    const later = {
      ...Clock.make(),
      unsafeCurrentTimeMillis: () => now_ms,
      currentTimeMillis: Effect.succeed(now_ms)
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
    const all: Array<string> = []
    for (let found = some(); found.length > 0; found = some())
      all.push(...found.flatMap(WebhookStoreMemory.eventsOf))
    return all
  }

  /** The stores of users, quotas and webhooks, as a process reaches them. */
  userStores(
    process: VirtualProcess,
    mutation: Pick<Mutation, "quotas" | "webhooks"> = sound
  ): Context.Context<AccountStore | QuotaStore | WebhookStore> {
    const call = this.#callOf(process)
    const by = process.id
    const { accounts, quotas: limits, webhooks } = this.users
    const ask = <A>(operation: string, plan: Plan, self: Effect.Effect<A, StorageError>) =>
      call(operation, plan, () => self)
    const notSimulated = Effect.dieMessage("accounts are only asked for API keys")
    const quotas: typeof QuotaStore.Service = {
      leaseMany: (asks) =>
        ask(
          "QuotaStore.leaseMany",
          transaction(() => asks.map(({ id }) => `quotas ${id}`), undefined),
          Effect.tap(limits.leaseMany(asks), (leases) =>
            leases.forEach(({ granted, nextIn_ms }, index) => {
              const { demand, id: quota, limit } = asks[index]!
              this.#journal.add({ tag: "granted", by, quota, limit, demand, granted, nextIn_ms })
            })
          )
        ),
      sweep: (max) => ask("QuotaStore.sweep", statement(), limits.sweep(max))
    }
    const queue: typeof WebhookStore.Service = {
      ...webhooks,
      look: (known) => ask("WebhookStore.look", query, webhooks.look(known)),
      offer: (messages) => ask("WebhookStore.offer", statement(), webhooks.offer(messages)),
      claim: (claim) => ask("WebhookStore.claim", transaction(undefined, undefined), webhooks.claim(claim)),
      delivered: (delivery) =>
        ask("WebhookStore.delivered", transaction(undefined, undefined), webhooks.delivered(delivery)),
      failed: (delivery, failure) =>
        ask("WebhookStore.failed", transaction(undefined, undefined), webhooks.failed(delivery, failure)),
      release: (delivery, in_ms) =>
        ask("WebhookStore.release", statement(), webhooks.release(delivery, in_ms)),
      lapse: (adminKeyId) => ask("WebhookStore.lapse", statement(), webhooks.lapse(adminKeyId)),
      sweep: ask("WebhookStore.sweep", statement(), webhooks.sweep)
    }
    return Context.make(AccountStore, {
      ...Records.map(accounts, () => () => notSimulated),
      keyBySecret: (hash) => ask("AccountStore.keyBySecret", query, accounts.keyBySecret(hash))
    } as typeof AccountStore.Service).pipe(
      Context.add(QuotaStore, mutation.quotas?.(quotas, process) ?? quotas),
      Context.add(WebhookStore, mutation.webhooks?.(queue, process) ?? queue)
    )
  }

  /** The further domains, as a process reads them; they do not change, but for where aliases can have several segments. */
  domainStore(process: VirtualProcess): typeof DomainStore.Service {
    const call = this.#callOf(process)
    const { domains } = this
    return {
      ...domains,
      read: (known) => call("DomainStore.read", query, () => domains.read(known)),
      addLongAliases: (number) =>
        call(
          "DomainStore.addLongAliases",
          statement(() => ["domains"]),
          () => domains.addLongAliases(number)
        )
    }
  }

  /** Has what a process changes queue events for webhooks in the same transaction; in a further database they wait to be carried. */
  tellWebhooks(
    { id }: VirtualProcess,
    make: (parts: Omit<OutboxParts, "listeners">) => typeof LinkStore.Service
  ) {
    const { outbox } = this.#primary.tables
    const keep: OutboxParts["webhooks"]["offer"] = (messages) =>
      Effect.sync(() => {
        for (const message of messages) if (!outbox.has(message.id)) outbox.set(message.id, message)
        return 0
      })
    const queue = this.#homes?.control === undefined ? this.users.webhooks.offer : keep
    const offer: OutboxParts["webhooks"]["offer"] = (messages) =>
      Effect.tap(queue(messages), () => {
        if (messages.length > 0)
          this.#journal.add({ tag: "offered", by: id, events: messages.map((message) => message.id) })
      })
    this.#outboxes.set(
      id,
      make({ store: this.#primary.links, webhooks: { offer }, inTransaction: (run) => run })
    )
  }

  /** The news of links, as a process hears them on a connection of its own, which goes with the scope. */
  changes(process: VirtualProcess): Effect.Effect<LinkInvalidationsService, never, Scope.Scope> {
    return this.#news.of(process)
  }

  /** The row of a key, with its `createId`. */
  row(key: string): Link | undefined {
    return this.#rows.get(key)
  }

  /** All rows by their keys, tombstones included. */
  get rows(): ReadonlyMap<string, Link> {
    return this.#rows
  }

  /** The keys that can be taken from the stock, of whatever kind. */
  get stockedKeys(): ReadonlySet<string> {
    return freeKeys(this.#primary.tables)
  }

  /** Rows that the kinds of stock have, of used keys included, in the table of each. */
  get stockRows(): Readonly<Record<"table" | "status" | "two-table", number>> {
    const { ahead, stock } = this.#stocked
    const rowsOf = ({ unused, used }: KeyStockMemory.Remembering) => unused.size + used.size
    return { table: stock.size, status: rowsOf(ahead.status), "two-table": rowsOf(ahead["two-table"]) }
  }

  /** The batches of all shards that are not closed. */
  get openBatches(): ReadonlyArray<BatchRecord> {
    return Array.from(this.#stocked.batches.values())
  }

  /** When nodes heard nothing of it, up to now. */
  get silences(): ReadonlyArray<Silence> {
    return this.#news.silences
  }

  /** See `VirtualNews`. */
  get aways(): ReadonlyArray<Away> {
    return this.#news.aways
  }

  /** The watermarks of all slots that were ever used. */
  get watermarks(): ReadonlyArray<Watermark> {
    return Effect.runSync(Effect.orDie(this.#primary.ranges.watermarks))
  }

  #linkStore(call: Call, by: string): typeof LinkStore.Service {
    return {
      insertMany: (links) =>
        call("LinkStore.insertMany", this.#planOfKeys(by, links), (copy) => this.#insert(copy, by, links)),
      findMany: (keys) => call("LinkStore.findMany", query, ({ links }) => links.findMany(keys)),
      deleteMany: (deletions) =>
        call("LinkStore.deleteMany", this.#planOfKeys(by, deletions, true), (copy) =>
          this.#delete(copy, by, deletions)
        ),
      updateMany: (updates) =>
        call("LinkStore.updateMany", this.#planOfKeys(undefined, updates, true), (copy) =>
          this.#update(copy, by, updates)
        ),
      list: (wanted) => call("LinkStore.list", query, ({ links }) => links.list(wanted)),
      rankMany: (ranks) => call("LinkStore.rankMany", statement(), ({ links }) => links.rankMany(ranks)),
      crawlable: (wanted) => call("LinkStore.crawlable", query, ({ links }) => links.crawlable(wanted)),
      takeVisits: (takes) =>
        call(
          "LinkStore.takeVisits",
          transaction(() => this.#present(takes).map(({ key }) => linkRow(key)), undefined),
          (copy) => this.#takeVisits(copy, takes)
        ),
      takenAmong: (keys) => call("LinkStore.takenAmong", query, ({ links }) => links.takenAmong(keys))
    }
  }

  #guardedCreates(call: Call, by: string): typeof GuardedCreates.Service {
    return {
      beginMany: (batch) =>
        call(
          "GuardedCreates.beginMany",
          statement(() => batch.map(({ name }) => guardRow(name))),
          ({ guarded }) => guarded.beginMany(batch)
        ),
      bindMany: (batch) =>
        call(
          "GuardedCreates.bindMany",
          transaction(
            () => this.#guardRows(batch.flatMap(({ guards }) => guards)),
            () => batch.map(({ link }) => linkRow(link.key)),
            undefined
          ),
          (copy) => this.#bindGuarded(copy, by, batch)
        ),
      settleMany: (batch) =>
        call(
          "GuardedCreates.settleMany",
          transaction(() => this.#guardRows(batch), undefined),
          ({ guarded }) => guarded.settleMany(batch)
        ),
      abandonMany: (batch) =>
        call(
          "GuardedCreates.abandonMany",
          transaction(() => this.#guardRows(batch), undefined),
          ({ guarded }) => guarded.abandonMany(batch)
        ),
      findByUrl: (owner, url, now) =>
        call("GuardedCreates.findByUrl", query, ({ guarded }) => guarded.findByUrl(owner, url, now)),
      drop: (keep_ms, count) =>
        call("GuardedCreates.drop", statement(), ({ guarded }) => guarded.drop(keep_ms, count))
    }
  }

  #linkLifetime(call: Call, by: string): typeof LinkLifetime.Service {
    const ended =
      ({ announce, journal }: DatabaseCopy) =>
      (keys: ReadonlyArray<string>) => {
        keys.forEach((key) => journal.add({ tag: "expired", by, key }))
        announce(new Set(keys))
      }
    return {
      expire: (keys) =>
        call("LinkLifetime.expire", statement(), (copy) =>
          Effect.tap(copy.lifetime.expire(keys), ended(copy))
        ),
      expireSome: (count) =>
        call("LinkLifetime.expireSome", statement(), (copy) =>
          Effect.tap(copy.lifetime.expireSome(count), ended(copy))
        ),
      recycle: (options) =>
        call(
          "LinkLifetime.recycle",
          transaction(
            () => this.#recyclable(options).map(linkRow),
            () => this.openBatches.map(batchRow),
            undefined
          ),
          ({ announce, journal, lifetime, tables }) =>
            Effect.tap(lifetime.recycle(options), (freed) => {
              for (const { key } of freed)
                journal.add({ tag: "freed", by, key, custom: !tables.stocked.stock.has(plainKeyOf(key)) })
              const keys = freed.map(({ key }) => key)
              BucketHome.noteFreed(tables.home, keys)
              announce(new Set(keys))
            })
        ),
      toForget: (count) => call("LinkLifetime.toForget", query, ({ lifetime }) => lifetime.toForget(count)),
      forgotten: (subjects) =>
        call("LinkLifetime.forgotten", statement(), ({ lifetime }) => lifetime.forgotten(subjects))
    }
  }

  #bindGuarded({ guarded, journal, tables }: DatabaseCopy, by: string, batch: ReadonlyArray<GuardedLink>) {
    const free = new Set(batch.map(({ link }) => link.key).filter((key) => !tables.rows.has(key)))
    return Effect.tap(guarded.bindMany(batch), (outcomes) =>
      batch.forEach(({ link }, index) => {
        if (outcomes[index] === "taken") journal.add({ tag: "conflicted", by, link })
        else if (outcomes[index] === "bound" && free.delete(link.key)) journal.add({ tag: "bound", by, link })
      })
    )
  }

  #insert({ journal, links: store, tables }: DatabaseCopy, by: string, links: ReadonlyArray<Link>) {
    const free = new Set<string>()
    for (const { key } of links) if (!tables.rows.has(key)) free.add(key)
    return Effect.tap((this.#outboxes.get(by) ?? store).insertMany(links), (answers) =>
      links.forEach((link, index) => {
        if (answers[index] === false) journal.add({ tag: "conflicted", by, link })
        // The others are repeats.
        else if (free.delete(link.key)) journal.add({ tag: "bound", by, link })
      })
    )
  }

  #delete(
    { announce, journal, links, tables }: DatabaseCopy,
    by: string,
    deletions: ReadonlyArray<Deletion>
  ) {
    const live = new Set<string>()
    for (const { key } of deletions) if (tables.rows.get(key)?.deletedAt === null) live.add(key)
    return Effect.tap((this.#outboxes.get(by) ?? links).deleteMany(deletions), (answers) => {
      // A repeat writes its tombstone once more, and so announces it too.
      const written = new Set(deletions.filter((_, index) => answers[index]).map(({ key }) => key))
      for (const key of written) if (live.has(key)) journal.add({ tag: "deleted", by, key })
      announce(written)
    })
  }

  #update({ announce, journal, links, tables }: DatabaseCopy, by: string, updates: ReadonlyArray<Update>) {
    const written = new Set<string>()
    // One after the other: the journal has each, also of two of one link.
    const rows = Effect.forEach(updates, (update) => {
      const before = tables.rows.get(update.key)
      return Effect.map(links.updateMany([update]), ([row]) => {
        if (tables.rows.get(update.key) === before) return row ?? null
        const { key } = update
        written.add(key)
        journal.add({ tag: "changed", by, link: tables.rows.get(key)! })
        return row ?? null
      })
    })
    return Effect.tap(rows, () => announce(written))
  }

  #takeVisits({ announce, links, tables }: DatabaseCopy, takes: ReadonlyArray<Take>) {
    const before = new Map(takes.map(({ key }) => [key, tables.rows.get(key)]))
    return Effect.tap(links.takeVisits(takes), () => {
      const usedUp = [...before].filter(([key, link]) => {
        const now = tables.rows.get(key)
        return now !== link && now?.visitsLeft === 0
      })
      announce(new Set(usedUp.map(([key]) => key)))
    })
  }

  #keyRangeStore(call: Call, by: string): typeof KeyRangeStore.Service {
    return {
      advance: (slot, options) =>
        call(
          "KeyRangeStore.advance",
          statement(() => [rangeRow(slot)]),
          ({ journal, ranges }) =>
            Effect.tap(ranges.advance(slot, options), ({ count, first }) => {
              if (count > 0) journal.add({ tag: "advanced", by, slot, first, count })
            })
        ),
      watermarks: call("KeyRangeStore.watermarks", query, ({ ranges }) => ranges.watermarks)
    }
  }

  #databaseMark(call: Call, by: string): typeof DatabaseMark.Service {
    const row = () => ["database_mark"]
    return {
      move: (least) =>
        call("DatabaseMark.move", statement(row), (copy) =>
          Effect.zipRight(copy.noteMark, copy.mark.move(least))
        ),
      look: call("DatabaseMark.look", query, ({ mark }) => mark.look),
      recover: (witnessed) =>
        call(
          "DatabaseMark.recover",
          transaction(
            row,
            () => Array.from(this.#stocked.epochs.keys(), shardRow),
            () => witnessed.watermarks.map(rangeRow),
            () => this.openBatches.map(batchRow),
            undefined
          ),
          (copy) => this.#recover(copy, by, witnessed)
        ),
      regressions: call("DatabaseMark.regressions", query, ({ mark }) => mark.regressions),
      identity: call("DatabaseMark.identity", query, ({ mark }) => mark.identity)
    }
  }

  #recover(
    copy: DatabaseCopy,
    by: string,
    witnessed: Parameters<(typeof DatabaseMark.Service)["recover"]>[0]
  ) {
    const { journal, mark, ranges, tables } = copy
    const { ahead, batches, stock } = tables.stocked
    const keys = [
      ...Array.from(batches.values()).flatMap((batch) => toStrings(batch.keys)),
      ...[stock, ahead.status.unused, ahead["two-table"].unused].flatMap((keys) => [...keys])
    ]
    return copy.noteMark.pipe(
      Effect.zipRight(mark.recover(witnessed)),
      Effect.tap((regression) => {
        if (regression !== undefined) copy.comparison?.part()
        return Effect.map(ranges.watermarks, (watermarks) => {
          if (regression === undefined) return
          journal.add({
            tag: "recovered",
            by,
            keys,
            watermarks,
            epochs: Array.from(tables.stocked.epochs)
          })
        })
      })
    )
  }

  #keyStock(call: Call, by: string): typeof KeyStock.Service {
    const recorded =
      ({ shard, ...batch }: BatchId, { journal, log }: DatabaseCopy) =>
      (keys: ReadonlyArray<string>) => {
        const { epoch } = batch
        for (const key of keys) log.changed("recorded", key, nothing)
        if (keys.length > 0) journal.add({ tag: "recorded", by, shard, epoch, batch: nameOf(batch), keys })
      }
    const inBatch = (batch: BatchId) =>
      transaction(
        () => [shardRow(batch.shard)],
        () => [batchRow(batch)]
      )
    /** Tells of a refusal. */
    const fenced = <A>(
      operation: string,
      plan: Plan,
      apply: (copy: DatabaseCopy) => Effect.Effect<A, StorageError | Fenced>
    ) =>
      call(operation, plan, (copy) =>
        Effect.tapErrorTag(apply(copy), "Fenced", ({ epoch, shard }) =>
          Effect.sync(() => copy.journal.add({ tag: "fenced", by, shard, epoch }))
        )
      )
    return {
      claim: (shard, above) =>
        call(
          "KeyStock.claim",
          statement(() => [shardRow(shard)]),
          ({ journal, stock }) =>
            Effect.tap(stock.claim(shard, above), ({ epoch }) =>
              journal.add({ tag: "claimed", by, shard, epoch })
            )
        ),
      add: (keys) =>
        call("KeyStock.add", statement(), ({ journal, stock }) =>
          Effect.tap(stock.add(keys), () => {
            if (count(keys) > 0) journal.add({ tag: "stocked", by, keys: toStrings(keys) })
          })
        ),
      fill: (keys) =>
        call("KeyStock.fill", statement(), ({ journal, stock, tables }) =>
          Effect.suspend(() => {
            const before = freeKeys(tables)
            return Effect.tap(stock.fill(keys), () => {
              const now = freeKeys(tables)
              const fresh = toStrings(keys).filter((key) => now.has(key) && !before.has(key))
              if (fresh.length > 0) journal.add({ tag: "stocked", by, keys: fresh })
            })
          })
        ),
      take: (batch, wanted) =>
        fenced("KeyStock.take", inBatch(batch), (copy) =>
          Effect.tap(copy.stock.take(batch, wanted), (keys) => recorded(batch, copy)(toStrings(keys)))
        ),
      record: (batch, keys) =>
        fenced("KeyStock.record", inBatch(batch), (copy) =>
          Effect.tap(copy.stock.record(batch, keys), () => recorded(batch, copy)(toStrings(keys)))
        ),
      openBatches: (shard) => call("KeyStock.openBatches", query, ({ stock }) => stock.openBatches(shard)),
      close: (claim, batches) =>
        batches.length === 0
          ? Effect.void
          : fenced(
              "KeyStock.close",
              transaction(
                () => [shardRow(claim.shard)],
                () => batches.map((batch) => batchRow({ ...batch, shard: claim.shard }))
              ),
              (copy) => this.#close(copy, by, claim, batches)
            ),
      size: call("KeyStock.size", query, ({ stock }) => stock.size),
      adopt: (count) =>
        call("KeyStock.adopt", transaction(undefined, undefined), ({ stock }) => stock.adopt(count))
    }
  }

  #writeVisits({ journal, log, tables, visits }: DatabaseCopy, by: string, batch: VisitBatch) {
    const { writer } = batch
    // One can have visits in two hours.
    const subjects = Array.from(new Set(batch.hours.map(({ subject }) => subject))).filter(isLinkSubject)
    const totals = Effect.map(visits.totals(subjects), (all) =>
      all.map(({ bots, nonBots }) => bots + nonBots)
    )
    return Effect.gen(this, function* () {
      if (log.isKept) log.changed("visits", by, VisitStoreMemory.remembered(tables.visits, batch))
      const before = yield* totals
      yield* visits.write(batch)
      const after = yield* totals
      const added = subjects.map(
        (subject, index) => [keyOf(subject), after[index]! - before[index]!] as const
      )
      const counted = added.filter(([, count]) => count > 0)
      journal.add({
        tag: "counted",
        by,
        visits: counted,
        ...(this.#homes !== undefined && { writer })
      })
      log.changed("visits", by, () => this.#uncounted.push([by, counted]))
    })
  }

  #visitStore(call: Call, by: string): typeof VisitStore.Service {
    const writing = ({ hours, writer }: VisitBatch) =>
      transaction(
        () => [`visit_writers ${writer}`],
        () => hours.map(({ hour, subject }) => `visit_periods ${subject}/${hour}`)
      )
    const ask = <A>(
      operation: string,
      plan: Plan,
      apply: (visits: typeof VisitStore.Service, copy: DatabaseCopy) => Effect.Effect<A, StorageError>
    ) => call(`VisitStore.${operation}`, plan, (copy) => apply(copy.visits, copy))
    return {
      write: (batch) => {
        const write = ask("write", writing(batch), (_, copy) => this.#writeVisits(copy, by, batch))
        return this.#homes === undefined ? noteWrites(this.#journal, by, () => write)(batch) : write
      },
      totals: (subjects) => ask("totals", query, (visits) => visits.totals(subjects)),
      series: (range, interval) => ask("series", query, (visits) => visits.series(range, interval)),
      visitors: (range, interval) => ask("visitors", query, (visits) => visits.visitors(range, interval)),
      top: (range, max) => ask("top", query, (visits) => visits.top(range, max)),
      rollUp: (until, max) =>
        ask(
          "rollUp",
          transaction(() => ["visit_rolled"], undefined),
          (visits) => visits.rollUp(until, max)
        ),
      // No process of the simulation lists links.
      rank: () => Effect.succeed(false),
      drop: (before, max) => ask("drop", statement(), (visits) => visits.drop(before, max)),
      dropWriters: (before) => ask("dropWriters", statement(), (visits) => visits.dropWriters(before)),
      forget: (subjects) =>
        subjects.length === 0 ? Effect.void : ask("forget", statement(), (visits) => visits.forget(subjects))
    }
  }

  #close(
    { journal, stock, tables }: DatabaseCopy,
    by: string,
    claim: PoolClaim,
    batches: ReadonlyArray<Omit<BatchId, "shard">>
  ) {
    const { shard } = claim
    const open = batches.filter((batch) =>
      tables.stocked.batches.has(KeyStockMemory.idOf({ ...batch, shard }))
    )
    return Effect.tap(stock.close(claim, batches), () =>
      open.forEach((batch) => journal.add({ tag: "closed", by, shard, batch: nameOf(batch) }))
    )
  }
}
