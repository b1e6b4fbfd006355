import { FastCheck as fc } from "effect"
import { randomBytes } from "node:crypto"
import { describe, expect, it } from "vitest"
import * as KeyCipher from "../../src/keys/KeyCipher.ts"
import * as KeyMinter from "../../src/keys/KeyMinter.ts"
import { lowerEnd, rangeCount, spanOf } from "../../src/keys/KeyRanges.ts"
import * as KeySpace from "../../src/keys/KeySpace.ts"
import { count, toStrings } from "../../src/keys/PackedKeys.ts"

const ranges = Array.from({ length: rangeCount }, (_, range) => range)
const lengths = Array.from(
  { length: KeySpace.lengthMax - KeySpace.lengthMin + 1 },
  (_, index) => KeySpace.lengthMin + index
)
const spaces = KeySpace.alphabets.flatMap((alphabet) =>
  lengths.map((length) => ({ name: `${alphabet} ${length}`, space: KeySpace.make(alphabet, length) }))
)

/** Spaces of which a sixteenth is more than counters can be exact about. */
const capped = [
  ...[10, 11, 12].flatMap((length) => [`base62 ${length}`, `base64url ${length}`]),
  "base36 12"
].toSorted()

describe("the key ranges", () => {
  it("number 16, because with another number the same counters would be minted again", () => {
    expect(rangeCount).toBe(16)
  })

  it.each(spaces)("cut $name into intervals without overlap or gap", ({ space }) => {
    expect(lowerEnd(space, 0)).toBe(0n)
    expect(lowerEnd(space, rangeCount)).toBe(space.size)
    for (const range of ranges) {
      expect(lowerEnd(space, range) < lowerEnd(space, range + 1)).toBe(true)
    }
  })

  it.each(spaces)("hand out all of each interval of $name, or 2^53 − 1 counters of it", ({ space }) => {
    for (const range of ranges) {
      const interval = lowerEnd(space, range + 1) - lowerEnd(space, range)
      const cap = 2n ** 53n - 1n
      const span = spanOf(space, range)
      expect(Number.isSafeInteger(span)).toBe(true)
      expect(BigInt(span)).toBe(interval > cap ? cap : interval)
    }
  })

  it("differ in size by one counter at most", () => {
    for (const { space } of spaces) {
      const spans = ranges.map((range) => spanOf(space, range))
      expect(Math.max(...spans) - Math.min(...spans)).toBeLessThanOrEqual(1)
    }
  })

  it("leave counters unused in the largest spaces alone", () => {
    const unused = spaces.filter(
      ({ space }) => ranges.reduce((sum, range) => sum + BigInt(spanOf(space, range)), 0n) < space.size
    )
    expect(unused.map(({ name }) => name).toSorted()).toEqual(capped)
  })
})

describe("the sequential minter", () => {
  it.each(KeySpace.alphabets)(
    "gives each first character of %s as a range, and counts up behind it",
    (alphabet) => {
      const space = KeySpace.make(alphabet, 6)
      const { characters, radix } = space
      const minter = KeyMinter.makeSequential(space)
      const digits = fc.array(fc.nat(radix - 1), { minLength: 5, maxLength: 5 })
      expect(minter.ranges).toBe(radix)
      fc.assert(
        fc.property(fc.nat(radix - 1), digits, (range, rest) => {
          const first = rest.reduce((number, digit) => number * radix + digit, 0)
          const key = [range, ...rest].map((digit) => characters[digit]).join("")
          expect(toStrings(minter.mint(6, range, first, 1))).toEqual([key])
        })
      )
      const [zero, one, last] = [characters[0]!, characters[1]!, characters[radix - 1]!]
      expect(toStrings(minter.mint(8, radix - 1, radix - 1, 2))).toEqual([
        last + zero.repeat(6) + last,
        last + zero.repeat(5) + one + zero
      ])
    }
  )

  it.each(spaces)(
    "has ranges of $name of as many keys as there are behind a character, or 2^53 − 1",
    ({ space }) => {
      const minter = KeyMinter.makeSequential(space)
      const all = space.size / BigInt(space.radix)
      const cap = 2n ** 53n - 1n
      const spans = Array.from({ length: space.radix }, (_, range) => minter.spanOf(space.length, range))
      expect(new Set(spans)).toEqual(new Set([Number(all > cap ? cap : all)]))
      const last = toStrings(minter.mint(space.length, 0, spans[0]! - 2, 2))
      expect(new Set(last).size).toBe(2)
      expect(last.every((key) => KeySpace.isKey(space, key) && key.startsWith(space.characters[0]!))).toBe(
        true
      )
    }
  )
})

describe("the random minter", () => {
  it.each(spaces)("gives keys of $name, each character as often as any other", ({ space }) => {
    const minter = KeyMinter.makeRandom(space, (bytes) => randomBytes(bytes))
    const keys = toStrings(minter.mint(space.length, 0, 0, 2_000))
    expect(keys.every((key) => KeySpace.isKey(space, key))).toBe(true)
    const counts = new Map<string, number>()
    for (const character of keys.join("")) counts.set(character, (counts.get(character) ?? 0) + 1)
    const mean = (2_000 * space.length) / space.radix
    expect(counts.size).toBe(space.radix)
    // Six standard deviations either way.
    for (const often of counts.values()) expect(Math.abs(often - mean)).toBeLessThan(6 * Math.sqrt(mean))
  })

  it("passes over the bytes that would favour some characters, and uses all others", () => {
    const space = KeySpace.make("base36", 6)
    const bytes = [255, 252, 0, 35, 36, 251, 253, 71, 72, 7]
    const asked: Array<number> = []
    const minter = KeyMinter.makeRandom(space, (count) => {
      asked.push(count)
      return Uint8Array.from(bytes.splice(0, count))
    })
    expect(toStrings(minter.mint(6, 3, 99, 1))).toEqual(["A9A99A"])
    expect(asked).toEqual([6, 2, 1])
  })

  it("opens the next length when an eighth of the keys was drawn", () => {
    const space = KeySpace.make("base62", 7)
    const minter = KeyMinter.makeRandom(space, (bytes) => new Uint8Array(bytes))
    const drawn = ranges.reduce((sum, range) => sum + minter.spanOf(7, range), 0)
    expect(drawn / Number(space.size)).toBeCloseTo(1 / 8, 6)
  })
})

describe("the minter", () => {
  const secret = Uint8Array.from({ length: 16 }, (_, index) => index)
  const someSpace = fc.constantFrom(...spaces.map(({ space }) => space))

  it("gives each range the keys of its own counters, up to the last one", () => {
    const blocks = fc.record({
      space: someSpace,
      length: fc.constantFrom(...lengths),
      range: fc.nat(rangeCount - 1),
      count: fc.integer({ min: 1, max: 5 }),
      place: fc.oneof(fc.constant(0), fc.constant(1), fc.double({ min: 0, max: 1, noNaN: true }))
    })
    fc.assert(
      fc.property(blocks, ({ count: wanted, length, place, range, space }) => {
        const minter = KeyMinter.make(space, secret)
        const span = minter.spanOf(length, range)
        const first = Math.min(Math.floor(place * span), span - wanted)
        const keys = minter.mint(length, range, first, wanted)
        expect(count(keys)).toBe(wanted)
        const longer = KeySpace.withLength(space, length)
        const cipher = KeyCipher.make(longer, secret)
        expect(toStrings(keys).map(cipher.decipher)).toEqual(
          Array.from({ length: wanted }, (_, index) => lowerEnd(longer, range) + BigInt(first + index))
        )
      })
    )
  })

  it("gives no key in two ranges, at their ends neither", () => {
    for (const { space } of spaces) {
      const minter = KeyMinter.make(space, secret)
      const keys = ranges.flatMap((range) => {
        const last = minter.spanOf(space.length, range) - 1
        return [0, 1, last - 1, last].flatMap((first) =>
          toStrings(minter.mint(space.length, range, first, 1))
        )
      })
      expect(new Set(keys).size).toBe(4 * rangeCount)
    }
  })
})
