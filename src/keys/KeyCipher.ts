import * as Ff1 from "./Ff1.ts"
import { isKey, type KeySpace } from "./KeySpace.ts"

/** Keys enciphered at a time. Scratch memory is 32 bytes for each of them, whatever the count asked for. */
export const chunkKeys = 2048

/**
 * The permutation that turns the counters 0 … size − 1 of a key space into its keys: FF1 with an empty
 * tweak. A permutation, so two counters never share a key, and every key has its counter.
 *
 * **What it hides.** Under the usual assumption that FF1 over AES with a secret key is a pseudorandom
 * permutation, keys look like draws without replacement from the whole space. Of the next key, someone who
 * has seen q keys, even with their counters, knows only that it is none of those: a guess is
 * right with probability 1 / (size − q). Length and radix are inputs of FF1, so the keys of one length tell
 * nothing about those of another under the same secret.
 *
 * **What it does not hide.** A blind guess hits *some* bound key with chance (links / size), as with any
 * short keys: 1 in 35,000 for 10⁸ links at base62 length 7. Longer keys and rate limits help there.
 * And with the secret every key gives away its counter, hence its order and rough age.
 */
export interface KeyCipher {
  readonly space: KeySpace
  /**
   * The keys of the counters `first` … `first + count − 1`, in that order: ASCII, packed one after the
   * other, count × length bytes that the caller owns. A count that is not an integer of 0 or more, or a
   * range that leaves [0, size), is a defect (`RangeError`).
   */
  readonly encipher: (first: bigint, count: number) => Uint8Array
  /** The counter of a key. A string that is not a key of the space is a defect (`RangeError`). */
  readonly decipher: (key: string) => bigint
}

/** NUM of SP 800-38G (Algorithm 1) over the characters from `start` up to `end`. */
const numberOf = (space: KeySpace, key: string, start: number, end: number): number => {
  let number = 0
  for (let p = start; p < end; p++) number = number * space.radix + space.characters.indexOf(key[p]!)
  return number
}

/**
 * The cipher of a key space under a secret, an AES key of 16, 24 or 32 bytes (any other length is a
 * defect, `RangeError`). It keeps about 64 KiB of scratch, so make one and hold on to it.
 */
export const make = (space: KeySpace, secret: Uint8Array): KeyCipher => {
  const { characters, length, radix, size } = space
  const ff1 = Ff1.make({ radix, length, key: secret, batchMax: chunkKeys })
  const { rightModulus } = ff1
  const leftLength = Math.floor(length / 2)
  const left = new Float64Array(chunkKeys)
  const right = new Float64Array(chunkKeys)
  const codes = Uint8Array.from(characters, (character) => character.charCodeAt(0))

  /** STR of SP 800-38G (Algorithm 3), from the last character back, which must land on `end − 1`. */
  const write = (keys: Uint8Array, start: number, end: number, half: number) => {
    let rest = half
    for (let at = end - 1; at >= start; at--) {
      const quotient = Math.floor(rest / radix)
      keys[at] = codes[rest - quotient * radix]!
      rest = quotient
    }
  }

  return {
    space,
    encipher: (first, count) => {
      if (!Number.isSafeInteger(count) || count < 0) throw new RangeError(`no ${count} keys`)
      if (first < 0n || first + BigInt(count) > size) {
        throw new RangeError(`counters [${first}, ${first + BigInt(count)}) leave [0, ${size})`)
      }
      const keys = new Uint8Array(count * length)
      // The counter is split once; from there on its halves count up with a carry.
      let nextLeft = Number(first / BigInt(rightModulus))
      let nextRight = Number(first % BigInt(rightModulus))
      for (let done = 0, at = 0; done < count; done += chunkKeys) {
        const chunk = Math.min(chunkKeys, count - done)
        for (let k = 0; k < chunk; k++) {
          left[k] = nextLeft
          right[k] = nextRight++
          if (nextRight === rightModulus) {
            nextRight = 0
            nextLeft++
          }
        }
        ff1.encrypt(left, right, chunk)
        for (let k = 0; k < chunk; k++, at += length) {
          write(keys, at, at + leftLength, left[k]!)
          write(keys, at + leftLength, at + length, right[k]!)
        }
      }
      return keys
    },
    decipher: (key) => {
      if (!isKey(space, key)) throw new RangeError(`not a ${space.alphabet} key of length ${length}`)
      left[0] = numberOf(space, key, 0, leftLength)
      right[0] = numberOf(space, key, leftLength, length)
      ff1.decrypt(left, right, 1)
      return BigInt(left[0]) * BigInt(rightModulus) + BigInt(right[0])
    }
  }
}
