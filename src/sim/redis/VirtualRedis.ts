import type { PoolKind } from "../../storage/keys/KeyPool.ts"
import { namesOf } from "../../storage/keys/KeyPoolRedis.ts"
import { knownMax } from "../../storage/keys/KeyPoolRedisScripts.ts"
import type { Journal } from "../Journal.ts"
import type { Chance } from "../world/Chance.ts"
import { ms_us } from "../world/Time.ts"
import { VirtualServer } from "../world/VirtualServer.ts"
import type { World } from "../world/World.ts"
import type { StoreOptions } from "../stores/StoreCalls.ts"
import { RedisData, RedisRefusal, type Reply, type Snapshot } from "./RedisData.ts"
import { runScript } from "./RedisScripts.ts"

/** A pool shard's Redis. */
export interface RedisOptions extends StoreOptions {
  readonly shard: number
  readonly kind: PoolKind
  /** How far behind the replica is, at most. */
  readonly replicaLag_ms: number
}

/** Something that was done, which a replica may not have seen. */
interface Recent {
  readonly at_us: number
  readonly before: Snapshot
  /** Keys that it leased. */
  readonly leased: ReadonlyArray<string>
}

/** A command as a client sends it: by its name, or the text of a script. */
export interface Command {
  readonly name: string
  readonly script?: { readonly lua: string; readonly names: number } | undefined
  readonly args: ReadonlyArray<string | number | Uint8Array>
}

/** Whose keys it has. */
export const namespace = "simulated"

/** The keys of `some` that `others` do not have, each as often as that. */
const without = (some: ReadonlyArray<string>, others: ReadonlyArray<string>): ReadonlyArray<string> => {
  if (some === others) return []
  const left = new Map<string, number>()
  for (const key of others) left.set(key, (left.get(key) ?? 0) + 1)
  return some.filter((key) => {
    const count = left.get(key) ?? 0
    left.set(key, count - 1)
    return count <= 0
  })
}

/**
 * The Redis of one pool shard. Each command happens at one moment, scripts in an interpreter of Lua. A replica follows it by up to `replicaLag_ms`. It tells the journal what becomes of its keys, which
 * it sees by what it has before and after a command.
 */
export class VirtualRedis {
  readonly server: VirtualServer
  readonly shard: number
  readonly kind: PoolKind
  /** Of what it remembers for `KeyPoolRedis`, that which it does not know any more when a command comes: nothing, but where that is to be broken. */
  forgetful: ReadonlyArray<"epoch" | "batches" | "returns"> = []
  /** Whether its clients go on with connections on which it is silent: a defect. */
  isKeptSilent = false
  readonly #names: ReturnType<typeof namesOf>
  readonly #data: RedisData
  readonly #world: World
  readonly #journal: Journal
  readonly #chance: Chance
  readonly #replicaLag_us: number
  #recent: Array<Recent> = []
  #fullUntil_us = 0
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
    this.#data = new RedisData(world.chance(`members of ${name}`))
    this.#names = namesOf(namespace, shard)
    this.kind = kind
    this.server = new VirtualServer(world, network, {
      name,
      faults,
      slow,
      // A client has its own bound (`commandTimeout`).
      answerMax_ms: Infinity,
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

  /** Notes that a process has sent a command behind one that was not answered in time. */
  sentBehind(by: string, operation: string) {
    this.#journal.add({ tag: "sent behind", by, operation })
  }

  /** The keys of its pool, from the first to the last. */
  get keys(): ReadonlyArray<string> {
    return this.#data.items(this.kind === "list" ? this.#names.list : this.#names.set, this.kind)
  }

  /** The greatest epoch that it has seen, or 0. */
  get epoch(): number {
    return Number(this.#data.text(this.#names.epoch) ?? 0)
  }

  /** Has it know as many batches and returns of before the beginning as it remembers: the next ones displace them. */
  remembersFormer() {
    const former = Array.from({ length: knownMax }, (_, number) => `former ${number}`)
    for (const name of [this.#names.batches, this.#names.returns]) this.#data.run("RPUSH", [name, ...former])
  }

  /** Its memory is full for a time, in microseconds: it takes nothing more, and does the rest. */
  fill(for_us: number) {
    this.#fullUntil_us = this.#world.now_us + for_us
  }

  /** Is there, and has memory. */
  heal() {
    this.#fullUntil_us = 0
    this.server.start()
  }

  get #isFull(): boolean {
    return this.#world.now_us < this.#fullUntil_us
  }

  /** Comes back after a time, in microseconds, with its data. */
  restart(down_us: number) {
    this.server.stop(down_us)
  }

  /** Comes back after a time, in microseconds, without any data. */
  lose(down_us: number) {
    const before = this.keys
    this.#data.restore(new Map())
    this.#recent = []
    this.#forgot(before, "all")
    this.server.stop(down_us)
  }

  /** The primary is lost, and after a time, in microseconds, its replica is the primary. It has not seen the last commands of any kind. */
  failover(down_us: number) {
    const before = this.keys
    const seen_us = this.#world.now_us - this.#chance.below(this.#replicaLag_us + 1)
    const unseen = this.#recent.filter(({ at_us }) => at_us > seen_us)
    if (unseen[0] !== undefined) this.#data.restore(unseen[0].before)
    // The new primary's own replica begins with what it has.
    this.#recent = []
    this.#forgot(
      before,
      unseen.toReversed().flatMap(({ leased }) => leased)
    )
    this.server.stop(down_us)
  }

  /** Runs commands that a process sent, together at one moment, and gives their replies. What it refuses is thrown as a `RedisRefusal`. */
  run(by: string, commands: ReadonlyArray<Command>): ReadonlyArray<Reply> {
    // What waits to be done together takes memory, whatever it is.
    if (this.#isFull && commands.length > 1)
      throw new RedisRefusal("EXECABORT Transaction discarded because of previous errors.")
    return commands.map((command) => this.#runOne(by, command))
  }

  #runOne(by: string, { args, name, script }: Command): Reply {
    if (this.forgetful.length > 0) this.#data.forget(this.forgetful.map((one) => this.#names[one]))
    const before = this.#data.snapshot
    const keys = this.keys
    const batches = this.#data.items(this.#names.batches, "list")
    const call = this.#data.asked(this.#isFull)
    const reply =
      script === undefined ? call(name, args.map(String)) : runScript(script.lua, script.names, args, call)
    const { shard } = this
    const epoch = Number(args[3])
    if (this.#data.snapshot === before) {
      if (typeof reply === "number" && reply < 0) this.#journal.add({ tag: "fenced", by, shard, epoch })
      return reply
    }
    const added = without(this.keys, keys)
    const leased = without(keys, this.keys)
    this.#did(before, leased)
    if (batches !== this.#data.items(this.#names.batches, "list"))
      this.#journal.add({ tag: "pushed", by, shard, epoch, batch: String(args[4]), keys: added })
    else if (added.length > 0) this.#journal.add({ tag: "returned", by, shard, keys: added })
    else if (leased.length > 0) this.#journal.add({ tag: "leased", by, shard, keys: leased })
    else if (name === "linkmintClaim") this.#journal.add({ tag: "poolClaimed", by, shard, epoch })
    return reply
  }

  #did(before: Snapshot, leased: ReadonlyArray<string>) {
    const now_us = this.#world.now_us
    const recent = this.#recent
    const firstNeeded = recent.findIndex(({ at_us }) => at_us > now_us - this.#replicaLag_us)
    if (firstNeeded !== 0) recent.splice(0, firstNeeded < 0 ? recent.length : firstNeeded)
    recent.push({ at_us: now_us, before, leased })
  }

  #forgot(before: ReadonlyArray<string>, unleased: ReadonlyArray<string> | "all") {
    const gone = without(before, this.keys)
    const again = without(this.keys, before)
    this.#journal.add({ tag: "forgot", by: this.server.name, shard: this.shard, gone, again, unleased })
  }
}
