/**
 * The order of an alphabet's characters gives each its numeral (0 … radix − 1). That order is part of a
 * deployment's identity, like its secret: change it, and the same counter gives another key, which may
 * be one that is bound already.
 */
const charactersOf = {
  base62: "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
  base64url: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
  base36: "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
} as const

/**
 * The name of an alphabet, as the setting `KEY_ALPHABET` spells it:
 * `base62` is `0–9A–Za–z` (ASCII order, so that keys sort like their numerals), `base64url` is
 * `A–Za–z0–9-_` in the order of RFC 4648 section 5, and `base36` is `A–Z0–9`, upper case alone.
 */
export type Alphabet = keyof typeof charactersOf

/** Every alphabet's name: what `KEY_ALPHABET` may be. */
export const alphabets: ReadonlyArray<Alphabet> = ["base62", "base64url", "base36"]

/**
 * The shortest key, in characters. The smallest space is then 36^6 = 2.18 × 10⁹ keys, well above the
 * 10⁶ that NIST asks of FF1 (SP 800-38G Rev. 1, section 5).
 */
export const lengthMin = 6

/**
 * The longest key, in characters. The largest space is then 64^12 = 2^72 keys, whose halves (2^36) are
 * still exact in doubles.
 */
export const lengthMax = 12

/** All the keys of one alphabet and one length. */
export interface KeySpace {
  readonly alphabet: Alphabet
  /** The alphabet's characters, all ASCII; the one at position d is the numeral d. */
  readonly characters: string
  /** How many characters the alphabet has. */
  readonly radix: number
  /** Characters in a key, `lengthMin` to `lengthMax`. */
  readonly length: number
  /** How many keys there are: radix^length, at most 2^72. */
  readonly size: bigint
}

/**
 * The space of all keys of `length` characters of an alphabet. A length that is not an integer from
 * `lengthMin` to `lengthMax` is a defect (`RangeError`): settings are validated before they get here.
 */
export const make = (alphabet: Alphabet, length: number): KeySpace => {
  if (!Number.isInteger(length) || length < lengthMin || length > lengthMax) {
    throw new RangeError(`a key has ${lengthMin} to ${lengthMax} characters, not ${length}`)
  }
  const characters = charactersOf[alphabet]
  const radix = characters.length
  return { alphabet, characters, radix, length, size: BigInt(radix) ** BigInt(length) }
}

/**
 * The space of the same alphabet at another length: what is opened when a length runs low. Bounds and
 * defect as in `make`.
 */
export const withLength = (space: KeySpace, length: number): KeySpace => make(space.alphabet, length)

const membersOf = (characters: string): Uint8Array => {
  const members = new Uint8Array(128)
  for (let d = 0; d < characters.length; d++) members[characters.charCodeAt(d)] = 1
  return members
}

const members: Record<Alphabet, Uint8Array> = {
  base62: membersOf(charactersOf.base62),
  base64url: membersOf(charactersOf.base64url),
  base36: membersOf(charactersOf.base36)
}

/**
 * Whether a string is a key of this space: of its length, and of its alphabet's characters alone (case
 * counts). It looks at no more than `lengthMax` characters, whatever the string.
 */
export const isKey = (space: KeySpace, candidate: string): boolean => {
  if (candidate.length !== space.length) return false
  const allowed = members[space.alphabet]
  for (let p = 0; p < candidate.length; p++) {
    if (allowed[candidate.charCodeAt(p)] !== 1) return false
  }
  return true
}
