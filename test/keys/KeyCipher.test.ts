import { FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"
import * as KeyCipher from "../../src/keys/KeyCipher.ts"
import * as KeySpace from "../../src/keys/KeySpace.ts"
import { noble, numeralsOf } from "../support/KeyOracle.ts"

const secret = Uint8Array.from(Buffer.from("2B7E151628AED2A6ABF7158809CF4F3C", "hex"))
const secrets = fc.oneof(
  { weight: 8, arbitrary: fc.uint8Array({ minLength: 16, maxLength: 16 }) },
  fc.uint8Array({ minLength: 24, maxLength: 24 }),
  fc.uint8Array({ minLength: 32, maxLength: 32 })
)

const lengths = Array.from(
  { length: KeySpace.lengthMax - KeySpace.lengthMin + 1 },
  (_, index) => KeySpace.lengthMin + index
)
const spaces = KeySpace.alphabets.flatMap((alphabet) =>
  lengths.map((length) => ({ alphabet, length, space: KeySpace.make(alphabet, length) }))
)

const unpack = (space: KeySpace.KeySpace, packed: Uint8Array): Array<string> => {
  expect(packed.length % space.length).toBe(0)
  return Array.from({ length: packed.length / space.length }, (_, index) =>
    Buffer.from(packed.subarray(index * space.length, (index + 1) * space.length)).toString("latin1")
  )
}

const oracleKey = (space: KeySpace.KeySpace, secret: Uint8Array, counter: bigint): string => {
  const encrypted = noble(space.radix, space.length, secret).encrypt(counter)
  return numeralsOf(space.radix, space.length, encrypted)
    .map((numeral) => space.characters[numeral])
    .join("")
}

/** radix^⌈length/2⌉: where a counter's right half starts over and its left half goes up by one. */
const carryAt = (space: KeySpace.KeySpace): bigint =>
  BigInt(space.radix) ** BigInt(Math.ceil(space.length / 2))

/** The counters where arithmetic goes wrong first: the ends, around 2^53, and around half carries. */
const edges = (space: KeySpace.KeySpace): Array<bigint> => {
  const carry = carryAt(space)
  const places = [0n, 2n ** 32n, 2n ** 53n, 2n ** 64n, carry, 7n * carry, space.size - carry, space.size]
  return places
    .flatMap((place) => [place - 2n, place - 1n, place, place + 1n])
    .filter((counter) => counter >= 0n && counter < space.size)
}

/** A start and a count so that [first, first + count) crosses a multiple of the carry, inside the space. */
const carryingRanges = (space: KeySpace.KeySpace) =>
  fc
    .record({
      multiple: fc.bigInt({ min: 1n, max: space.size / carryAt(space) - 1n }),
      before: fc.integer({ min: 1, max: 40 }),
      after: fc.integer({ min: 1, max: 40 })
    })
    .map(({ multiple, before, after }) => ({
      first: multiple * carryAt(space) - BigInt(before),
      count: before + after
    }))

describe.each(spaces)("keys of $alphabet, length $length", ({ space }) => {
  it("are FF1 of their counters as the oracle computes it, and lead back to them", () => {
    const counters = fc.array(fc.bigInt({ min: 0n, max: space.size - 1n }), { minLength: 1, maxLength: 8 })
    fc.assert(
      fc.property(secrets, counters, (secret, random) => {
        const cipher = KeyCipher.make(space, secret)
        for (const counter of [...edges(space), ...random]) {
          const [key] = unpack(space, cipher.encipher(counter, 1))
          expect(key).toBe(oracleKey(space, secret, counter))
          expect(cipher.decipher(key!)).toBe(counter)
        }
      }),
      { numRuns: 8 }
    )
  })

  it("come out of a range that carries between halves as they do one by one", () => {
    fc.assert(
      fc.property(secrets, carryingRanges(space), (secret, { first, count }) => {
        const cipher = KeyCipher.make(space, secret)
        const keys = unpack(space, cipher.encipher(first, count))
        expect(keys.length).toBe(count)
        keys.forEach((key, index) => {
          expect(KeySpace.isKey(space, key)).toBe(true)
          expect(cipher.decipher(key)).toBe(first + BigInt(index))
        })
        expect(keys.at(-1)).toBe(oracleKey(space, secret, first + BigInt(count - 1)))
      }),
      { numRuns: 8 }
    )
  })

  it("cover the last counters of the space and none beyond", () => {
    const cipher = KeyCipher.make(space, secret)
    const keys = unpack(space, cipher.encipher(space.size - 3n, 3))
    expect(keys.map(cipher.decipher)).toEqual([space.size - 3n, space.size - 2n, space.size - 1n])
    expect(() => cipher.encipher(space.size - 3n, 4)).toThrow(RangeError)
  })
})

describe("KeyCipher", () => {
  const space = KeySpace.make("base62", 7)
  const cipher = KeyCipher.make(space, secret)

  it.each([
    { chunks: "one chunk less one", count: KeyCipher.chunkKeys - 1 },
    { chunks: "one chunk", count: KeyCipher.chunkKeys },
    { chunks: "one chunk and one", count: KeyCipher.chunkKeys + 1 },
    { chunks: "three chunks and a rest", count: 3 * KeyCipher.chunkKeys + 7 }
  ])("gives the same keys for $chunks as one by one", ({ count }) => {
    // The carry falls inside the last chunk, so that halves go on rightly from chunk to chunk.
    const first = 5n * carryAt(space) - BigInt(count - 3)
    const keys = unpack(space, cipher.encipher(first, count))
    const single = KeyCipher.make(space, secret)
    const expected = keys.map((_, index) =>
      Buffer.from(single.encipher(first + BigInt(index), 1)).toString("latin1")
    )
    expect(keys).toEqual(expected)
  })

  it("repeats no key over a long range", () => {
    const keys = unpack(space, cipher.encipher(1_000_000_000n, 50_000))
    expect(new Set(keys).size).toBe(50_000)
  })

  it("hands out bytes that later calls do not touch", () => {
    const earlier = cipher.encipher(0n, 100)
    const copy = Uint8Array.from(earlier)
    cipher.encipher(5_000n, 100)
    cipher.decipher("ABCDEFG")
    expect(earlier).toEqual(copy)
  })

  it("spreads the keys of neighbouring counters evenly over the alphabet, at every position", () => {
    const count = 62_000
    const packed = cipher.encipher(0n, count)
    for (let position = 0; position < space.length; position++) {
      const drawn = new Map<number, number>()
      for (let at = position; at < packed.length; at += space.length) {
        drawn.set(packed[at]!, (drawn.get(packed[at]!) ?? 0) + 1)
      }
      expect(drawn.size).toBe(space.radix)
      // Chi-square with 61 degrees of freedom: above 121 once in 150,000 fair draws. The secret is fixed.
      const expected = count / space.radix
      const chiSquare = Array.from(drawn.values()).reduce(
        (sum, seen) => sum + (seen - expected) ** 2 / expected,
        0
      )
      expect(chiSquare).toBeLessThan(121)
    }
  })

  it("gives another permutation to another secret, and to another length under the same secret", () => {
    const other = KeyCipher.make(
      space,
      Uint8Array.from(secret, (byte, index) => (index === 15 ? byte ^ 1 : byte))
    )
    const longer = KeyCipher.make(KeySpace.withLength(space, 8), secret)
    const keys = unpack(space, cipher.encipher(0n, 1_000))
    const others = new Set(unpack(space, other.encipher(0n, 1_000)))
    const prefixes = new Set(unpack(longer.space, longer.encipher(0n, 1_000)).map((key) => key.slice(0, 7)))
    expect(keys.filter((key) => others.has(key) || prefixes.has(key))).toEqual([])
  })

  it("gives no bytes for no keys, at both ends of the space", () => {
    expect(cipher.encipher(0n, 0).length).toBe(0)
    expect(cipher.encipher(space.size, 0).length).toBe(0)
  })

  it.each([
    { range: "below 0", first: -1n, count: 2 },
    { range: "beyond the space", first: space.size - 1n, count: 2 },
    { range: "outside the space", first: space.size, count: 1 },
    { range: "of a negative count", first: 10n, count: -1 },
    { range: "of half a key", first: 0n, count: 0.5 },
    { range: "of NaN keys", first: 0n, count: NaN },
    { range: "of a count beyond 2^53", first: 0n, count: 2 ** 54 }
  ])("refuses a range $range", ({ first, count }) => {
    expect(() => cipher.encipher(first, count)).toThrow(RangeError)
  })

  it.each(["", "ABCDEF", "ABCDEFGH", "ABC-EFG", "ABCDÉFG"])("refuses to decipher %j", (text) => {
    expect(() => cipher.decipher(text)).toThrow(RangeError)
  })

  it.each([0, 15, 17, 33])("refuses a secret of %d bytes", (bytes) => {
    expect(() => KeyCipher.make(space, new Uint8Array(bytes))).toThrow(RangeError)
  })
})
