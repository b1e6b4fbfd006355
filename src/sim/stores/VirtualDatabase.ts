import { Context, Effect, Exit, Scope } from "effect"
import { Direct } from "../../fibers/Direct.ts"
import type { Link } from "../../model/Link.ts"
import type { DomainStore } from "../../storage/domains/DomainStore.ts"
import type { Watermark } from "../../storage/keys/KeyRangeStore.ts"
import type { BatchRecord, StockKind } from "../../storage/keys/KeyStock.ts"
import type { LinkInvalidationsService } from "../../storage/links/LinkInvalidations.ts"
import type { LinkStore } from "../../storage/links/LinkStore.ts"
import { boundsFor, type SessionBounds } from "../../storage/sql/postgres/PrimaryClient.ts"
import type { StorageError } from "../../storage/StorageError.ts"
import { VisitStore } from "../../storage/visits/VisitStore.ts"
import type { OutboxParts } from "../../storage/webhooks/WebhookOutbox.ts"
import { type Journal, takenIn } from "../Journal.ts"
import { type Mutation, sound } from "../mutants/Mutation.ts"
import type { Chance } from "../world/Chance.ts"
import { ms_us } from "../world/Time.ts"
import type { VirtualProcess } from "../world/VirtualProcess.ts"
import { VirtualServer } from "../world/VirtualServer.ts"
import { type Changed, CommitLog } from "./database/CommitLog.ts"
import { DatabaseClock } from "./database/DatabaseClock.ts"
import { type Ailment, DatabaseServer } from "./database/DatabaseServer.ts"
import { SessionFigures } from "./database/SessionFigures.ts"
import { type Plan, Transactions } from "./database/Transactions.ts"
import { cloned, DatabaseCopy, emptyTables, identity, type Tables } from "./DatabaseCopy.ts"
import * as DeploymentStoreMemory from "./DeploymentStoreMemory.ts"
import * as KeyStockMemory from "./KeyStockMemory.ts"
import { type Away, type NewsFaults, type Silence, VirtualNews } from "./news/VirtualNews.ts"
import { type Call, type CallDirect, direct, joining, onTenure } from "./ports/Call.ts"
import * as DomainPort from "./ports/DomainPort.ts"
import * as KeyPorts from "./ports/KeyPorts.ts"
import * as LinkPorts from "./ports/LinkPorts.ts"
import * as NodePorts from "./ports/NodePorts.ts"
import * as OwnersPorts from "./ports/OwnersPorts.ts"
import * as UserPorts from "./ports/UserPorts.ts"
import * as VisitPort from "./ports/VisitPort.ts"
import { BrokenStatements } from "./sql/BrokenStatements.ts"
import type { ComparisonFigures, Differs } from "./sql/Comparison.ts"
import * as SqlStores from "./sql/SqlStores.ts"
import type { StoreOptions } from "./StoreCalls.ts"
import { UserTables, type Waiting } from "./database/UserTables.ts"

const nothing = () => {}

/** A database's machine, in the network, by its number. */
const machineOf = (number: number) => (number === 0 ? "database" : `database-${number}`)

/** How long a statement may take to be answered, as `PostgresClient` has it. */
const answerMax_ms = 4_000

/** How long one of SQLite may: longer than any takes, since the product waits for each. */
const hereMax_ms = 60_000

/** How a database is. */
export interface DatabaseOptions {
  /** How its keys are stocked. */
  readonly keyStock?: Exclude<StockKind, "file"> | undefined
  /** How far behind its standby is, at most; 0: it has every commit before that is answered. */
  readonly lag_ms?: number
  /** Whether it stands for SQLite in the only process: that waits for each answer, however long it takes. */
  readonly isHere?: boolean
  /** Connections that each process has at most; as in production unless said otherwise. */
  readonly connectionsMax?: number
  /** How likely answers are late now on the sessions by which nodes hear of changes, and by how much at most. */
  readonly slowNews?: () => NewsFaults["slow"]
  /** Microseconds that its clock gains in a second. */
  readonly drift?: number
  /** Where several databases have links, what makes it one of them. */
  readonly homes?: OneOfSeveral
  /** Whether its stores are compared with those of production over SQLite: those of users where it is the control database, and all others only where it has all links. */
  readonly isCompared?: boolean
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

/** A primary that has been left behind, and the visits that its last commit has counted in vain. */
interface Former {
  readonly server: DatabaseServer
  readonly copy: DatabaseCopy
  readonly visits: Array<VisitPort.Uncounted>
}

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
  readonly #uncounted: Array<VisitPort.Uncounted> = []
  readonly #stockKind: Exclude<StockKind, "file"> | undefined
  readonly #bounds: Partial<SessionBounds> | undefined
  readonly figures: SessionFigures
  readonly #homes: OneOfSeveral | undefined
  /** A standby that was made last, and the clients whose new connections lead there. */
  #standby: DatabaseServer | undefined
  readonly #astray = new Set<string>()
  /** The primary that has been left behind last, as long as it lives on. */
  #former: Former | undefined
  readonly users: UserTables
  /** The outbox of each process, by its id. */
  readonly #outboxes = new Map<string, typeof LinkStore.Service>()
  readonly #deployment = Effect.runSync(DeploymentStoreMemory.make)
  /** Of what it is compared with. */
  readonly #scope = Effect.runSync(Scope.make())

  constructor(
    options: StoreOptions,
    {
      connections = {},
      database,
      statement,
      ...ofUsers
    }: Pick<
      Mutation,
      "connections" | "database" | "quotaTables" | "statement" | "users" | "webhookTables"
    > = sound,
    {
      connectionsMax,
      drift = 0,
      homes,
      isCompared = false,
      isHere = false,
      keyStock,
      lag_ms = 0,
      slowNews = () => ({ probability: 0, most_ms: 0 })
    }: DatabaseOptions = {}
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
      answerMax_ms: isHere ? hereMax_ms : answerMax_ms,
      inOrder: false,
      crashPoint,
      unanswered: journal.unanswered,
      ...(begins !== undefined && { begins })
    })
    this.clock = homes?.control?.clock ?? new DatabaseClock(world, drift)
    this.#bounds = isHere ? boundsFor(hereMax_ms) : connections.bounds
    this.#sessions = this.#serverOf(identity.timeline)
    this.server.whenStopped(() => this.#sessions.shutDown())
    this.#transactions = new Transactions((client) => this.#routeOf(client), options, {
      ...(connectionsMax !== undefined && { most: connectionsMax }),
      ...(isHere && { answerMax_ms: hereMax_ms, connectMax_ms: hereMax_ms }),
      ...connections.pool
    })
    this.#news = new VirtualNews(
      this.server,
      () => ({ calls: faults(), slow: slowNews() }),
      (process) => this.#transactions.proved(process, this.#sessions),
      () => this.clock.now_ms,
      homes?.control === undefined,
      () => this.tables.home.epoch
    )
    const broken = new BrokenStatements(world.chance("broken statements"))
    // What is broken about it would differ, too.
    const sql =
      isCompared &&
      homes?.control === undefined &&
      [database, ofUsers.quotaTables, ofUsers.users, ofUsers.webhookTables].every((one) => one === undefined)
        ? Effect.runSync(
            Scope.extend(SqlStores.make(this.clock.service, keyStock, statement, broken.next), this.#scope)
          )
        : undefined
    const differs: Differs = (operation, inMemory, bySql) =>
      journal.add({ tag: "differed", by: "database", operation, inMemory, bySql })
    const compared = sql && { sql, differs, broken, ago: this.clock.ago }
    this.users = new UserTables(compared, ofUsers)
    this.#primary = new DatabaseCopy({
      tables: emptyTables(this.#log),
      log: this.#log,
      isLocked: (name) => this.#sessions.isLocked(name),
      journal,
      announce: (keys) => this.#news.announce(keys),
      keyStock,
      broken: database,
      isOneOfSeveral: homes !== undefined,
      ...(homes === undefined && { compared })
    })
  }

  /** How its stores were compared with those of production, if they were. */
  get compared(): ComparisonFigures | undefined {
    const { comparison: links } = this.#primary
    const { answers, isCompared } = this.users
    if (!isCompared) return undefined
    return { answers: (links?.answers ?? 0) + answers, isWhole: links?.isOn ?? true }
  }

  /** Gives up what it is compared with: when the world runs no more. */
  close() {
    this.#primary.comparison?.part()
    this.users.part()
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
    const visits: Array<VisitPort.Uncounted> = []
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
  #inVain(visits: Array<VisitPort.Uncounted>): Pick<Journal, "add"> {
    const journal = this.#journal
    return {
      add: (entry) => {
        if (entry.tag === "advanced" || entry.tag === "recorded") journal.add({ ...entry, isInVain: true })
        if (entry.tag === "stocked" || entry.tag === "freed" || entry.tag === "fenced") journal.add(entry)
        if (entry.tag !== "counted") return
        journal.add(entry)
        visits.push([entry.by, takenIn(entry)])
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

  #tellForgotten(commits: number, changed: Changed, visits: Array<VisitPort.Uncounted>) {
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
  stores(process: VirtualProcess) {
    const call = this.#callOf(process)
    const callDirect = this.#directOf(process)
    const { id } = process
    const visits = VisitPort.make(call, callDirect, id, {
      journal: this.#journal,
      isOneOfSeveral: this.#homes !== undefined,
      forgot: (visits) => this.#uncounted.push(visits)
    })
    return Context.mergeAll(
      LinkPorts.make(call, callDirect, id, {
        primary: this.#primary,
        now_ms: () => this.clock.now_ms,
        outbox: () => this.#outboxes.get(id)
      }),
      KeyPorts.make(call, id),
      NodePorts.make(call, id, { tables: this.tables, deployment: this.#deployment }),
      Context.make(VisitStore, visits)
    )
  }

  /** What a process asks of the links of owners who are gone, where links are in several databases: of those in this one, and of who they are where it is the control database. */
  owners(process: VirtualProcess) {
    const call = this.#callOf(process)
    return { links: OwnersPorts.links(call, process.id, this.#primary), gone: OwnersPorts.gone(call) }
  }

  /** The stores of users, quotas and webhooks, as a process reaches them. */
  userStores(process: VirtualProcess, mutation: Pick<Mutation, "audit" | "quotas" | "webhooks">) {
    const surroundings = { journal: this.#journal, users: this.users.stores }
    return UserPorts.make(this.#callOf(process), process, surroundings, mutation)
  }

  /** The further domains, as a process reads and changes them. */
  domainStore(process: VirtualProcess): typeof DomainStore.Service {
    return DomainPort.make(this.#callOf(process), this.users.domains, process.id, this.#journal)
  }

  #callOf(process: VirtualProcess): Call {
    const run = joining((operation, plan, apply) =>
      this.#transactions.run(process, operation, plan, this.#committing(process, apply))
    )
    return this.#homes === undefined ? run : onTenure(run, this.#homes.isUnfenced)
  }

  #directOf(process: VirtualProcess): CallDirect {
    return direct(
      this.#callOf(process),
      (operation, plan, apply) =>
        new Direct(this.#transactions.runThen(process, operation, plan, this.#committing(process, apply))),
      this.#homes?.isUnfenced === true
    )
  }

  /** What happens at the end of what a process asks of a server. */
  #committing<A, E>(process: VirtualProcess, apply: (copy: DatabaseCopy) => Effect.Effect<A, E>) {
    return (server: DatabaseServer): Exit.Exit<A, E> =>
      this.#commit(process, server, (copy) =>
        Effect.runSyncExit(Effect.withClock(apply(copy), this.clock.service))
      )
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
    const enqueue: typeof keep = (messages) =>
      Effect.tap(this.users.stores.webhooks.offer(messages), () =>
        UserPorts.noteQueued(this.#journal, id, messages)
      )
    const queue = this.#homes?.control === undefined ? enqueue : keep
    let isOpen = false
    const offer: OutboxParts["webhooks"]["offer"] = (messages) =>
      // What is offered after the transaction can be lost, and is.
      isOpen
        ? Effect.tap(queue(messages), () => {
            if (messages.length > 0)
              this.#journal.add({
                tag: "offered",
                by: id,
                events: messages.map((message) => message.id),
                owners: messages.map(({ owner }) => owner)
              })
          })
        : Effect.succeed(0)
    const inTransaction: OutboxParts["inTransaction"] = (run) =>
      Effect.suspend(() => {
        isOpen = true
        return Effect.ensuring(
          run,
          Effect.sync(() => {
            isOpen = false
          })
        )
      })
    this.#outboxes.set(id, make({ store: this.#primary.links, webhooks: { offer }, inTransaction }))
  }

  /** The news of links, as a process hears them on a connection of its own, which goes with the scope. */
  changes(process: VirtualProcess): Effect.Effect<LinkInvalidationsService, never, Scope.Scope> {
    return this.#news.of(process)
  }

  /** Ends the sessions by which the processes at a place hear of changes; see `VirtualNews`. */
  resetNews(place: string, unnoticed_us: number) {
    this.#news.reset(place, unnoticed_us)
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
    return KeyStockMemory.freeKeys(this.#stocked)
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

  /** See `VirtualNews`. */
  get listenings() {
    return this.#news.listenings
  }

  /** The watermarks of all slots that were ever used. */
  get watermarks(): ReadonlyArray<Watermark> {
    return Effect.runSync(Effect.orDie(this.#primary.ranges.watermarks))
  }

  /** Takes the events that wait for webhooks: when the world runs no more. */
  get undelivered(): ReadonlyArray<Waiting> {
    return this.users.takeEvents(this.clock.now_ms)
  }
}
