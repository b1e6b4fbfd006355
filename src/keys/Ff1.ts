import { type Cipher, createCipheriv } from "node:crypto"

const blockBytes = 16
const rounds = 10
const wordSpan = 2 ** 32

/** Half moduli up to here are reduced in doubles, larger ones in BigInt: see `addInDoubles`. */
const doublesModulusMax = 2 ** 36

/** The largest radix^⌈length/2⌉: every half, and the sum of two, is then exact in a double. */
const halfModulusMax = 2 ** 52

/** The longest tweak in bytes. NIST leaves this bound (its maxTlen) to the implementation. */
export const tweakBytesMax = 1024

/** The least radix^length (SP 800-38G, section 5.1). Rev. 1 asks 10⁶: every `KeySpace` is above that. */
export const domainMin = 100

/** What fixes one FF1 permutation, and how large its batches may be. */
export interface Ff1Options {
  /** Numerals are 0 … radix − 1; 2 to 2^16. */
  readonly radix: number
  /** Numerals in a string (NIST's n): 2 to 104, which is all that halves of 52 bits allow. */
  readonly length: number
  /** The AES key: 16, 24 or 32 bytes. */
  readonly key: Uint8Array
  /** Public bytes that select another permutation: none by default, at most `tweakBytesMax`. */
  readonly tweak?: Uint8Array
  /** The most strings in one call, 1 to 2^20. 16 bytes are held for each. */
  readonly batchMax: number
}

/**
 * FF1 format-preserving encryption (NIST SP 800-38G, Algorithms 7 and 8), a batch of numeral strings at
 * a time.
 *
 * String k is carried as its two halves: `left[k]` = NUM(A), of the first ⌊n/2⌋ numerals, and
 * `right[k]` = NUM(B), of the others, most significant numeral first. Each is an exact integer of at most
 * 52 bits in a double, so that strings far above 2^53 (64^12 = 2^72) never need a number that large: the
 * rounds only ever add within a half.
 *
 * Both calls work in place on the first `count` strings, whose halves must be integers in
 * [0, leftModulus) and [0, rightModulus). A count outside [0, batchMax] or beyond an array is a defect
 * (`RangeError`).
 */
export interface Ff1 {
  /** radix^⌊length/2⌋: `left` halves lie below it. */
  readonly leftModulus: number
  /** radix^⌈length/2⌉: `right` halves lie below it. */
  readonly rightModulus: number
  /** Replaces each string by its encryption (FF1.Encrypt). */
  readonly encrypt: (left: Float64Array, right: Float64Array, count: number) => void
  /** Replaces each string by its decryption (FF1.Decrypt). */
  readonly decrypt: (left: Float64Array, right: Float64Array, count: number) => void
}

const demand = (holds: boolean, requirement: string): void => {
  if (!holds) throw new RangeError(`FF1: ${requirement}`)
}

const isWithin = (value: number, min: number, max: number): boolean =>
  Number.isInteger(value) && value >= min && value <= max

/** radix^exponent, or Infinity once past `halfModulusMax`: exact, which `**` on numbers need not be. */
const power = (radix: number, exponent: number): number => {
  let product = 1
  for (let e = 0; e < exponent && product <= halfModulusMax; e++) product *= radix
  return product <= halfModulusMax ? product : Infinity
}

/** P of step 5: the parameters, in one block. */
const parameterBlock = (radix: number, length: number, tweakBytes: number): Uint8Array => {
  const block = new Uint8Array(blockBytes)
  const view = new DataView(block.buffer)
  view.setUint16(0, 0x0102)
  view.setUint32(2, 0x0100_0000 | radix) // [1]¹ || [radix]³
  view.setUint8(6, rounds)
  view.setUint8(7, Math.floor(length / 2) % 256)
  view.setUint32(8, length)
  view.setUint32(12, tweakBytes)
  return block
}

/**
 * The part of a round's CBC-MAC (steps 6.i and 6.ii) that no string and no round changes. The round
 * number and NUM(B) are the last b + 1 ≤ 8 bytes of P || Q, a half having at most 52 bits. So all blocks
 * but the last are enciphered here, once, and XORed into what the last has of tweak and padding: that
 * template, with the round number and NUM(B) XORed in, is the one block left to encipher.
 */
const lastBlockTemplate = (cipher: Cipher, parameters: Uint8Array, tweak: Uint8Array, b: number) => {
  const q = new Uint8Array(Math.ceil((tweak.length + 1 + b) / blockBytes) * blockBytes)
  q.set(tweak)
  let state = Uint8Array.from(cipher.update(parameters))
  for (let at = 0; at < q.length; at += blockBytes) {
    if (at > 0) state = Uint8Array.from(cipher.update(state))
    for (let byte = 0; byte < blockBytes; byte++) state[byte]! ^= q[at + byte]!
  }
  return state
}

/**
 * Steps 6.iii to 6.vi for a whole batch: each target becomes (target + y) mod `modulus`, or, if
 * `subtract`, (target − y) mod `modulus`, y being the number in the first d = 8 or 12 bytes of its block.
 * One block is always enough (S = R), as d ≤ 12.
 *
 * y is reduced by Horner's rule, 48 bits at first and then a 16-bit word at a time. That is exact for
 * moduli m up to 2^36: no x passes 65537·m − 2 < 2^53, and for an integer 0 ≤ x < 2^53 the quotient
 * ⌊x / m⌋ is exact although x / m is rounded, since the rounding is off by at most 2^-53·(x / m) < 1 / m,
 * while a quotient just below an integer is at least 1 / m below it. The target joins in the last
 * reduction, which spares a branch that would be mispredicted every other time.
 *
 * Subtraction is addition mirrored: a − y = m − 1 − ((m − 1 − a) + y).
 */
const addInDoubles = (
  prf: DataView,
  d: number,
  target: Float64Array,
  count: number,
  modulus: number,
  subtract: boolean
): void => {
  const mirror = subtract ? modulus - 1 : 0
  const sign = subtract ? -1 : 1
  for (let k = 0, at = 0; k < count; k++, at += blockBytes) {
    const middle = prf.getUint32(at + 4)
    let x = prf.getUint32(at) * 0x10000 + (middle >>> 16)
    x -= Math.floor(x / modulus) * modulus
    x = x * 0x10000 + (middle & 0xffff)
    if (d > 8) {
      const low = prf.getUint32(at + 8)
      x -= Math.floor(x / modulus) * modulus
      x = x * 0x10000 + (low >>> 16)
      x -= Math.floor(x / modulus) * modulus
      x = x * 0x10000 + (low & 0xffff)
    }
    x += mirror + sign * target[k]!
    x -= Math.floor(x / modulus) * modulus
    target[k] = mirror + sign * x
  }
}

/** As `addInDoubles`, for the moduli above 2^36 (so that d = 12). No key space needs it. */
const addInBigInts = (
  prf: DataView,
  target: Float64Array,
  count: number,
  modulus: number,
  subtract: boolean
): void => {
  const m = BigInt(modulus)
  for (let k = 0, at = 0; k < count; k++, at += blockBytes) {
    const y = (prf.getBigUint64(at) << 32n) | BigInt(prf.getUint32(at + 8))
    const a = BigInt(target[k]!)
    target[k] = Number(subtract ? (a + m - (y % m)) % m : (a + y) % m)
  }
}

const checked = ({ radix, length, key, tweak = new Uint8Array(), batchMax }: Ff1Options) => {
  demand(isWithin(radix, 2, 2 ** 16), `a radix is 2 to 65536, not ${radix}`)
  demand(isWithin(length, 2, 104), `a length is 2 to 104, not ${length}`)
  const leftModulus = power(radix, Math.floor(length / 2))
  const rightModulus = power(radix, Math.ceil(length / 2))
  demand(rightModulus <= halfModulusMax, `radix^⌈length/2⌉ must not pass 2^52 (${radix}, ${length})`)
  demand(leftModulus * rightModulus >= domainMin, `radix^length must reach ${domainMin}`)
  demand([16, 24, 32].includes(key.length), `an AES key has 16, 24 or 32 bytes, not ${key.length}`)
  demand(tweak.length <= tweakBytesMax, `a tweak has at most ${tweakBytesMax} bytes, not ${tweak.length}`)
  demand(isWithin(batchMax, 1, 2 ** 20), `a batch is of 1 to 2^20 strings, not ${batchMax}`)
  return { leftModulus, rightModulus, tweak }
}

/**
 * FF1 under one key, tweak, radix and length. Options out of bounds are defects (`RangeError`):
 * radix^⌈length/2⌉ at most `halfModulusMax`, radix^length at least `domainMin`, and those given with
 * `Ff1Options`.
 *
 * A round costs one AES-ECB call for the whole batch, and nothing is allocated per string. The buffers
 * are shared by all calls, which is safe because a call runs to its end without yielding.
 */
export const make = (options: Ff1Options): Ff1 => {
  const { leftModulus, rightModulus, tweak } = checked(options)
  const { radix, length, key, batchMax } = options
  // b of step 3: the fewest bytes that hold every right half. d, step 4, is 8 or 12.
  let b = 1
  while (256 ** b < rightModulus) b++
  const d = 4 * Math.ceil(b / 4) + 4
  const cipher = createCipheriv(`aes-${key.length * 8}-ecb`, key, null).setAutoPadding(false)
  const template = lastBlockTemplate(cipher, parameterBlock(radix, length, tweak.length), tweak, b)
  const blocks = new Uint8Array(batchMax * blockBytes)
  for (let at = 0; at < blocks.length; at += blockBytes) blocks.set(template, at)
  const input = new DataView(blocks.buffer)
  const templateTail = new DataView(template.buffer).getBigUint64(8)

  /** One round: `target` takes in what the PRF makes of `source` and the round's number. */
  const round = (i: number, source: Float64Array, target: Float64Array, count: number, subtract: boolean) => {
    // The last eight bytes of each block: … || [i]¹ || [NUM(source)]ᵇ, on top of the template.
    const tail = templateTail ^ (BigInt(i) << BigInt(8 * b))
    const high = Number(tail >> 32n)
    const low = Number(tail & 0xffff_ffffn)
    for (let k = 0, at = 8; k < count; k++, at += blockBytes) {
      const half = source[k]!
      input.setUint32(at, high ^ (half / wordSpan))
      input.setUint32(at + 4, low ^ half)
    }
    const output = cipher.update(blocks.subarray(0, count * blockBytes))
    const prf = new DataView(output.buffer, output.byteOffset, output.length)
    const modulus = i % 2 === 0 ? leftModulus : rightModulus
    if (modulus <= doublesModulusMax) addInDoubles(prf, d, target, count, modulus, subtract)
    else addInBigInts(prf, target, count, modulus, subtract)
  }

  const checkCount = (left: Float64Array, right: Float64Array, count: number) =>
    demand(
      isWithin(count, 0, Math.min(batchMax, left.length, right.length)),
      `no batch of ${count} strings in arrays of ${left.length} and ${right.length}, at most ${batchMax}`
    )

  return {
    leftModulus,
    rightModulus,
    // Instead of swapping A and B after each round (steps 6.viii and 6.ix), rounds take turns as target.
    encrypt: (left, right, count) => {
      checkCount(left, right, count)
      for (let i = 0; i < rounds; i++) {
        if (i % 2 === 0) round(i, right, left, count, false)
        else round(i, left, right, count, false)
      }
    },
    decrypt: (left, right, count) => {
      checkCount(left, right, count)
      for (let i = rounds - 1; i >= 0; i--) {
        if (i % 2 === 0) round(i, right, left, count, true)
        else round(i, left, right, count, true)
      }
    }
  }
}
