import { FF1 } from "@noble/ciphers/ff1.js"

/** NUM of SP 800-38G: the number that numerals stand for, the most significant first. */
export const numberOf = (radix: number, numerals: ReadonlyArray<number>): bigint =>
  numerals.reduce((number, numeral) => number * BigInt(radix) + BigInt(numeral), 0n)

/** STR of SP 800-38G: `length` numerals that stand for a number, the most significant first. */
export const numeralsOf = (radix: number, length: number, number: bigint): Array<number> => {
  const numerals: Array<number> = []
  for (let rest = number; numerals.length < length; rest /= BigInt(radix)) {
    numerals.unshift(Number(rest % BigInt(radix)))
  }
  return numerals
}

/**
 * FF1 as `@noble/ciphers` has it, number to number: the independent implementation that ours is held
 * against. It works digit by digit in BigInt and shares nothing with `src`.
 */
export const noble = (
  radix: number,
  length: number,
  key: Uint8Array,
  tweak: Uint8Array = new Uint8Array()
) => {
  const ff1 = FF1(radix, key, tweak)
  return {
    encrypt: (number: bigint) => numberOf(radix, ff1.encrypt(numeralsOf(radix, length, number))),
    decrypt: (number: bigint) => numberOf(radix, ff1.decrypt(numeralsOf(radix, length, number)))
  }
}
