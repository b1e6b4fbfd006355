import { Context, Layer } from "effect"
import * as KeyCipher from "./KeyCipher.ts"
import { lowerEnd, spanOf } from "./KeyRanges.ts"
import { type KeySpace, withLength } from "./KeySpace.ts"
import type { PackedKeys } from "./PackedKeys.ts"

/** Turns the counters of key ranges into keys: the deployment's permutation of its key spaces, one for each key length. */
export class KeyMinter extends Context.Tag("linkmint/KeyMinter")<
  KeyMinter,
  {
    /** The key space that the deployment starts with; longer keys follow when its ranges are used up. */
    readonly space: KeySpace
    /** How many counters a range of keys of this length has. */
    readonly spanOf: (length: number, range: number) => number
    /** The keys of `count` counters from `first` of a range, counted from the range's lower end. */
    readonly mint: (length: number, range: number, first: number, count: number) => PackedKeys
  }
>() {}

/** The minter of a key space under a secret (the AES key of FF1, 16 bytes). */
export const make = (space: KeySpace, secret: Uint8Array): typeof KeyMinter.Service => {
  const ciphers = new Map<number, KeyCipher.KeyCipher>()
  const cipherOf = (length: number) => {
    const cipher = ciphers.get(length) ?? KeyCipher.make(withLength(space, length), secret)
    ciphers.set(length, cipher)
    return cipher
  }
  return {
    space,
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
