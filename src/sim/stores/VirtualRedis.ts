import { knownMax } from "../../storage/keys/KeyPoolRedisScripts.ts"
import { staleBy } from "../../storage/keys/KeyPoolShard.ts"
import { nothing, type Testimony } from "../../storage/nodes/Witness.ts"
import type { PoolKind } from "../../storage/keys/KeyPool.ts"
import type { Journal } from "../Journal.ts"
import type { Chance } from "../world/Chance.ts"
import { ms_us } from "../world/Time.ts"
import { VirtualServer } from "../world/VirtualServer.ts"
import type { World } from "../world/World.ts"
import type { StoreOptions } from "./StoreCalls.ts"

/** How long a reply may take, as `RedisClient` has it. */
const replyWaitMax_ms = 1_000

/** A pool shard's Redis. */
export interface RedisOptions extends StoreOptions {
  readonly shard: number
  readonly kind: PoolKind
  /** How far behind the replica is, at most. */
  readonly replicaLag_ms: number
}

/** An operation that a replica may not have seen, and what takes it back. */
interface Recent {
  readonly at_us: number
  readonly undo: () => void
  /** Keys that it leased. */
  readonly leased: ReadonlyArray<string>
}

/** The keys of `some` that `others` do not have, each as often as that. */
const without = (some: ReadonlyArray<string>, others: ReadonlyArray<string>): Array<string> => {
  const left = new Map<string, number>()
  for (const key of others) left.set(key, (left.get(key) ?? 0) + 1)
  return some.filter((key) => {
    const count = left.get(key) ?? 0
    left.set(key, count - 1)
    return count <= 0
  })
}

/**
 * The Redis of one pool shard: its list, or set, of keys, its epoch and the batches and returns that it knows, with what the scripts of `KeyPoolRedis` and its
 * commands do to them, each at one moment. A replica follows it by up to `replicaLag_ms`.
 */
export class VirtualRedis {
  readonly server: VirtualServer
  readonly shard: number
  /** Whether it refuses pushes with an epoch older than the newest, and claims of one that it knows or an older one, and whether it knows batches and returns again: always, but where that is to be broken. */
  fences = true
  knowsBatches = true
  knowsReturns = true
  readonly #world: World
  readonly #journal: Journal
  readonly #chance: Chance
  readonly #members: Chance
  readonly #kind: PoolKind
  readonly #replicaLag_us: number
  #epoch = 0
  #keys: Array<string> = []
  #batches = new Set<string>()
  #returns = new Set<number>()
  #testimony = nothing
  #recent: Array<Recent> = []
  readonly #clients = new Set<() => void>()

  constructor({
    begins,
    crashPoint,
    faults,
    journal,
    kind,
    network,
    replicaLag_ms,
    shard,
    slow,
    world
  }: RedisOptions) {
    const name = `redis-${shard}`
    this.#world = world
    this.#journal = journal
    this.shard = shard
    this.#replicaLag_us = replicaLag_ms * ms_us
    this.#chance = world.chance(`replica of ${name}`)
    this.#members = world.chance(`members of ${name}`)
    this.#kind = kind
    this.server = new VirtualServer(world, network, {
      name,
      faults,
      slow,
      answerMax_ms: replyWaitMax_ms,
      inOrder: true,
      crashPoint,
      unanswered: journal.unanswered,
      ...(begins !== undefined && { begins })
    })
    this.server.whenStopped(() => this.#clients.forEach((reset) => reset()))
  }

  /** Has a client told when the server stops, until the function that it gives is called. */
  open(reset: () => void): () => void {
    this.#clients.add(reset)
    return () => void this.#clients.delete(reset)
  }

  /** The ids of batches that it knows. */
  get knownBatches(): ReadonlyArray<string> {
    return this.knowsBatches ? [...this.#batches] : []
  }

  /** The keys in its list, from the first to the last. */
  get keys(): ReadonlyArray<string> {
    return this.#keys
  }

  /** The greatest epoch that it has seen, or 0. */
  get epoch(): number {
    return this.#epoch
  }

  /** Comes back after a time, in microseconds, with its data. */
  restart(down_us: number) {
    this.server.stop(down_us)
  }

  /** Comes back after a time, in microseconds, without any data. */
  lose(down_us: number) {
    const before = this.#keys
    this.#keys = []
    this.#epoch = 0
    this.#batches.clear()
    this.#returns.clear()
    this.#testimony = nothing
    this.#recent = []
    this.#forgot(before, "all")
    this.server.stop(down_us)
  }

  /** The primary is lost, and after a time, in microseconds, its replica is the primary. It has not seen the last operations of any kind. */
  failover(down_us: number) {
    const before = this.#keys
    const unleased: Array<string> = []
    const seen_us = this.#world.now_us - this.#chance.below(this.#replicaLag_us + 1)
    for (let last = this.#recent.at(-1); last !== undefined && last.at_us > seen_us;) {
      last.undo()
      unleased.push(...last.leased)
      this.#recent.pop()
      last = this.#recent.at(-1)
    }
    // The new primary's own replica begins with what it has.
    this.#recent = []
    this.#forgot(before, unleased)
    this.server.stop(down_us)
  }

  /** The state of the database, as it remembers it. */
  get testimony(): Testimony {
    return this.#testimony
  }

  /** Remembers a later state of the database. */
  witness(testimony: Testimony) {
    const before = this.#testimony
    this.#testimony = testimony
    this.#did(() => {
      this.#testimony = before
    })
  }

  /** The claim script: remembers an epoch, and gives 0, or `staleBy` one that is as great or greater. */
  claim(by: string, epoch: number): number {
    if (this.fences && epoch <= this.#epoch) return this.#fenced(by, epoch)
    this.#remember(epoch)
    this.#journal.add({ tag: "poolClaimed", by, shard: this.shard, epoch })
    return 0
  }

  /** The push script: adds a batch that is not known, and gives the level then, or `staleBy` a greater epoch. */
  push(by: string, epoch: number, batch: string, keys: ReadonlyArray<string>): number {
    if (this.fences && epoch < this.#epoch) return this.#fenced(by, epoch)
    this.#remember(epoch)
    if (this.knowsBatches && this.#batches.has(batch)) return this.#keys.length
    this.#set([...this.#keys, ...this.#missing(keys)])
    this.#know(this.#batches, batch)
    this.#journal.add({ tag: "pushed", by, shard: this.shard, epoch, batch, keys })
    return this.#keys.length
  }

  /** `LPOP`, or `SPOP`. */
  pop(by: string, wanted: number): ReadonlyArray<string> {
    const left = this.#keys.slice()
    const some = Math.min(wanted, left.length)
    const keys =
      this.#kind === "list"
        ? left.splice(0, some)
        : Array.from({ length: some }, () => left.splice(this.#members.below(left.length), 1)[0]!)
    if (keys.length === 0) return keys
    this.#set(left, keys)
    this.#journal.add({ tag: "leased", by, shard: this.shard, keys })
    return keys
  }

  /** The script that gives back: adds keys of a return that is not known, before all others, and gives the level then. */
  giveBack(by: string, id: number, keys: ReadonlyArray<string>): number {
    if (this.knowsReturns && this.#returns.has(id)) return this.#keys.length
    this.#set([...this.#missing(keys), ...this.#keys])
    this.#know(this.#returns, id)
    this.#journal.add({ tag: "returned", by, shard: this.shard, keys })
    return this.#keys.length
  }

  /** Notes a return of which a process does not know whether it was done, or knows that it was not; see `Journal`. */
  unreturned(by: string, keys: ReadonlyArray<string>, interrupted_us: number | undefined) {
    this.#journal.add({ tag: "unreturned", by, keys, interrupted_us })
  }

  /** What there is to add of keys: a set has each once, also where it is given one twice. */
  #missing(keys: ReadonlyArray<string>): ReadonlyArray<string> {
    if (this.#kind === "list") return keys
    const present = new Set(this.#keys)
    return Array.from(new Set(keys)).filter((key) => !present.has(key))
  }

  #set(keys: Array<string>, leased: ReadonlyArray<string> = []) {
    const before = this.#keys
    this.#keys = keys
    this.#did(() => {
      this.#keys = before
    }, leased)
  }

  #remember(epoch: number) {
    const before = this.#epoch
    if (epoch === before) return
    this.#epoch = epoch
    this.#did(() => {
      this.#epoch = before
    })
  }

  #know<A>(known: Set<A>, id: A) {
    known.add(id)
    const [oldest] = known.size > knownMax ? known : []
    if (oldest !== undefined) known.delete(oldest)
    this.#did(() => {
      const others = [...known].filter((each) => each !== id)
      known.clear()
      if (oldest !== undefined) known.add(oldest)
      others.forEach((each) => known.add(each))
    })
  }

  #did(undo: () => void, leased: ReadonlyArray<string> = []) {
    const now_us = this.#world.now_us
    const recent = this.#recent
    const firstNeeded = recent.findIndex(({ at_us }) => at_us > now_us - this.#replicaLag_us)
    if (firstNeeded !== 0) recent.splice(0, firstNeeded < 0 ? recent.length : firstNeeded)
    recent.push({ at_us: now_us, undo, leased })
  }

  #fenced(by: string, epoch: number): number {
    this.#journal.add({ tag: "fenced", by, shard: this.shard, epoch })
    return staleBy(this.#epoch)
  }

  #forgot(before: ReadonlyArray<string>, unleased: ReadonlyArray<string> | "all") {
    const gone = without(before, this.#keys)
    const again = without(this.#keys, before)
    this.#journal.add({ tag: "forgot", by: this.server.name, shard: this.shard, gone, again, unleased })
  }
}
