import { count, type PackedKeys, readKey, slice, widen } from "../PackedKeys.ts"

/**
 * A first-in first-out queue of at most `capacity` short keys in one byte array, of as many bytes a key as the longest
 * key that it has held. Taking and putting back cost no allocation but the key's string.
 */
export class KeyRing {
  readonly capacity: number
  readonly #kindOf: (key: string) => number
  /** The kind of each key, beside it. */
  readonly #kinds: Uint8Array
  #bytes = new Uint8Array(0)
  #width = 1
  #head = 0
  #size = 0

  /** `kindOf` gives the kind of a key, 0 to 255, for those who ask for keys of one kind. */
  constructor(capacity: number, kindOf: (key: string) => number = () => 0) {
    this.capacity = capacity
    this.#kindOf = kindOf
    this.#kinds = new Uint8Array(capacity)
  }

  /** Keys in the ring. */
  get size(): number {
    return this.#size
  }

  /** Bytes that the ring occupies for its keys, used or not. */
  get byteLength(): number {
    return this.#bytes.length
  }

  /** Takes the oldest key, if there is one. */
  take(): string | undefined {
    if (this.#size === 0) return undefined
    const key = readKey(this.#bytes, this.#head * this.#width, this.#width)
    this.#head = (this.#head + 1) % this.capacity
    this.#size--
    return key
  }

  /** Takes the oldest key of a kind, in whose place the oldest of all goes then; that one where there is none of the kind. */
  takeOf(kind: number): string | undefined {
    const place = this.#find(kind)
    if (place === undefined) return this.take()
    const key = readKey(this.#bytes, place * this.#width, this.#width)
    const oldest = this.#head * this.#width
    this.#bytes.copyWithin(place * this.#width, oldest, oldest + this.#width)
    this.#kinds[place] = this.#kinds[this.#head]!
    this.take()
    return key
  }

  #find(kind: number): number | undefined {
    const end = this.#head + this.#size
    const place = this.#kinds.indexOf(kind, this.#head)
    if (place !== -1 && place < end) return place
    const wrapped = end > this.capacity ? this.#kinds.indexOf(kind) : -1
    return wrapped !== -1 && wrapped < end - this.capacity ? wrapped : undefined
  }

  /** Notes the kinds of keys from the `from`th oldest one on. */
  #note(from: number) {
    for (let index = from; index < this.#size; index++) {
      const place = (this.#head + index) % this.capacity
      this.#kinds[place] = this.#kindOf(readKey(this.#bytes, place * this.#width, this.#width))
    }
  }

  /** Adds keys behind the newest one; gives those that found no room. */
  add(keys: PackedKeys): PackedKeys {
    const room = Math.min(count(keys), this.capacity - this.#size)
    if (room > 0) this.#fit(keys.width)
    const fitting = widen(slice(keys, 0, room), this.#width)
    const tail = (this.#head + this.#size) % this.capacity
    const untilEnd = Math.min(room, this.capacity - tail)
    this.#bytes.set(slice(fitting, 0, untilEnd).bytes, tail * this.#width)
    this.#bytes.set(slice(fitting, untilEnd, room).bytes, 0)
    this.#size += room
    this.#note(this.#size - room)
    return slice(keys, room, count(keys))
  }

  /** Takes all keys, oldest first. */
  drain(): PackedKeys {
    const bytes = new Uint8Array(this.#size * this.#width)
    const untilEnd = Math.min(this.#size, this.capacity - this.#head)
    bytes.set(this.#bytes.subarray(this.#head * this.#width, (this.#head + untilEnd) * this.#width))
    bytes.set(this.#bytes.subarray(0, (this.#size - untilEnd) * this.#width), untilEnd * this.#width)
    this.#head = 0
    this.#size = 0
    return { width: this.#width, bytes }
  }

  /** Makes room for keys of `width` bytes: once at the start, and again when the deployment opens a longer key length. */
  #fit(width: number) {
    if (this.#bytes.length > 0 && width <= this.#width) return
    const held = this.drain()
    const wider = Math.max(width, this.#width)
    this.#bytes = new Uint8Array(this.capacity * wider)
    this.#bytes.set(widen(held, wider).bytes)
    this.#width = wider
    this.#size = count(held)
    this.#note(0)
  }
}
