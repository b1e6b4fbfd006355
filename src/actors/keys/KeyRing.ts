import { count, type PackedKeys, readKey, slice, widen } from "../../keys/PackedKeys.ts"

/**
 * How many keys are added to a ring at most while a key is in it: as many as have room behind it; and once more where the ring was filled while bound keys were
 * looked for, and those that are free are put back behind.
 */
export const followersMax = (capacity: number): number => 2 * capacity

/**
 * A first-in first-out queue of at most `capacity` short keys in one byte array, of as many bytes a key as the longest
 * key that it has held. Taking and putting back cost no allocation but the key's string.
 */
export class KeyRing {
  readonly capacity: number
  #bytes: Uint8Array = new Uint8Array(0)
  #width = 1
  #head = 0
  #size = 0

  constructor(capacity: number) {
    this.capacity = capacity
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

  /** Adds keys behind the newest one; gives those that did not fit. */
  add(keys: PackedKeys): PackedKeys {
    const room = Math.min(count(keys), this.capacity - this.#size)
    if (room > 0) this.#fit(keys.width)
    const fitting = widen(slice(keys, 0, room), this.#width)
    const tail = (this.#head + this.#size) % this.capacity
    const untilEnd = Math.min(room, this.capacity - tail)
    this.#bytes.set(slice(fitting, 0, untilEnd).bytes, tail * this.#width)
    this.#bytes.set(slice(fitting, untilEnd, room).bytes, 0)
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
