import { count, type PackedKeys, readKey, slice, widen } from "../../keys/PackedKeys.ts"

/** A key that this many times the capacity have followed is taken before any key of the wanted kind. */
const overdueAfter = 2

/**
 * How many keys are added behind a key of a ring at most while it is there. It is overdue once two capacities were added behind it, which a block can exceed by one
 * capacity; then at most one capacity of takes comes before it, during which as many keys are added, and one capacity more where the ring became empty.
 */
export const followersMax = (capacity: number): number => (overdueAfter + 3) * capacity

/**
 * A first-in first-out queue of at most `capacity` short keys in one byte array, of as many bytes a key as the longest
 * key that it has held. Taking and putting back cost no allocation but the key's string.
 */
export class KeyRing {
  readonly capacity: number
  readonly #kindOf: (key: string) => number
  /** The kind of each key, beside it. */
  readonly #kinds: Uint8Array
  /** Of each key, beside it, how many were added before it, modulo 2^32. */
  readonly #births: Uint32Array
  #bytes: Uint8Array = new Uint8Array(0)
  #width = 1
  #head = 0
  #size = 0
  #added = 0

  /** `kindOf` gives the kind of a key, 0 to 255, for `takeOf`. */
  constructor(capacity: number, kindOf: (key: string) => number = () => 0) {
    this.capacity = capacity
    this.#kindOf = kindOf
    this.#kinds = new Uint8Array(capacity)
    this.#births = new Uint32Array(capacity)
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
    return this.#size === 0 ? undefined : this.#takeAt(this.#head)
  }

  /** Takes the oldest key of a kind; the oldest of all where there is none of the kind, or that one is overdue. */
  takeOf(kind: number): string | undefined {
    const place = this.#isOverdue() ? undefined : this.#find(kind)
    return place === undefined ? this.take() : this.#takeAt(place)
  }

  #takeAt(place: number): string {
    const key = readKey(this.#bytes, place * this.#width, this.#width)
    if (place !== this.#head) this.#closeUp(place)
    this.#head = (this.#head + 1) % this.capacity
    this.#size--
    return key
  }

  #isOverdue(): boolean {
    return (this.#added - this.#births[this.#head]!) >>> 0 >= overdueAfter * this.capacity
  }

  /** Removes the key at a place by moving those before it by one. */
  #closeUp(place: number) {
    let end = place
    if (place < this.#head) {
      this.#move(0, place, 1)
      this.#move(this.capacity - 1, this.capacity, 0)
      end = this.capacity - 1
    }
    this.#move(this.#head, end, this.#head + 1)
  }

  /** Copies the keys from place `from` to before `end` to place `to`. */
  #move(from: number, end: number, to: number) {
    this.#bytes.copyWithin(to * this.#width, from * this.#width, end * this.#width)
    this.#kinds.copyWithin(to, from, end)
    this.#births.copyWithin(to, from, end)
  }

  #find(kind: number): number | undefined {
    const end = this.#head + this.#size
    const place = this.#kinds.indexOf(kind, this.#head)
    if (place !== -1 && place < end) return place
    const wrapped = end > this.capacity ? this.#kinds.indexOf(kind) : -1
    return wrapped !== -1 && wrapped < end - this.capacity ? wrapped : undefined
  }

  /** Adds keys behind the newest one; gives those that did not fit. */
  add(keys: PackedKeys): PackedKeys {
    const room = Math.min(count(keys), this.capacity - this.#size)
    if (room > 0) this.#fit(keys.width)
    const fitting = widen(slice(keys, 0, room), this.#width)
    const tail = (this.#head + this.#size) % this.capacity
    const untilEnd = Math.min(room, this.capacity - tail)
    this.#bytes.set(slice(fitting, 0, untilEnd).bytes, tail * this.#width)
    this.#bytes.set(slice(fitting, untilEnd, room).bytes, 0)
    for (let index = 0; index < room; index++) {
      const place = (tail + index) % this.capacity
      this.#kinds[place] = this.#kindOf(readKey(this.#bytes, place * this.#width, this.#width))
      this.#births[place] = this.#added++
    }
    this.#size += room
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
    const wider = Math.max(width, this.#width)
    this.#bytes =
      this.#bytes.length === 0
        ? new Uint8Array(this.capacity * wider)
        : widen({ width: this.#width, bytes: this.#bytes }, wider).bytes
    this.#width = wider
  }
}
