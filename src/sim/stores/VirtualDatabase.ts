import { Clock, Context, Effect, Record as Records, type Scope } from "effect"
import type { Link } from "../../model/Link.ts"
import { AccountStore } from "../../storage/accounts/AccountStore.ts"
import { QuotaStore } from "../../storage/accounts/QuotaStore.ts"
import type { OutboxParts } from "../../storage/webhooks/WebhookOutbox.ts"
import { WebhookStore } from "../../storage/webhooks/WebhookStore.ts"
import * as AccountStoreMemory from "./AccountStoreMemory.ts"
import * as QuotaStoreMemory from "./QuotaStoreMemory.ts"
import * as WebhookStoreMemory from "./WebhookStoreMemory.ts"
import { count, toStrings } from "../../keys/PackedKeys.ts"
import { DatabaseMark } from "../../storage/nodes/DatabaseMark.ts"
import { DeploymentStore } from "../../storage/nodes/DeploymentStore.ts"
import * as DatabaseMarkMemory from "./DatabaseMarkMemory.ts"
import * as DeploymentStoreMemory from "./DeploymentStoreMemory.ts"
import { type GuardedLink, GuardedCreates } from "../../storage/links/GuardedCreates.ts"
import * as GuardedCreatesMemory from "./GuardedCreatesMemory.ts"
import { KeyRangeStore, type Watermark } from "../../storage/keys/KeyRangeStore.ts"
import * as KeyRangeStoreMemory from "./KeyRangeStoreMemory.ts"
import {
  type BatchId,
  type BatchRecord,
  KeyStock,
  type PoolClaim,
  type StockKind
} from "../../storage/keys/KeyStock.ts"
import * as KeyStockMemory from "./KeyStockMemory.ts"
import { LinkLifetime, type Recycling } from "../../storage/links/LinkLifetime.ts"
import * as LinkLifetimeMemory from "./LinkLifetimeMemory.ts"
import type { LinkInvalidationsService } from "../../storage/links/LinkInvalidations.ts"
import { type Deletion, LinkStore, type Update } from "../../storage/links/LinkStore.ts"
import * as LinkStoreMemory from "./LinkStoreMemory.ts"
import type { Fenced, StorageError } from "../../storage/StorageError.ts"
import { isLinkSubject } from "../../model/Visit.ts"
import { type VisitBatch, VisitStore } from "../../storage/visits/VisitStore.ts"
import * as VisitStoreMemory from "./VisitStoreMemory.ts"
import type { Take } from "../../storage/visits/VisitTakes.ts"
import type { Journal } from "../Journal.ts"
import { type Backends, type Mutation, sound } from "../mutants/Mutation.ts"
import type { VirtualProcess } from "../world/VirtualProcess.ts"
import { VirtualServer } from "../world/VirtualServer.ts"
import { type Silence, VirtualNews } from "./LinkInvalidationsVirtual.ts"
import { DatabaseServer } from "./database/DatabaseServer.ts"
import { type Plan, query, statement, transaction, Transactions } from "./database/Transactions.ts"
import type { StoreOptions } from "./StoreCalls.ts"

/** The database's machine, in the network. */
const databaseName = "database"

/** How long a statement may take to be answered, as `PostgresClient` has it. */
const answerMax_ms = 4_000

/** The key of a link whose visits a subject is of. */
const keyOf = (subject: string) => subject.slice(0, subject.indexOf("@"))

const nameOf = ({ epoch, sequence }: Omit<BatchId, "shard">) => `${epoch}/${sequence}`

/** Has a process carry out an operation, by these statements. */
type Call = <A, E>(
  operation: string,
  plan: Plan,
  apply: () => Effect.Effect<A, E>
) => Effect.Effect<A, E | StorageError>

/** The rows of links, and of other tables, by their names. */
const linkRow = (key: string) => `links ${key}`
const guardRow = (name: string) => `create_guards ${name}`
const shardRow = (shard: number) => `pool_shards ${shard}`
const rangeRow = ({ length, range }: Omit<Watermark, "next">) => `key_ranges ${length}/${range}`
const batchRow = (batch: BatchId) => `pool_batches ${KeyStockMemory.idOf(batch)}`

/**
 * The database: the tables of the ports' backends in memory, outside of every process. What a transaction does happens at its commit, at one moment; until then it
 * holds the locks of its rows as in production. What was committed stays.
 */
export class VirtualDatabase {
  readonly server: VirtualServer
  /** Its sessions and locks. */
  readonly sessions: DatabaseServer
  readonly #transactions: Transactions
  readonly #journal: Journal
  readonly #news: VirtualNews
  readonly #rows = new Map<string, Link>()
  readonly #stocked = DatabaseMarkMemory.emptyTables({ system: "the simulation's", timeline: 1 })
  readonly #mark = DatabaseMarkMemory.makeOver(this.#stocked)
  readonly #ended = new Map<string, number>()
  readonly #guards = new Map<string, GuardedCreatesMemory.GuardRow>()
  readonly #visits = Effect.runSync(VisitStoreMemory.make)
  /** Of users, quotas and webhooks, at one moment. */
  readonly accounts = Effect.runSync(AccountStoreMemory.make)
  readonly webhooks = Effect.runSync(WebhookStoreMemory.makeOver(this.accounts))
  readonly #quotas = Effect.runSync(QuotaStoreMemory.make)
  /** The outbox of each process, by its id. */
  readonly #outboxes = new Map<string, typeof LinkStore.Service>()
  readonly #links: typeof LinkStore.Service
  readonly #guarded: typeof GuardedCreates.Service
  readonly #stock: typeof KeyStock.Service
  readonly #lifetime: typeof LinkLifetime.Service
  readonly #ranges: typeof KeyRangeStore.Service
  readonly #deployment = Effect.runSync(DeploymentStoreMemory.make)

  /** `database`: what is broken about it. */
  constructor(
    options: StoreOptions,
    { database }: Pick<Mutation, "database"> = sound,
    keyStock?: Exclude<StockKind, "file">
  ) {
    const { begins, crashPoint, faults, journal, network, slow, world } = options
    this.#journal = journal
    this.server = new VirtualServer(world, network, {
      name: databaseName,
      faults,
      slow,
      answerMax_ms,
      inOrder: false,
      crashPoint,
      unanswered: journal.unanswered,
      heldUp: journal.heldUp,
      ...(begins !== undefined && { begins })
    })
    this.sessions = new DatabaseServer(this.server)
    this.#transactions = new Transactions(this.sessions, options)
    this.#news = new VirtualNews(this.server, faults)
    const rightLinks = LinkStoreMemory.makeOver(this.#rows, this.#ended)
    const right: Backends = {
      links: rightLinks,
      guarded: GuardedCreatesMemory.makeOver(this.#rows, rightLinks, this.#guards),
      stock: KeyStockMemory.makeOver(this.#stocked, keyStock),
      lifetime: LinkLifetimeMemory.makeOver({
        links: this.#rows,
        ended: this.#ended,
        isLocked: this.#isLocked,
        ...this.#stocked
      }),
      ranges: KeyRangeStoreMemory.makeOver(this.#stocked.slots)
    }
    const wrong = database?.(right, {
      rows: this.#rows,
      ended: this.#ended,
      guards: this.#guards,
      stocked: this.#stocked
    })
    const { guarded, lifetime, links, ranges, stock } = { ...right, ...wrong }
    this.#links = links
    this.#guarded = guarded
    this.#stock = stock
    this.#lifetime = lifetime
    this.#ranges = ranges
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
      Context.add(DatabaseMark, this.#databaseMark(call)),
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
    return (operation, plan, apply) =>
      this.#transactions.run(process, operation, plan, () => Effect.runSyncExit(apply()))
  }

  /** Whether another transaction has locked the row of a key. */
  readonly #isLocked = (key: string): boolean => this.sessions.isLocked(linkRow(key))

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
    return guards.filter(({ name }) => this.#guards.has(name)).map(({ name }) => guardRow(name))
  }

  #recyclable({ count, quarantine_ms }: Recycling): ReadonlyArray<string> {
    const tables = { ended: this.#ended, isLocked: this.#isLocked }
    return LinkLifetimeMemory.recyclable(tables, this.server.world.now_ms - quarantine_ms, count)
  }

  /** Takes the events that wait for webhooks, by their ids: when the world runs no more. */
  get undelivered(): ReadonlyArray<string> {
    const now_ms = this.server.world.now_ms + 24 * 3_600_000
    const later = {
      ...Clock.make(),
      unsafeCurrentTimeMillis: () => now_ms,
      currentTimeMillis: Effect.succeed(now_ms)
    }
    const claim = this.webhooks.claim({
      max: 100_000,
      roomFor: () => 100_000,
      busy: { webhooks: [], owners: [], hosts: [] },
      join: { events: 1, bytes: 0 },
      gatherFor_ms: 0,
      lease_ms: 3_600_000_000
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
    const { accounts, webhooks } = this
    const ask = <A>(operation: string, plan: Plan, self: Effect.Effect<A, StorageError>) =>
      call(operation, plan, () => self)
    const notSimulated = Effect.dieMessage("accounts are only asked for API keys")
    const quotas: typeof QuotaStore.Service = {
      leaseMany: (asks) =>
        ask(
          "QuotaStore.leaseMany",
          transaction(() => asks.map(({ id }) => `quotas ${id}`), undefined),
          Effect.tap(this.#quotas.leaseMany(asks), (leases) =>
            leases.forEach(({ granted, nextIn_ms }, index) => {
              const { demand, id: quota, limit } = asks[index]!
              this.#journal.add({ tag: "granted", by, quota, limit, demand, granted, nextIn_ms })
            })
          )
        ),
      sweep: (max) => ask("QuotaStore.sweep", statement(), this.#quotas.sweep(max))
    }
    const queue: typeof WebhookStore.Service = {
      ...webhooks,
      listeners: (known) => ask("WebhookStore.listeners", query, webhooks.listeners(known)),
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

  /** Has what a process changes queue events for webhooks in the same transaction. */
  tellWebhooks(
    { id }: VirtualProcess,
    make: (parts: Omit<OutboxParts, "listeners">) => typeof LinkStore.Service
  ) {
    const offer: OutboxParts["webhooks"]["offer"] = (messages) =>
      Effect.tap(this.webhooks.offer(messages), () => {
        if (messages.length > 0)
          this.#journal.add({ tag: "offered", by: id, events: messages.map((message) => message.id) })
      })
    this.#outboxes.set(id, make({ store: this.#links, webhooks: { offer }, inTransaction: (run) => run }))
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
    const { ahead, stock } = this.#stocked
    const unused = Object.values(ahead).map(({ unused }) => unused)
    return unused.some(({ size }) => size > 0)
      ? new Set([stock, ...unused].flatMap((keys) => [...keys]))
      : new Set(stock)
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

  /** The watermarks of all slots that were ever used. */
  get watermarks(): ReadonlyArray<Watermark> {
    return Effect.runSync(Effect.orDie(this.#ranges.watermarks))
  }

  #linkStore(call: Call, by: string): typeof LinkStore.Service {
    return {
      insertMany: (links) =>
        call("LinkStore.insertMany", this.#planOfKeys(by, links), () => this.#insert(by, links)),
      findMany: (keys) => call("LinkStore.findMany", query, () => this.#links.findMany(keys)),
      deleteMany: (deletions) =>
        call("LinkStore.deleteMany", this.#planOfKeys(by, deletions, true), () =>
          this.#delete(by, deletions)
        ),
      updateMany: (updates) =>
        call("LinkStore.updateMany", this.#planOfKeys(undefined, updates, true), () =>
          this.#update(by, updates)
        ),
      list: (wanted) => call("LinkStore.list", query, () => this.#links.list(wanted)),
      crawlable: (wanted) => call("LinkStore.crawlable", query, () => this.#links.crawlable(wanted)),
      takeVisits: (takes) =>
        call(
          "LinkStore.takeVisits",
          transaction(() => this.#present(takes).map(({ key }) => linkRow(key)), undefined),
          () => this.#takeVisits(takes)
        ),
      takenAmong: (keys) => call("LinkStore.takenAmong", query, () => this.#links.takenAmong(keys))
    }
  }

  #guardedCreates(call: Call, by: string): typeof GuardedCreates.Service {
    const guarded = this.#guarded
    return {
      beginMany: (batch) =>
        call(
          "GuardedCreates.beginMany",
          statement(() => batch.map(({ name }) => guardRow(name))),
          () => guarded.beginMany(batch)
        ),
      bindMany: (batch) =>
        call(
          "GuardedCreates.bindMany",
          transaction(
            () => this.#guardRows(batch.flatMap(({ guards }) => guards)),
            () => batch.map(({ link }) => linkRow(link.key)),
            undefined
          ),
          () => this.#bindGuarded(by, batch)
        ),
      settleMany: (batch) =>
        call(
          "GuardedCreates.settleMany",
          transaction(() => this.#guardRows(batch), undefined),
          () => guarded.settleMany(batch)
        ),
      abandonMany: (batch) =>
        call(
          "GuardedCreates.abandonMany",
          transaction(() => this.#guardRows(batch), undefined),
          () => guarded.abandonMany(batch)
        ),
      findByUrl: (owner, url, now) =>
        call("GuardedCreates.findByUrl", query, () => guarded.findByUrl(owner, url, now)),
      drop: (keep_ms, count) => call("GuardedCreates.drop", statement(), () => guarded.drop(keep_ms, count))
    }
  }

  #linkLifetime(call: Call, by: string): typeof LinkLifetime.Service {
    const ended = (keys: ReadonlyArray<string>) => {
      keys.forEach((key) => this.#journal.add({ tag: "expired", by, key }))
      this.#news.announce(new Set(keys))
    }
    const lifetime = this.#lifetime
    return {
      expire: (keys) =>
        call("LinkLifetime.expire", statement(), () => Effect.tap(lifetime.expire(keys), ended)),
      expireSome: (count) =>
        call("LinkLifetime.expireSome", statement(), () => Effect.tap(lifetime.expireSome(count), ended)),
      recycle: (options) =>
        call(
          "LinkLifetime.recycle",
          transaction(
            () => this.#recyclable(options).map(linkRow),
            () => this.openBatches.map(batchRow),
            undefined
          ),
          () =>
            Effect.tap(lifetime.recycle(options), (freed) => {
              for (const { key } of freed)
                this.#journal.add({ tag: "freed", by, key, custom: !this.#stocked.stock.has(key) })
              this.#news.announce(new Set(freed.map(({ key }) => key)))
            })
        )
    }
  }

  #bindGuarded(by: string, batch: ReadonlyArray<GuardedLink>) {
    const free = new Set(batch.map(({ link }) => link.key).filter((key) => !this.#rows.has(key)))
    return Effect.tap(this.#guarded.bindMany(batch), (outcomes) =>
      batch.forEach(({ link }, index) => {
        if (outcomes[index] === "taken") this.#journal.add({ tag: "conflicted", by, link })
        else if (outcomes[index] === "bound" && free.delete(link.key))
          this.#journal.add({ tag: "bound", by, link })
      })
    )
  }

  #insert(by: string, links: ReadonlyArray<Link>) {
    const free = new Set<string>()
    for (const { key } of links) if (!this.#rows.has(key)) free.add(key)
    return Effect.tap((this.#outboxes.get(by) ?? this.#links).insertMany(links), (answers) =>
      links.forEach((link, index) => {
        if (answers[index] === false) this.#journal.add({ tag: "conflicted", by, link })
        // The others are repeats.
        else if (free.delete(link.key)) this.#journal.add({ tag: "bound", by, link })
      })
    )
  }

  #delete(by: string, deletions: ReadonlyArray<Deletion>) {
    const live = new Set<string>()
    for (const { key } of deletions) if (this.#rows.get(key)?.deletedAt === null) live.add(key)
    return Effect.tap((this.#outboxes.get(by) ?? this.#links).deleteMany(deletions), (answers) => {
      // A repeat writes its tombstone once more, and so announces it too.
      const written = new Set(deletions.filter((_, index) => answers[index]).map(({ key }) => key))
      for (const key of written) if (live.has(key)) this.#journal.add({ tag: "deleted", by, key })
      this.#news.announce(written)
    })
  }

  #update(by: string, updates: ReadonlyArray<Update>) {
    const written = new Set<string>()
    // One after the other: the journal has each, also of two of one link.
    const rows = Effect.forEach(updates, (update) => {
      const before = this.#rows.get(update.key)
      return Effect.map(this.#links.updateMany([update]), ([row]) => {
        if (this.#rows.get(update.key) === before) return row ?? null
        const { change, key } = update
        written.add(key)
        if (change.url !== undefined) this.#journal.add({ tag: "changed", by, key, url: change.url })
        return row ?? null
      })
    })
    return Effect.tap(rows, () => this.#news.announce(written))
  }

  #takeVisits(takes: ReadonlyArray<Take>) {
    const before = new Map(takes.map(({ key }) => [key, this.#rows.get(key)]))
    return Effect.tap(this.#links.takeVisits(takes), () => {
      const usedUp = [...before].filter(([key, link]) => {
        const now = this.#rows.get(key)
        return now !== link && now?.visitsLeft === 0
      })
      this.#news.announce(new Set(usedUp.map(([key]) => key)))
    })
  }

  #keyRangeStore(call: Call, by: string): typeof KeyRangeStore.Service {
    return {
      advance: (slot, options) =>
        call(
          "KeyRangeStore.advance",
          statement(() => [rangeRow(slot)]),
          () =>
            Effect.tap(this.#ranges.advance(slot, options), ({ count, first }) => {
              if (count > 0) this.#journal.add({ tag: "advanced", by, slot, first, count })
            })
        ),
      watermarks: call("KeyRangeStore.watermarks", query, () => this.#ranges.watermarks)
    }
  }

  #databaseMark(call: Call): typeof DatabaseMark.Service {
    const mark = this.#mark
    const row = () => ["database_mark"]
    return {
      move: (floor) => call("DatabaseMark.move", statement(row), () => mark.move(floor)),
      look: call("DatabaseMark.look", query, () => mark.look),
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
          () => mark.recover(witnessed)
        ),
      regressions: call("DatabaseMark.regressions", query, () => mark.regressions),
      identity: call("DatabaseMark.identity", query, () => mark.identity)
    }
  }

  #keyStock(call: Call, by: string): typeof KeyStock.Service {
    const stock = this.#stock
    const recorded = ({ shard, ...batch }: BatchId, keys: ReadonlyArray<string>) => {
      const { epoch } = batch
      if (keys.length > 0)
        this.#journal.add({ tag: "recorded", by, shard, epoch, batch: nameOf(batch), keys })
    }
    const inBatch = (batch: BatchId) =>
      transaction(
        () => [shardRow(batch.shard)],
        () => [batchRow(batch)]
      )
    /** Tells of a refusal. */
    const fenced = <A>(operation: string, plan: Plan, self: Effect.Effect<A, StorageError | Fenced>) =>
      call(operation, plan, () =>
        Effect.tapErrorTag(self, "Fenced", ({ epoch, shard }) =>
          Effect.sync(() => this.#journal.add({ tag: "fenced", by, shard, epoch }))
        )
      )
    return {
      claim: (shard, above) =>
        call(
          "KeyStock.claim",
          statement(() => [shardRow(shard)]),
          () =>
            Effect.tap(stock.claim(shard, above), ({ epoch }) =>
              this.#journal.add({ tag: "claimed", by, shard, epoch })
            )
        ),
      add: (keys) =>
        call("KeyStock.add", statement(), () =>
          Effect.tap(stock.add(keys), () => {
            if (count(keys) > 0) this.#journal.add({ tag: "stocked", by, keys: toStrings(keys) })
          })
        ),
      fill: (keys) =>
        call("KeyStock.fill", statement(), () =>
          Effect.suspend(() => {
            const before = this.stockedKeys
            return Effect.tap(stock.fill(keys), () => {
              const now = this.stockedKeys
              const fresh = toStrings(keys).filter((key) => now.has(key) && !before.has(key))
              if (fresh.length > 0) this.#journal.add({ tag: "stocked", by, keys: fresh })
            })
          })
        ),
      take: (batch, wanted) =>
        fenced(
          "KeyStock.take",
          inBatch(batch),
          Effect.tap(stock.take(batch, wanted), (keys) => recorded(batch, toStrings(keys)))
        ),
      record: (batch, keys) =>
        fenced(
          "KeyStock.record",
          inBatch(batch),
          Effect.tap(stock.record(batch, keys), () => recorded(batch, toStrings(keys)))
        ),
      openBatches: (shard) => call("KeyStock.openBatches", query, () => stock.openBatches(shard)),
      close: (claim, batches) =>
        batches.length === 0
          ? Effect.void
          : fenced(
              "KeyStock.close",
              transaction(
                () => [shardRow(claim.shard)],
                () => batches.map((batch) => batchRow({ ...batch, shard: claim.shard }))
              ),
              Effect.suspend(() => this.#close(by, claim, batches))
            ),
      size: call("KeyStock.size", query, () => stock.size),
      adopt: (count) => call("KeyStock.adopt", transaction(undefined, undefined), () => stock.adopt(count))
    }
  }

  #writeVisits(by: string, batch: VisitBatch) {
    const visits = this.#visits
    const subjects = batch.hours.flatMap(({ subject }) => (isLinkSubject(subject) ? [subject] : []))
    const totals = Effect.map(visits.totals(subjects), (all) =>
      all.map(({ bots, nonBots }) => bots + nonBots)
    )
    return Effect.gen(this, function* () {
      const before = yield* totals
      yield* visits.write(batch)
      const after = yield* totals
      const added = subjects.map(
        (subject, index) => [keyOf(subject), after[index]! - before[index]!] as const
      )
      this.#journal.add({ tag: "counted", by, visits: added.filter(([, count]) => count > 0) })
    })
  }

  #visitStore(call: Call, by: string): typeof VisitStore.Service {
    const visits = this.#visits
    const writing = ({ hours, writer }: VisitBatch) =>
      transaction(
        () => [`visit_writers ${writer}`],
        () => hours.map(({ hour, subject }) => `visit_periods ${subject}/${hour}`)
      )
    const ask = <A>(operation: string, plan: Plan, self: Effect.Effect<A, StorageError>) =>
      call(`VisitStore.${operation}`, plan, () => self)
    return {
      write: (batch) =>
        Effect.suspend(() => {
          this.#journal.add({ tag: "counting", by, sequence: batch.sequence })
          return Effect.tap(ask("write", writing(batch), this.#writeVisits(by, batch)), () =>
            this.#journal.add({ tag: "heard counted", by })
          )
        }),
      totals: (subjects) => ask("totals", query, visits.totals(subjects)),
      series: (range, interval) => ask("series", query, visits.series(range, interval)),
      top: (range, max) => ask("top", query, visits.top(range, max)),
      rollUp: (until, max) =>
        ask(
          "rollUp",
          transaction(() => ["visit_rolled"], undefined),
          visits.rollUp(until, max)
        ),
      drop: (before, max) => ask("drop", statement(), visits.drop(before, max)),
      dropWriters: (before) => ask("dropWriters", statement(), visits.dropWriters(before)),
      forget: (subjects) =>
        subjects.length === 0 ? Effect.void : ask("forget", statement(), visits.forget(subjects))
    }
  }

  #close(by: string, claim: PoolClaim, batches: ReadonlyArray<Omit<BatchId, "shard">>) {
    const { shard } = claim
    const open = batches.filter((batch) =>
      this.#stocked.batches.has(KeyStockMemory.idOf({ ...batch, shard }))
    )
    return Effect.tap(this.#stock.close(claim, batches), () =>
      open.forEach((batch) => this.#journal.add({ tag: "closed", by, shard, batch: nameOf(batch) }))
    )
  }
}
