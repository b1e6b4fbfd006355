import { Context, Layer } from "effect"
import * as KeyCipher from "./KeyCipher.ts"
import { lowerEnd, rangeCount, spanOf } from "./KeyRanges.ts"
import { type KeySpace, withLength } from "./KeySpace.ts"
import type { PackedKeys } from "./PackedKeys.ts"

/**
 * The order in which keys are minted, as the setting `KEY_ORDER` spells it: `permuted`, counters through the deployment's permutation; `sequential`, counters as
 * they are, so that the next key can be guessed from the last; `random`, drawn at random, so that a key can come twice.
 */
export type KeyOrder = "permuted" | "sequential" | "random"

/** Every order's name: what `KEY_ORDER` may be. */
export const keyOrders: ReadonlyArray<KeyOrder> = ["permuted", "sequential", "random"]

/** Turns the counters of key ranges into the deployment's keys. */
export class KeyMinter extends Context.Tag("linkmint/KeyMinter")<
  KeyMinter,
  {
    /** The key space that the deployment starts with; longer keys follow when its ranges are used up. */
    readonly space: KeySpace
    /** How many ranges the space of each length is cut into; they are numbered from 0. */
    readonly ranges: number
    /** Whether a key may come twice, and may be bound already: then the store must be asked about it. */
    readonly repeats: boolean
    /** How many counters a range of keys of this length has. */
    readonly spanOf: (length: number, range: number) => number
    /** The keys of `count` counters from `first` of a range, counted from the range's lower end. */
    readonly mint: (length: number, range: number, first: number, count: number) => PackedKeys
  }
>() {}

/** The minter of a key space under a secret (the AES key of FF1, 16 bytes): a permutation, so that no two counters share a key. */
export const make = (space: KeySpace, secret: Uint8Array): typeof KeyMinter.Service => {
  const ciphers = new Map<number, KeyCipher.KeyCipher>()
  const cipherOf = (length: number) => {
    const cipher = ciphers.get(length) ?? KeyCipher.make(withLength(space, length), secret)
    ciphers.set(length, cipher)
    return cipher
  }
  return {
    space,
    ranges: rangeCount,
    repeats: false,
    spanOf: (length, range) => spanOf(withLength(space, length), range),
    mint: (length, range, first, count) => ({
      width: length,
      bytes: cipherOf(length).encipher(lowerEnd(withLength(space, length), range) + BigInt(first), count)
    })
  }
}

/** See {@link make}. */
export const layer = (space: KeySpace, secret: Uint8Array): Layer.Layer<KeyMinter> =>
  Layer.sync(KeyMinter, () => make(space, secret))

const codesOf = ({ characters }: KeySpace) =>
  Uint8Array.from(characters, (character) => character.charCodeAt(0))

/** The minter of a key space in its alphabet's order: the range is the first character, and the counter follows it. */
export const makeSequential = (space: KeySpace): typeof KeyMinter.Service => {
  const { radix } = space
  const codes = codesOf(space)
  return {
    space,
    ranges: radix,
    repeats: false,
    spanOf: (length, range) => spanOf(withLength(space, length), range, radix),
    mint: (length, range, first, count) => {
      const bytes = new Uint8Array(count * length)
      for (let key = 0; key < count; key++) {
        let rest = first + key
        for (let at = (key + 1) * length - 1; at > key * length; at--) {
          bytes[at] = codes[rest % radix]!
          rest = Math.floor(rest / radix)
        }
        bytes[key * length] = codes[range]!
      }
      return { width: length, bytes }
    }
  }
}

/** The share of a length's keys that are drawn before the next length is opened: at most this share of draws gives a key that is bound, or was drawn before. */
const drawnShare = 1 / 8

/**
 * The minter of random keys: each character is from one of `draw`'s bytes, which must be unpredictable. Counters only say how many keys were drawn.
 */
export const makeRandom = (
  space: KeySpace,
  draw: (bytes: number) => Uint8Array
): typeof KeyMinter.Service => {
  const { radix } = space
  const codes = codesOf(space)
  // Greater bytes are skipped, since they would favour the first characters.
  const bytesMax = 256 - (256 % radix)
  return {
    space,
    ranges: rangeCount,
    repeats: true,
    spanOf: (length, range) => Math.floor(spanOf(withLength(space, length), range) * drawnShare),
    mint: (length, _range, _first, count) => {
      const bytes = new Uint8Array(count * length)
      for (let filled = 0; filled < bytes.length;) {
        for (const byte of draw(bytes.length - filled)) {
          if (byte < bytesMax) bytes[filled++] = codes[byte % radix]!
        }
      }
      return { width: length, bytes }
    }
  }
}
