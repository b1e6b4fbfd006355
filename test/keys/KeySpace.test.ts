import { FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"
import {
  type Alphabet,
  alphabets,
  isKey,
  lengthMax,
  lengthMin,
  make,
  withLength
} from "../../src/keys/KeySpace.ts"

const radixes: Record<Alphabet, number> = { base62: 62, base64url: 64, base36: 36 }

describe("a key space", () => {
  it.each(alphabets)("%s has distinct URL-safe characters and as many as its radix", (alphabet) => {
    const space = make(alphabet, 7)
    expect(space.radix).toBe(radixes[alphabet])
    expect(new Set(space.characters).size).toBe(space.radix)
    expect(space.characters).toMatch(/^[A-Za-z0-9_-]+$/)
  })

  it("keeps the order of each alphabet, which is part of a deployment's identity", () => {
    expect(make("base62", 7).characters).toBe(
      "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    )
    expect(make("base64url", 7).characters).toBe(
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    )
    expect(make("base36", 7).characters).toBe("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
  })

  it("counts its keys exactly, above 2^53 too", () => {
    expect(make("base62", 7).size).toBe(3_521_614_606_208n)
    expect(make("base36", 6).size).toBe(2_176_782_336n)
    expect(make("base64url", 12).size).toBe(2n ** 72n)
  })

  it("opens the same alphabet at another length", () => {
    expect(withLength(make("base36", 7), 8)).toEqual(make("base36", 8))
  })

  it.each([lengthMin - 1, lengthMax + 1, 6.5, NaN, Infinity])("has no length %d", (length) => {
    expect(() => make("base62", length)).toThrow(RangeError)
    expect(() => withLength(make("base62", 7), length)).toThrow(RangeError)
  })
})

describe("isKey", () => {
  const spaces = fc
    .tuple(fc.constantFrom(...alphabets), fc.integer({ min: lengthMin, max: lengthMax }))
    .map(([alphabet, length]) => make(alphabet, length))

  it("takes exactly the strings of the space's length over its alphabet", () => {
    const cases = spaces.chain((space) =>
      fc.record({
        space: fc.constant(space),
        candidate: fc.oneof(
          fc.string({
            unit: fc.constantFrom(...space.characters),
            minLength: lengthMin - 1,
            maxLength: lengthMax + 1
          }),
          fc.string({ unit: "grapheme", minLength: space.length, maxLength: space.length })
        )
      })
    )
    fc.assert(
      fc.property(cases, ({ space, candidate }) => {
        const characters = candidate.split("")
        const expected =
          characters.length === space.length && characters.every((c) => space.characters.includes(c))
        expect(isKey(space, candidate)).toBe(expected)
      })
    )
  })

  it("refuses a key in which one character, wherever it stands, is exchanged for one of another set", () => {
    for (const alphabet of alphabets) {
      const space = make(alphabet, 6)
      for (let code = 0; code <= 0x17f; code++) {
        const character = String.fromCharCode(code)
        for (let position = 0; position < 6; position++) {
          const candidate = "A".repeat(position) + character + "A".repeat(5 - position)
          expect(isKey(space, candidate)).toBe(space.characters.includes(character))
        }
      }
    }
  })

  it("tells upper from lower case in base36", () => {
    expect(isKey(make("base36", 6), "ABC123")).toBe(true)
    expect(isKey(make("base36", 6), "abc123")).toBe(false)
  })
})
