import { Context, Effect, Record } from "effect"
import { bucketOf } from "../../keys/Buckets.ts"
import { followersMax } from "../../actors/keys/KeyRing.ts"
import { KeyMinter, type KeyOrder } from "../../keys/KeyMinter.ts"
import * as Minter from "../../keys/KeyMinter.ts"
import * as KeySpace from "../../keys/KeySpace.ts"
import { toStrings } from "../../keys/PackedKeys.ts"
import { KeyPool } from "../../storage/keys/KeyPool.ts"
import { KeyStock } from "../../storage/keys/KeyStock.ts"
import * as KeyStockFile from "../../storage/keys/KeyStockFile.ts"
import * as Metered from "../../telemetry/Metered.ts"
import { visitsShed } from "../../visits/Visits.ts"
import { Witness } from "../../storage/nodes/Witness.ts"
import { LinkInvalidations } from "../../storage/links/LinkInvalidations.ts"
import { AdversarialPlacement } from "../actors/AdversarialPlacement.ts"
import { AsideKeys } from "../actors/AsideKeys.ts"
import { type KeyTrail, makeTrail } from "../actors/KeyTrail.ts"
import { Balancer } from "../clients/Balancer.ts"
import { attributed } from "../checkers/facts/attributed.ts"
import { livesOf } from "../checkers/facts/lives.ts"
import { Clients } from "../clients/Clients.ts"
import { ClusterPlacement } from "../cluster/ClusterPlacement.ts"
import type { Evidence } from "../Evidence.ts"
import { ChangingDomain, changesIn } from "./ChangingDomain.ts"
import * as Faults from "./Faults.ts"
import * as FurtherDomains from "./FurtherDomains.ts"
import { MachineTime } from "./MachineTime.ts"
import { History } from "../History.ts"
import { Journal } from "../Journal.ts"
import type { FaultOptions, SimOptions } from "../cli/Options.ts"
import { type Mutation, mutatePorts, sound } from "../mutants/Mutation.ts"
import { Meetings } from "../report/Meetings.ts"
import type { Placement } from "./Placement.ts"
import { noFaults } from "../presets/Faults.ts"
import * as KeyPoolAlone from "../stores/KeyPoolAlone.ts"
import * as BriefGuards from "../stores/BriefGuards.ts"
import { BucketMoves } from "../stores/homes/BucketMoves.ts"
import { VirtualHomes } from "../stores/homes/VirtualHomes.ts"
import { type OneOfSeveral, VirtualDatabase } from "../stores/VirtualDatabase.ts"
import * as NewsAlone from "../stores/news/NewsAlone.ts"
import { VirtualDisk } from "../stores/VirtualDisk.ts"
import * as RedisPorts from "../redis/Ports.ts"
import { VirtualRedis } from "../redis/VirtualRedis.ts"
import { LinkReplicaVirtual } from "../stores/LinkReplicaVirtual.ts"
import { VirtualServer } from "../world/VirtualServer.ts"
import { isFirstWebhook, Users } from "./Users.ts"
import { marksOf, type Surroundings, VirtualNode } from "./VirtualNode.ts"
import { Network } from "../world/Network.ts"
import { ms_us, s_us } from "../world/Time.ts"
import type { VirtualProcess } from "../world/VirtualProcess.ts"
import { World } from "../world/World.ts"

const space = KeySpace.make("base62", 7)

/** The deployment's minters. Those that count are the same in every world. */
const minters: Record<KeyOrder, (world: World) => typeof KeyMinter.Service> = {
  permuted: () => permuted,
  sequential: () => sequential,
  random: (world) => {
    const chance = world.chance("keys")
    return Minter.makeRandom(space, (count) => Uint8Array.from({ length: count }, () => chance.below(256)))
  }
}

/** A minter whose ranges have so many keys of its first length at most. */
const narrowed = (minter: typeof KeyMinter.Service, keysPerRange: number | null): typeof KeyMinter.Service =>
  keysPerRange === null
    ? minter
    : {
        ...minter,
        spanOf: (length, range) =>
          length === minter.space.length ? keysPerRange : minter.spanOf(length, range)
      }

const permuted = Minter.make(space, new Uint8Array(16))
const sequential = Minter.makeSequential(space)

/** The place of a node: its current process, or none until the node is started again. */
interface Place {
  readonly name: string
  node: VirtualNode | undefined
  starts: number
}

const ailmentOf = {
  databaseFull: "full disk",
  databaseSlow: "slow disk",
  databaseReadOnly: "read-only"
} as const

/** Tasks of a run at most, ten times as many as the busiest usual runs have: some for each second, and for each request. */
const tasksMaxOf = ({ calm_s, faulty_s, workload: { clients, think_ms } }: SimOptions): number =>
  Math.ceil((faulty_s + calm_s) * (10_000 + (1_000 * clients * 1_000) / think_ms))

const counted = (names: ReadonlyArray<string>) =>
  names.reduce((counts, name) => counts.set(name, (counts.get(name) ?? 0) + 1), new Map<string, number>())

const added = (all: ReadonlyArray<ReadonlyMap<string, number>>) =>
  all
    .flatMap((counts) => [...counts])
    .reduce((sums, [name, count]) => sums.set(name, (sums.get(name) ?? 0) + count), new Map<string, number>())

/** Metrics are the program's, and so those of all worlds. */
const visitsShedSoFar = () => Record.map(visitsShed, (shed) => Metered.read(shed).count)

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)

/** A whole deployment in its own world: nodes, stores, a load balancer, clients, and faults. */
export class Deployment {
  readonly world: World
  readonly options: SimOptions
  readonly #mutation: Mutation
  readonly #minter: typeof KeyMinter.Service
  readonly #network: Network
  readonly #journal: Journal
  readonly #trail: KeyTrail
  readonly #history: History
  /** The control database, which mostly has all links. */
  readonly #database: VirtualDatabase
  /** All databases that have links. */
  readonly #databases: ReadonlyArray<VirtualDatabase>
  /** The product's routing over them, where there are several, and the moves of buckets between them. */
  readonly #homes: VirtualHomes | undefined
  readonly #moves: BucketMoves | undefined
  readonly #aside: AsideKeys | undefined
  /** None where a process alone has its own. */
  readonly #pools: ReadonlyArray<VirtualRedis>
  /** The pool of the process alone that was started last. */
  #poolInMemory: KeyPoolAlone.PoolInMemory | undefined
  /** By the name of the node's place. */
  readonly #disks: ReadonlyMap<string, VirtualDisk>
  /** That of a process alone over SQLite, which has no database to be told the time by. */
  readonly #machineTime: MachineTime | undefined
  readonly #users: Users
  readonly #changingDomain: ChangingDomain
  readonly #linkReplica: Surroundings["linkReplica"]
  /** The receiver of users' webhooks. */
  readonly #receiver: VirtualServer
  readonly #placement: Placement
  readonly #places: ReadonlyArray<Place>
  readonly #balancer: Balancer
  #faults: FaultOptions
  readonly #sent = new Map<string, number>()
  readonly #strikes: Array<Faults.Strike> = []
  readonly #meetings = new Meetings()

  /** `mutation`: the defect that is planted in the product. */
  constructor(seed: number, options: SimOptions, keepTrace: boolean, mutation: Mutation = sound) {
    this.options = options
    this.#mutation = mutation
    this.#faults = options.faults
    this.world = new World({ seed, preemption: options.faults.preemption, keepTrace })
    this.#minter = narrowed(minters[options.keyOrder](this.world), options.keysPerRange)
    this.#network = new Network(this.world, {
      latency_us: { least: 100, mean: 300 },
      delay: { probability: 0.001, max_ms: 100 }
    })
    this.#journal = new Journal(this.world)
    this.#trail = makeTrail(this.#journal)
    this.#history = new History(this.world)
    const crashing = this.world.chance("crash points")
    const crashPoint = (process: VirtualProcess, operation: string) => {
      if (operation.startsWith("send ")) this.#sent.set(operation, (this.#sent.get(operation) ?? 0) + 1)
      const { at, least_ms, most_ms, probability, stops } = this.#faults.crashPoint
      if (at !== null && !at.includes(operation)) return
      if (!crashing.happens(probability)) return
      const place = this.#places.find(({ node }) => node?.process === process)
      if (place === undefined || (stops && place.node!.isStopping)) return
      const name = stops ? "stop point" : "crash point"
      const whom = `${process.id}, at ${operation}`
      this.world.tell("faults", name, whom)
      const down_us = crashing.between(least_ms, most_ms) * ms_us
      this.#meetings.strike(name, [process.id], operation)
      this.#strikes.push({ name, whom, at_us: this.world.now_us, for_us: down_us })
      if (!stops) return this.#kill(place, down_us)
      // Not amid what is being done.
      this.world.after(0, null, () => this.#stop(place))
    }
    const begins = (process: string, operation: string) => this.#meetings.begin(process, operation)
    const around = { world: this.world, network: this.#network, journal: this.#journal, crashPoint, begins }
    const slow = () => this.#faults.slowCalls
    const databaseOf = (homes: OneOfSeveral | undefined) =>
      new VirtualDatabase({ ...around, slow, faults: () => this.#faults.databaseCalls }, mutation, {
        keyStock: options.keyStock === "file" ? "none" : options.keyStock,
        lag_ms: options.faults.databaseLag_ms,
        connectionsMax: options.connectionsMax,
        drift: options.faults.databaseDrift,
        slowNews: () => this.#faults.slowNews,
        isCompared: options.compared,
        isHere: options.alone === "sqlite",
        ...(homes !== undefined && { homes })
      })
    const isUnfenced = mutation.moves?.isUnfenced === true
    const areSeveral = options.databases > 1
    this.#database = databaseOf(areSeveral ? { number: 0, control: undefined, isUnfenced } : undefined)
    this.#databases = [
      this.#database,
      ...numbers(options.databases - 1).map((index) =>
        databaseOf({ number: index + 1, control: this.#database, isUnfenced })
      )
    ]
    if (areSeveral) {
      const chance = this.world.chance("homes of buckets")
      this.#homes = new VirtualHomes(this.#databases, this.#journal, mutation, {
        haveUsers: options.workload.withAccount > 0,
        homeOf: () => chance.below(options.databases)
      })
      this.#aside = new AsideKeys()
      this.#moves = new BucketMoves({
        world: this.world,
        databases: this.#databases,
        defects: mutation.moves ?? {},
        isKilled: () => this.world.chance("movers").happens(this.#faults.moverCrash)
      })
    }
    this.#users = new Users(this.world, this.#database, this.#journal, options)
    this.#changingDomain = new ChangingDomain(this.world, this.#database.users.domains, this.#journal)
    this.#receiver = new VirtualServer(this.world, this.#network, {
      name: "receiver",
      faults: () => this.#faults.webhookCalls,
      // Longer than a node waits.
      answerMax_ms: 12_000,
      inOrder: false,
      crashPoint,
      unanswered: this.#journal.unanswered,
      begins
    })
    if (options.linkReplicaLag_ms !== null) {
      const server = new VirtualServer(this.world, this.#network, {
        name: "replica",
        faults: () => noFaults.databaseCalls,
        // A node waits no longer for one.
        answerMax_ms: 1_000,
        inOrder: false,
        crashPoint,
        unanswered: this.#journal.unanswered
      })
      const lag_us = options.linkReplicaLag_ms * ms_us
      const replica = new LinkReplicaVirtual(this.world, server, this.#database, lag_us)
      this.#journal.whenAdded = (entry) => replica.follow(entry)
      this.#linkReplica = (process) => {
        const read = replica.of(process)
        return mutation.linkReplica?.(read, process) ?? read
      }
    }
    const names = numbers(options.nodes).map((number) => `node-${number}`)
    this.#disks = new Map(
      names.map((name) => [name, new VirtualDisk({ ...around, faults: () => noFaults.databaseCalls }, name)])
    )
    this.#pools = numbers(options.alone === null ? options.pools : 0).map(
      (shard) =>
        new VirtualRedis({
          ...around,
          slow,
          shard,
          kind: options.keyPool,
          replicaLag_ms: options.faults.replicaLag_ms,
          faults: () => this.#faults.redisCalls
        })
    )
    if (this.world.chance("former pools").happens(0.5)) this.#pools.forEach((pool) => pool.remembersFormer())
    if (options.alone === "sqlite") this.#machineTime = new MachineTime(this.world, this.#journal, names[0]!)
    if (mutation.redis !== undefined) this.#pools.forEach(mutation.redis)
    this.#placement =
      options.level === "actors"
        ? new AdversarialPlacement({ ...around, trail: this.#trail, messages: () => this.#faults.messages })
        : new ClusterPlacement({
            ...around,
            server: this.#database.server,
            faults: () => this.#faults.databaseCalls
          })
    this.#places = names.map((name) => ({ name, node: undefined, starts: 0 }))
    this.#balancer = new Balancer(this.world, this.#network, this.#journal, () => this.#nodes())
  }

  /** Runs it to its end, and returns the evidence for the checkers. */
  run(): Evidence {
    const { calm_s, faulty_s, still_s } = this.options
    const healed_us = faulty_s * s_us
    const end_us = healed_us + (calm_s + still_s) * s_us
    const beginning_ms = this.world.now_ms
    const shedBefore = visitsShedSoFar()
    this.world.after(0, null, () => this.#begin(healed_us, end_us))
    this.world.after(healed_us, null, () => this.#heal())
    const tasksMax = tasksMaxOf(this.options)
    const isFinished = this.world.runUntil(end_us, tasksMax)
    const lives = livesOf(this.#journal.entries)
    const waiting = this.#database.undelivered
    const evidence: Evidence = {
      options: this.options,
      ...attributed(this.#history.exchanges, this.#journal.entries, lives),
      lives,
      unfinished_us: isFinished ? undefined : this.world.now_us,
      tasksMax,
      healed_us,
      end_us,
      beginning_ms,
      faults: counted(this.#strikes.map(({ name }) => name)),
      strikes: this.#strikes,
      silences: this.#databases.flatMap(({ silences }, database) =>
        silences.map((one) => ({ ...one, database }))
      ),
      aways: this.#databases.flatMap(({ aways }, database) => aways.map((one) => ({ ...one, database }))),
      listenings: this.#databases.flatMap(({ listenings }) => listenings),
      sessions: this.#database.figures,
      clock: this.#database.clock.record,
      homes: (key) => new Set([this.#homes?.home(key) ?? 0, ...(this.#moves?.homesOf(bucketOf(key)) ?? [])]),
      row: (key) => (this.#homes ?? this.#database).row(key) ?? null,
      pooled: new Set([
        ...this.#pools.flatMap(({ keys }) => keys),
        ...(this.world.look(() => this.#poolInMemory?.drain()) ?? [])
      ]),
      open: this.#database.openBatches,
      recorded: new Set(this.#database.openBatches.flatMap(({ keys }) => toStrings(keys))),
      stocked: new Set([
        ...this.#databases.flatMap(({ stockedKeys }) => [...stockedKeys]),
        ...Array.from(this.#disks.values()).flatMap(({ keys }) => keys)
      ]),
      leaving: new Set(this.#databases.slice(1).flatMap(({ stockedKeys }) => [...stockedKeys])),
      storedKeys: {
        ...this.#database.stockRows,
        file: Array.from(this.#disks.values()).reduce((sum, { keys }) => sum + keys.length, 0)
      },
      calls: added([
        ...this.#databases.map(({ server }) => server.calls),
        ...this.#pools.map(({ server }) => server.calls),
        this.#sent
      ]),
      met: this.#meetings.counts,
      operations: this.#meetings.operations,
      userKeys: [...this.#users.keys, ...this.#users.ownKeys],
      domainChanges:
        this.options.workload.domainsAsked > 0
          ? changesIn(this.#journal.entries)
          : this.#changingDomain.changes,
      compared: this.#database.compared,
      undelivered: new Set([
        ...waiting.flatMap(({ event, webhook }) => (isFirstWebhook(webhook) ? [event] : [])),
        ...this.#databases.flatMap(({ tables }) => [...tables.outbox.keys()])
      ]),
      waitingFor: new Set(waiting.map(({ event, webhook }) => `${webhook} ${event}`)),
      audit: this.#users.names.length === 0 ? undefined : this.#database.users.audited,
      visitsShed: Record.map(visitsShedSoFar(), (count, reason) => count - shedBefore[reason]),
      buffered: new Set(this.world.look(() => this.#nodes().flatMap(({ buffered }) => buffered))),
      asideLost: this.#aside?.lost ?? 0,
      unready: this.#unready(),
      mint: this.#minter.repeats
        ? undefined
        : ({ length, range }, first, count) => toStrings(this.#minter.mint(length, range, first, count))
    }
    this.world.end()
    this.#databases.forEach((database) => database.close())
    return evidence
  }

  /** Places whose node does not run, or is not ready according to the load balancer. */
  #unready(): ReadonlyArray<string> {
    return this.#places.flatMap(({ name, node }) =>
      node !== undefined && this.#balancer.isReady(node) ? [] : [name]
    )
  }

  #nodes(): ReadonlyArray<VirtualNode> {
    return this.#places.flatMap(({ node }) => (node === undefined ? [] : [node]))
  }

  #begin(healed_us: number, end_us: number) {
    const { domainsAsked, domainsChanged, withDomain } = this.options.workload
    if (this.#areDomainsRead && withDomain > 0)
      Effect.runSync(Effect.orDie(FurtherDomains.addTo(this.#database.users.domains)))
    if (domainsChanged > 0 && domainsAsked === 0) this.#changingDomain.start(healed_us)
    const stilled_us = end_us - this.options.still_s * s_us
    this.#users.start(stilled_us - 8 * s_us)
    this.#places.forEach((place) => this.#start(place))
    this.#balancer.start()
    const clients = new Clients({
      world: this.world,
      history: this.#history,
      balancer: this.#balancer,
      nodes: () => this.#nodes(),
      users: this.#users,
      changingDomain: this.#changingDomain,
      workload: this.options.workload,
      answersKept_s: this.options.answersKept_s
    })
    // Leaves the last requests time to be answered.
    clients.start(stilled_us - 5 * s_us)
    Faults.start(this.world, this.#faults, this.#victim(), healed_us, (strike) => {
      this.#strikes.push(strike)
      clients.struck(strike)
    })
  }

  /** Ends all faults, and starts the nodes and servers that are down. */
  #heal() {
    this.world.tell("faults", "heal")
    this.#faults = noFaults
    this.#network.healAll()
    this.#databases.forEach((database) => database.heal())
    this.#moves?.hurry()
    this.#pools.forEach((pool) => pool.heal())
    this.#machineTime?.heal()
    for (const place of this.#places) {
      if (place.node === undefined) this.#start(place)
      else {
        place.node.process.isPaused = false
        place.node.process.skew_us = 0
      }
    }
  }

  #start(place: Place) {
    const process = this.world.spawn(place.name, ++place.starts)
    this.world.tell(process.id, "starts")
    const node = new VirtualNode(
      process,
      {
        placement: this.#placement,
        journal: this.#journal,
        options: this.options,
        mutation: this.#mutation,
        aside: this.#aside,
        proofs: this.options.workload.domainsAsked > 0 ? this.#changingDomain.proofs : undefined,
        domains: this.#areDomainsRead ? (process) => this.#domains(process) : undefined,
        users:
          this.#users.names.length === 0
            ? undefined
            : {
                options: this.options,
                journal: this.#journal,
                mutation: this.#mutation,
                databases: [this.#database, ...this.#databases.slice(1)],
                receiver: this.#receiver
              },
        linkReplica: this.#linkReplica,
        machineTime: this.#machineTime,
        ports: (process) => this.#ports(process)
      },
      () => {
        this.#placement.died(process)
        this.#meetings.forget(process.id)
        if (place.node !== node) return
        place.node = undefined
        this.#startIn(place, s_us)
      }
    )
    place.node = node
  }

  /** Whether nodes read the domains, rather than know those that never change. */
  get #areDomainsRead(): boolean {
    const { domainsChanged, withLongAlias } = this.options.workload
    return domainsChanged + withLongAlias > 0
  }

  #domains(process: VirtualProcess) {
    const store = this.#database.domainStore(process)
    return this.#mutation.domains?.(store, process) ?? store
  }

  #startIn(place: Place, down_us: number) {
    this.world.after(down_us, null, () => {
      if (place.node === undefined) this.#start(place)
    })
  }

  #ports(process: VirtualProcess) {
    const { mint, ...rest } = this.#mutation.minter?.(this.#minter, process) ?? this.#minter
    const told: typeof KeyMinter.Service = {
      ...rest,
      mint: (length, range, first, count) => {
        const keys = mint(length, range, first, count)
        const slot = { length, range }
        this.#journal.add({ tag: "minted", by: process.id, slot, first, keys: toStrings(keys) })
        return keys
      }
    }
    if (this.#homes !== undefined)
      return Effect.flatMap(this.#homes.ports(process), ({ changes, stores }) =>
        this.#portsOver(process, told, stores, Effect.succeed(changes))
      )
    if (this.options.alone === "sqlite")
      return Effect.flatMap(NewsAlone.over(this.#database.stores(process)), ({ changes, stores }) =>
        this.#portsOver(process, told, stores, Effect.succeed(changes))
      )
    return this.#portsOver(process, told, this.#database.stores(process), this.#database.changes(process))
  }

  #portsOver(
    process: VirtualProcess,
    minter: typeof KeyMinter.Service,
    stores: ReturnType<VirtualDatabase["stores"]>,
    changes: ReturnType<VirtualDatabase["changes"]>
  ) {
    const ports = Effect.all([
      changes,
      this.#pool(process),
      RedisPorts.witnesses(this.options.witnessed ? this.#pools : [], process, this.#journal),
      this.#keyStock(Context.get(stores, KeyStock), process)
    ])
    return Effect.map(ports, ([changes, pool, witness, stock]) => {
      const sound = stores.pipe(
        Context.add(LinkInvalidations, changes),
        Context.add(KeyPool, pool),
        Context.add(Witness, witness),
        Context.add(KeyStock, stock),
        BriefGuards.over(this.options.answersKept_s)
      )
      const mutated = Context.add(mutatePorts(this.#mutation, process, sound), KeyMinter, minter)
      return this.#trail.over(process, this.#aside?.asked(process, mutated) ?? mutated)
    })
  }

  #pool(process: VirtualProcess) {
    const { alone, bufferCapacity } = this.options
    if (alone === null) return RedisPorts.pool(this.#pools, process, this.#journal)
    return Effect.map(KeyPoolAlone.make(process, this.#journal, followersMax(bufferCapacity)), (made) => {
      this.#poolInMemory = made
      return made.pool
    })
  }

  #keyStock(base: typeof KeyStock.Service, process: VirtualProcess) {
    if (this.options.keyStock !== "file") return Effect.succeed(base)
    const disk = this.#disks.get(process.name)!
    const sound = disk.keyFile(process, this.#minter.space.length)
    const file = this.#mutation.file?.(sound, disk, process) ?? sound
    return KeyStockFile.make(base, file, marksOf(this.options, process))
  }

  #kill(place: Place, down_us: number) {
    const { node } = place
    if (node === undefined) return
    place.node = undefined
    this.#journal.add({ tag: "killed", by: node.process.id })
    node.process.kill()
    this.#aside?.killed(node.process)
    this.#meetings.forget(node.process.id)
    this.#placement.died(node.process)
    this.#startIn(place, down_us)
  }

  #stop({ node }: Place) {
    if (node === undefined || node.isStopping) return
    this.#journal.add({ tag: "draining", by: node.process.id })
    node.stop()
  }

  #pause(place: Place, for_us: number) {
    const process = place.node?.process
    if (process === undefined || process.isPaused) return
    process.isPaused = true
    process.readsLast = this.world.chance("pauses").happens(0.5)
    this.#journal.add({ tag: "paused", by: process.id, for_us })
    this.#placement.paused(process, for_us)
    this.world.after(for_us, null, () => {
      process.isPaused = false
    })
  }

  /** Begins to move some of the buckets of one database, or all of them, to another one. */
  #moveBuckets(down_us: number): string {
    const { places } = this.#database.tables.placement
    const chance = this.world.chance("moves of buckets")
    const from = chance.below(this.#databases.length)
    const to = (from + 1 + chance.below(Math.max(1, this.#databases.length - 1))) % this.#databases.length
    const share = chance.pick([0.1, 0.5, 1])
    const buckets = places.flatMap(({ home }, bucket) =>
      home === from && chance.fraction() < share ? [bucket] : []
    )
    if (from === to || buckets.length === 0) return "nothing"
    this.#moves?.begin({ buckets, from, to }, () => down_us)
    return `database ${from} to database ${to}`
  }

  #victim(): Faults.Victim {
    const places = this.#places
    const nameOf = (node: number) => places[node]!.name
    const met = (fault: keyof FaultOptions, ...nodes: ReadonlyArray<number>) => {
      const hit = nodes.length === 0 ? places : nodes.map((node) => places[node]!)
      this.#meetings.strike(
        fault,
        hit.flatMap(({ node }) => (node === undefined ? [] : [node.process.id]))
      )
    }
    return {
      nodes: places.length,
      pools: this.#pools.length,
      databases: this.#databases.length,
      kill: (node, down_us) => {
        met("kill", node)
        this.#kill(places[node]!, down_us)
      },
      stop: (node) => {
        met("stop", node)
        this.#stop(places[node]!)
      },
      pause: (node, for_us) => {
        met("pause", node)
        this.#pause(places[node]!, for_us)
      },
      jumpClock: (node, by_us) => {
        met("clockJump", node)
        if (this.#machineTime !== undefined) return this.#machineTime.jump(by_us)
        const process = places[node]!.node?.process
        if (process !== undefined) process.skew_us += by_us
      },
      cutNodes: (one, other, for_us, oneWay) => {
        met("cutNodes", one, other)
        this.#network.cut(nameOf(one), nameOf(other), { for_us, oneWay })
      },
      cutDatabase: (database, node, for_us, oneWay) => {
        met("cutDatabase", node)
        this.#network.cut(nameOf(node), this.#databases[database]!.server.name, { for_us, oneWay })
      },
      cutRedis: (node, pool, for_us, oneWay) => {
        met("cutRedis", node)
        this.#network.cut(nameOf(node), this.#pools[pool]!.server.name, { for_us, oneWay })
      },
      jumpDatabaseClock: (by_us) => {
        met("databaseClock")
        this.#database.clock.jump(by_us)
      },
      restartDatabase: (database, down_us) => {
        met("databaseRestart")
        this.#databases[database]!.restart(down_us)
      },
      failOverDatabase: (database, down_us) => {
        met("databaseFailover")
        const { formerPrimary_ms, standbyRoutes_ms } = this.#faults
        const livesOn_us = this.world.chance("former primary").below(formerPrimary_ms + 1) * ms_us
        const astray_us = this.world.chance("standby's routes").below(standbyRoutes_ms + 1) * ms_us
        this.#databases[database]!.failOver(down_us, livesOn_us, astray_us)
      },
      ailDatabase: (database, fault, for_us) => {
        met(fault)
        this.#databases[database]!.ail(ailmentOf[fault], for_us)
      },
      resetNews: (database, node, unnoticed_us) => {
        met("newsReset", node)
        this.#databases[database]!.resetNews(nameOf(node), unnoticed_us)
      },
      restartRedis: (pool, down_us) => {
        met("redisRestart")
        this.#pools[pool]!.restart(down_us)
      },
      failOver: (pool, down_us) => {
        met("redisFailover")
        this.#pools[pool]!.failover(down_us)
      },
      loseData: (pool, down_us) => {
        met("redisLoss")
        this.#pools[pool]!.lose(down_us)
      },
      fillRedis: (pool, for_us) => {
        met("redisFull")
        this.#pools[pool]!.fill(for_us)
      },
      move: (overlap_us) => {
        met("move")
        this.#placement.move(overlap_us)
      },
      moveBuckets: (down_us) => this.#moveBuckets(down_us)
    }
  }
}
