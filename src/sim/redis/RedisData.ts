import type { Chance } from "../world/Chance.ts"

/** What a name stands for. None is ever changed: a command puts another one in its place. */
type Value =
  | { readonly type: "string"; readonly text: string }
  | { readonly type: "list" | "set"; readonly items: ReadonlyArray<string> }
  | { readonly type: "hash"; readonly fields: ReadonlyMap<string, string> }

/** What a command answers. */
export type Reply = number | string | null | ReadonlyArray<string>

/** The values of a server by their names, as they are at a moment. */
export type Snapshot = ReadonlyMap<string, Value>

/** What Redis answers a command that it refuses. */
export class RedisRefusal extends Error {
  override readonly name = "RedisRefusal"
}

const none: ReadonlyArray<string> = []

/** Commands that only read. */
const reads: ReadonlySet<string> = new Set([
  "GET",
  "LLEN",
  "LRANGE",
  "LPOS",
  "SCARD",
  "SMEMBERS",
  "HGET",
  "HGETALL"
])

/** Commands that Redis refuses where its memory is full (`denyoom`). */
const needMemory: ReadonlySet<string> = new Set(["SET", "RPUSH", "LPUSH", "SADD", "HSET", "HSETNX"])

/** Runs a command. */
export type Call = (command: string, args: ReadonlyArray<string>) => Reply

/** The items from one index to another one, both included; negative ones count from the end, and may lie before the beginning. */
const range = (items: ReadonlyArray<string>, first: string, last: string) => {
  const placeOf = (index: number) => Math.max(0, index < 0 ? items.length + index : index)
  // Behind the last one, which may be before the beginning.
  return items.slice(placeOf(Number(first)), last === "-1" ? items.length : placeOf(Number(last) + 1))
}

/** The part of Redis 7's commands that Linkmint uses, on strings, lists, sets and hashes of texts. A set keeps the order in which its members came. */
export class RedisData {
  #values: Snapshot = new Map()
  readonly #members: Chance

  /** `members`: by which `SPOP` chooses. */
  constructor(members: Chance) {
    this.#members = members
  }

  /** All that it has now. */
  get snapshot(): Snapshot {
    return this.#values
  }

  /** Has what it had then. */
  restore(snapshot: Snapshot) {
    this.#values = snapshot
  }

  /** The text of a string, or `null`. */
  text(name: string): string | null {
    return this.#of(name, "string")?.text ?? null
  }

  /** The items of a list, or a set. */
  items(name: string, type: "list" | "set"): ReadonlyArray<string> {
    return this.#of(name, type)?.items ?? none
  }

  /** Runs what a client asked for, a command or those of one script. Where the memory is full (`isFull`) nothing that needs some is done, unless the same script has changed something before: then it goes on to its end. */
  asked(isFull: boolean): Call {
    let hasWritten = false
    return (command, args) => {
      const name = command.toUpperCase()
      if (isFull && !hasWritten && needMemory.has(name))
        throw new RedisRefusal("OOM command not allowed when used memory > 'maxmemory'.")
      hasWritten ||= !reads.has(name)
      return this.run(command, args)
    }
  }

  /** Runs a command. Throws a `RedisRefusal` where Redis would refuse it; then nothing was done. */
  run(command: string, [name = "", ...rest]: ReadonlyArray<string>): Reply {
    const [first = "", second = ""] = rest
    switch (command.toUpperCase()) {
      case "GET":
        return this.text(name)
      case "SET":
        this.#set(name, { type: "string", text: first })
        return "OK"
      case "DEL": {
        const there = [name, ...rest].filter((each) => this.#values.has(each))
        this.forget(there)
        return there.length
      }
      case "LLEN":
        return this.items(name, "list").length
      case "LRANGE":
        return range(this.items(name, "list"), first, second)
      case "LPOS": {
        const at = this.items(name, "list").indexOf(first)
        return at < 0 ? null : at
      }
      case "RPUSH":
        return this.#setItems(name, "list", [...this.items(name, "list"), ...rest])
      case "LPUSH":
        return this.#setItems(name, "list", [...rest.toReversed(), ...this.items(name, "list")])
      case "LTRIM":
        this.#setItems(name, "list", range(this.items(name, "list"), first, second))
        return "OK"
      case "LPOP": {
        const items = this.items(name, "list")
        if (items.length === 0) return null
        this.#setItems(name, "list", items.slice(Number(first)))
        return items.slice(0, Number(first))
      }
      case "SCARD":
        return this.items(name, "set").length
      case "SMEMBERS":
        return this.items(name, "set")
      case "SADD": {
        const before = this.items(name, "set")
        return this.#setItems(name, "set", [...new Set([...before, ...rest])]) - before.length
      }
      case "SPOP": {
        const left = this.items(name, "set").slice()
        const popped = Array.from(
          { length: Math.min(Number(first), left.length) },
          () => left.splice(this.#members.below(left.length), 1)[0]!
        )
        this.#setItems(name, "set", left)
        return popped
      }
      case "HGET":
        return this.#fields(name).get(first) ?? null
      case "HGETALL":
        return [...this.#fields(name)].flat()
      case "HSET": {
        const fields = new Map(this.#fields(name))
        const before = fields.size
        for (let at = 0; at < rest.length; at += 2) fields.set(rest[at]!, rest[at + 1]!)
        this.#set(name, { type: "hash", fields })
        return fields.size - before
      }
      case "HSETNX": {
        const fields = this.#fields(name)
        if (fields.has(first)) return 0
        this.#set(name, { type: "hash", fields: new Map([...fields, [first, second]]) })
        return 1
      }
      case "HDEL": {
        const fields = new Map(this.#fields(name))
        const gone = rest.filter((field) => fields.delete(field)).length
        if (fields.size === 0) this.forget([name])
        else this.#set(name, { type: "hash", fields })
        return gone
      }
      default:
        throw new RedisRefusal(`ERR unknown command '${command}'`)
    }
  }

  /** Drops what names stand for. */
  forget(names: Iterable<string>) {
    const values = new Map(this.#values)
    for (const name of names) values.delete(name)
    this.#values = values
  }

  #fields(name: string): ReadonlyMap<string, string> {
    return this.#of(name, "hash")?.fields ?? new Map()
  }

  #of<Type extends Value["type"]>(
    name: string,
    type: Type
  ): Extract<Value, { readonly type: Type }> | undefined {
    const value = this.#values.get(name)
    if (value !== undefined && value.type !== type)
      throw new RedisRefusal("WRONGTYPE Operation against a key holding the wrong kind of value")
    return value as Extract<Value, { readonly type: Type }> | undefined
  }

  #set(name: string, value: Value) {
    this.#values = new Map(this.#values).set(name, value)
  }

  /** How many there are then. There is no list and no set without items. */
  #setItems(name: string, type: "list" | "set", items: ReadonlyArray<string>): number {
    if (items.length === 0) this.forget([name])
    else this.#set(name, { type, items })
    return items.length
  }
}
