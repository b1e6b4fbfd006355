import { plainKeyOf } from "../../keys/QualifiedKey.ts"
import type { Checker, Evidence, Violation } from "../Evidence.ts"
import type { JournalEntry } from "../Journal.ts"
import type { PoolKind } from "../../storage/keys/KeyPool.ts"
import * as Stores from "../specification/Stores.ts"

const database = Stores.database(Stores.storeRules)
const pool = Stores.pool(Stores.storeRules)

/** A pool shard as the specification has it: the database's records of it, and its Redis. */
interface Shard {
  database: Stores.Database
  pool: Stores.Pool
}

/** Carries out what a journal says, by the steps of the specification's stores. */
class Replay {
  readonly violations: Array<Violation> = []
  readonly #numbers = new Map<string, Stores.Key>()
  readonly #names: Array<string> = []
  readonly shards = new Map<number, Shard>()
  /** Links and stock, which all shards share. */
  links: Stores.Database
  /** Keys that were taken from the stock, and have come nowhere since. */
  readonly onTheWay = new Set<string>()
  readonly #kind: PoolKind
  #returns = 0

  constructor(journal: ReadonlyArray<JournalEntry>, kind: PoolKind) {
    this.#kind = kind
    for (const entry of journal) {
      if (entry.tag === "minted" || entry.tag === "stocked") entry.keys.forEach((key) => this.#number(key))
    }
    this.links = Stores.emptyDatabase(this.#names.length)
  }

  /** The names of keys. */
  named(keys: ReadonlyArray<Stores.Key>): ReadonlySet<string> {
    return new Set(keys.map((key) => this.#names[key]!))
  }

  add(entry: JournalEntry) {
    switch (entry.tag) {
      case "claimed":
        return this.#database(entry, database.claim(this.#shard(entry.shard).database, entry.epoch))
      case "recorded":
        return this.#record(entry)
      case "closed": {
        const { database: own } = this.#shard(entry.shard)
        return this.#database(entry, database.close(own, own.epoch, [entry.batch]))
      }
      case "poolClaimed":
        return this.#pool(entry, pool.claim(this.#shard(entry.shard).pool, entry.epoch))
      case "pushed":
        return this.#push(entry)
      case "leased":
        return this.#pool(entry, pool.lease(this.#shard(entry.shard).pool, this.#keys(entry.keys)))
      case "returned": {
        const { pool: own } = this.#shard(entry.shard)
        const keys = this.#arriving(own, this.#keys(entry.keys))
        return this.#pool(entry, pool.giveBack(own, `return ${this.#returns++}`, keys))
      }
      case "forgot": {
        const shard = this.#shard(entry.shard)
        const left = Stores.minus(shard.pool.keys, this.#keys(entry.gone))
        // What it knows of batches and of epochs may be gone, too.
        shard.pool = { epoch: 0, known: [], keys: [...left, ...this.#keys(entry.again)] }
        return
      }
      case "stocked":
        entry.keys.forEach((key) => this.onTheWay.delete(key))
        this.links = database.fill(this.links, this.#keys(entry.keys))
        return
      case "preloaded":
        entry.keys.forEach((key) => this.onTheWay.add(key))
        this.links = {
          ...this.links,
          stock: Stores.without(this.links.stock, this.#keys(entry.keys))
        }
        return
      case "bound":
        return this.#link(entry, entry.link.key, (key) => database.insert(this.links, key, 1))
      case "deleted":
      case "expired":
        return this.#link(entry, entry.key, (key) => database.end(this.links, key))
      case "freed":
        return this.#free(entry)
    }
  }

  #number(key: string): Stores.Key {
    const known = this.#numbers.get(key)
    if (known !== undefined) return known
    this.#numbers.set(key, this.#names.length)
    return this.#names.push(key) - 1
  }

  #keys(keys: ReadonlyArray<string>): ReadonlyArray<Stores.Key> {
    return keys.map((key) => this.#number(key))
  }

  /** What there is to add of keys: a set has each once, also those that it has forgotten to have handed out. */
  #arriving(own: Stores.Pool, keys: ReadonlyArray<Stores.Key>): ReadonlyArray<Stores.Key> {
    return this.#kind === "list" ? keys : Stores.without([...new Set(keys)], own.keys)
  }

  #shard(shard: number): Shard {
    const known = this.shards.get(shard)
    if (known !== undefined) return known
    const empty = { database: Stores.emptyDatabase(0), pool: Stores.emptyPool }
    this.shards.set(shard, empty)
    return empty
  }

  #found(entry: JournalEntry, keys: ReadonlyArray<string> = []) {
    const { at_us, by, tag } = entry
    const text = `the specification has no such step: ${tag} ${keys.join(", ")}, by ${by}`
    this.violations.push({ checker: Specification.name, at_us, text, keys })
  }

  #database(entry: JournalEntry & { readonly shard: number }, next: Stores.Database | undefined) {
    if (next === undefined) return this.#found(entry)
    this.#shard(entry.shard).database = next
  }

  #pool(entry: JournalEntry & { readonly shard: number }, next: Stores.Pool | undefined) {
    if (next === undefined) return this.#found(entry, "keys" in entry ? entry.keys : [])
    this.#shard(entry.shard).pool = next
  }

  /** Of stocked keys, or of minted ones. */
  #record(entry: Extract<JournalEntry, { readonly tag: "recorded" }>) {
    entry.keys.forEach((key) => this.onTheWay.delete(key))
    const keys = this.#keys(entry.keys)
    const { database: own } = this.#shard(entry.shard)
    const stocked = keys.filter((key) => this.links.stock.includes(key))
    const batch = { id: entry.batch, keys }
    if (stocked.length === 0) return this.#database(entry, database.record(own, entry.epoch, batch))
    const taken = database.take({ ...own, stock: this.links.stock }, entry.epoch, batch)
    if (taken === undefined) return this.#found(entry, entry.keys)
    this.links = { ...this.links, stock: taken.stock }
    this.#database(entry, { ...taken, stock: own.stock })
  }

  /** Only keys of the record are pushed: all of them, but for those that are bound. */
  #push(entry: Extract<JournalEntry, { readonly tag: "pushed" }>) {
    const { database: own, pool: before } = this.#shard(entry.shard)
    const keys = this.#keys(entry.keys)
    const recorded = own.records.find(({ id }) => id === entry.batch)?.keys ?? []
    const added = this.#arriving(before, keys)
    const next = pool.push(before, entry.epoch, { id: entry.batch, keys: added })
    const isWhole =
      Stores.without(keys, recorded).length === 0 && next?.keys.length === before.keys.length + added.length
    return isWhole ? this.#pool(entry, next) : this.#found(entry, entry.keys)
  }

  /** Aliases are nobody's keys. */
  #link(entry: JournalEntry, text: string, step: (key: Stores.Key) => Stores.Database | undefined) {
    const name = plainKeyOf(text)
    const key = this.#numbers.get(name)
    if (key === undefined || ("link" in entry && entry.link.custom)) return
    const next = step(key)
    if (next === undefined) return this.#found(entry, [name])
    this.links = next
  }

  /** The quarantine is judged by others. */
  #free(entry: Extract<JournalEntry, { readonly tag: "freed" }>) {
    this.#link(entry, entry.key, (key) => {
      const rested = database.rest(this.links, key)
      return rested && database.recycle(rested, key, () => !entry.custom)
    })
    const key = this.#numbers.get(plainKeyOf(entry.key))
    if (key === undefined) return
    for (const shard of this.shards.values()) {
      const records = shard.database.records.map(({ id, keys }) => ({
        id,
        keys: Stores.without(keys, [key])
      }))
      shard.database = { ...shard.database, records }
    }
  }
}

/** After these there are two databases, or one that goes on from another state. */
const ends: ReadonlySet<string> = new Set(["database forgot", "recovered", "left behind"])

const differ = (one: ReadonlySet<string>, other: ReadonlySet<string>): ReadonlyArray<string> =>
  [...one, ...other].filter((key) => !one.has(key) || !other.has(key))

/** What is elsewhere at the end than the specification has it. */
const leftovers = ({ end_us, leaving, pooled, recorded, stocked }: Evidence, replay: Replay) => {
  const shards = Array.from(replay.shards.values())
  // The specification has one database, which strikes a key from its batch as soon as it is free again.
  const struck = [...recorded].filter((key) => !leaving.has(key) && !replay.onTheWay.has(key))
  const places = [
    ["pools", pooled, replay.named(shards.flatMap(({ pool }) => pool.keys))],
    [
      "records",
      new Set(struck),
      replay.named(shards.flatMap(({ database }) => database.records.flatMap(({ keys }) => keys)))
    ],
    ["stock", stocked, replay.named(replay.links.stock)]
  ] as const
  return places.flatMap(([name, found, specified]): ReadonlyArray<Violation> => {
    const keys = differ(found, specified)
    const text = `${keys.length} keys are in the ${name}, or are not there, other than by the specification: ${keys.slice(0, 5).join(", ")}`
    return keys.length === 0 ? [] : [{ checker: Specification.name, at_us: end_us, text, keys }]
  })
}

/**
 * The specification of the key path, whose states are searched exhaustively, is of this very product: each step of the stores that a run has made is one of the specification's, in its
 * order, and at the end all keys are where that has them. Up to the first commit that a database forgets: whoever was told of it goes on, which the journal does not show.
 */
export const Specification: Checker = {
  name: "specification",
  seesForgotten: true,
  check: (evidence) => {
    const { journal, options } = evidence
    // A key that is drawn at random can be drawn again, which the specification leaves out.
    if (options.keyOrder === "random") return []
    // A process that starts pushes what stands recorded, be it on its way from another database to the stock.
    if (options.alone !== null && options.databases > 1) return []
    const replay = new Replay(journal, options.keyPool)
    const forgetful = journal.findIndex(({ tag }) => ends.has(tag))
    const known = forgetful < 0 ? journal : journal.slice(0, forgetful)
    known.forEach((entry) => replay.add(entry))
    if (forgetful >= 0 || replay.violations.length > 0) return replay.violations.slice(0, 1)
    return leftovers(evidence, replay)
  }
}
