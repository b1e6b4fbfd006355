import { FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"
import * as Ff1 from "../../src/keys/Ff1.ts"
import { noble, numberOf, numeralsOf } from "../support/KeyOracle.ts"

const hex = (digits: string) => Uint8Array.from(Buffer.from(digits, "hex"))
const digits36 = "0123456789abcdefghijklmnopqrstuvwxyz"

const key128 = hex("2B7E151628AED2A6ABF7158809CF4F3C")
const key192 = hex("2B7E151628AED2A6ABF7158809CF4F3CEF4359D8D580AA4F")
const key256 = hex("2B7E151628AED2A6ABF7158809CF4F3CEF4359D8D580AA4F7F036D6F04FC6A94")
const none = hex("")
const tweak10 = hex("39383736353433323130")
const tweak36 = hex("3737373770717273373737")

/** The numbers through a batch of their own, as one call. */
const through = (
  ff1: Ff1.Ff1,
  direction: "encrypt" | "decrypt",
  numbers: ReadonlyArray<bigint>
): Array<bigint> => {
  const m = BigInt(ff1.rightModulus)
  const left = Float64Array.from(numbers, (number) => Number(number / m))
  const right = Float64Array.from(numbers, (number) => Number(number % m))
  ff1[direction](left, right, numbers.length)
  return Array.from(left, (half, k) => BigInt(half) * m + BigInt(right[k]!))
}

describe("NIST's FF1 sample vectors", () => {
  it.each([
    { sample: 1, radix: 10, key: key128, tweak: none, plain: "0123456789", cipher: "2433477484" },
    { sample: 2, radix: 10, key: key128, tweak: tweak10, plain: "0123456789", cipher: "6124200773" },
    {
      sample: 3,
      radix: 36,
      key: key128,
      tweak: tweak36,
      plain: "0123456789abcdefghi",
      cipher: "a9tv40mll9kdu509eum"
    },
    { sample: 4, radix: 10, key: key192, tweak: none, plain: "0123456789", cipher: "2830668132" },
    { sample: 5, radix: 10, key: key192, tweak: tweak10, plain: "0123456789", cipher: "2496655549" },
    {
      sample: 6,
      radix: 36,
      key: key192,
      tweak: tweak36,
      plain: "0123456789abcdefghi",
      cipher: "xbj3kv35jrawxv32ysr"
    },
    { sample: 7, radix: 10, key: key256, tweak: none, plain: "0123456789", cipher: "6657667009" },
    { sample: 8, radix: 10, key: key256, tweak: tweak10, plain: "0123456789", cipher: "1001623463" },
    {
      sample: 9,
      radix: 36,
      key: key256,
      tweak: tweak36,
      plain: "0123456789abcdefghi",
      cipher: "xs8a0azh2avyalyzuwd"
    }
  ])("sample $sample holds both ways, here and in the oracle", ({ radix, key, tweak, plain, cipher }) => {
    const length = plain.length
    const ff1 = Ff1.make({ radix, length, key, tweak, batchMax: 1 })
    const parse = (text: string) =>
      numberOf(
        radix,
        Array.from(text, (digit) => digits36.indexOf(digit))
      )
    const print = (numbers: Array<bigint>) =>
      numeralsOf(radix, length, numbers[0]!)
        .map((numeral) => digits36[numeral])
        .join("")
    expect(print(through(ff1, "encrypt", [parse(plain)]))).toBe(cipher)
    expect(print(through(ff1, "decrypt", [parse(cipher)]))).toBe(plain)
    expect(print([noble(radix, length, key, tweak).encrypt(parse(plain))])).toBe(cipher)
  })
})

const bytes = (minLength: number, maxLength: number) => fc.uint8Array({ minLength, maxLength })
const keys = fc.oneof(bytes(16, 16), bytes(24, 24), bytes(32, 32))

/** Any radix and length that FF1 is built for here (the oracle stops short of radix 2^16). */
const shapes = fc
  .oneof(fc.integer({ min: 2, max: 70 }), fc.integer({ min: 71, max: 65_535 }))
  .chain((radix) => {
    const halfMax = Math.floor(52 / Math.log2(radix))
    const lengthMin = Math.max(2, Math.ceil(Math.log(Ff1.domainMin) / Math.log(radix)))
    return fc.record({ radix: fc.constant(radix), length: fc.integer({ min: lengthMin, max: 2 * halfMax }) })
  })

const agrees = (radix: number, length: number, key: Uint8Array, tweak: Uint8Array, seeds: Array<bigint>) => {
  const size = BigInt(radix) ** BigInt(length)
  const numbers = [0n, size - 1n, ...seeds.map((seed) => seed % size)]
  const ff1 = Ff1.make({ radix, length, key, tweak, batchMax: numbers.length })
  const oracle = noble(radix, length, key, tweak)
  const encrypted = through(ff1, "encrypt", numbers)
  expect(encrypted).toEqual(numbers.map(oracle.encrypt))
  expect(through(ff1, "decrypt", encrypted)).toEqual(numbers)
  expect(through(ff1, "decrypt", numbers)).toEqual(numbers.map(oracle.decrypt))
}

const seeds = fc.array(fc.bigInt({ min: 0n, max: 2n ** 104n - 1n }), { minLength: 1, maxLength: 12 })

describe("FF1", () => {
  it("agrees with the oracle for any radix, length, key size and tweak it takes", () => {
    fc.assert(
      fc.property(shapes, keys, bytes(0, 40), seeds, ({ radix, length }, key, tweak, seeds) =>
        agrees(radix, length, key, tweak, seeds)
      ),
      { numRuns: 300 }
    )
  })

  // 2^36 is the last half modulus reduced in doubles, 2^37 the first in BigInt, 2^52 the last of all.
  it.each([
    [2, 71],
    [2, 72],
    [64, 12],
    [2, 73],
    [2, 74],
    [2, 103],
    [2, 104],
    [8192, 8],
    [3, 45],
    [16, 8],
    [256, 8]
  ])("agrees with the oracle where the arithmetic changes: radix %d, length %d", (radix, length) => {
    fc.assert(
      fc.property(keys, bytes(0, 17), seeds, (key, tweak, seeds) => agrees(radix, length, key, tweak, seeds)),
      { numRuns: 12 }
    )
  })

  it.each([
    [10, 5],
    [22, 3],
    [2, 14],
    [101, 2]
  ])("permutes all of radix %d, length %d: every string once, and back again", (radix, length) => {
    const size = radix ** length
    const ff1 = Ff1.make({ radix, length, key: key128, batchMax: size })
    const left = Float64Array.from({ length: size }, (_, k) => Math.floor(k / ff1.rightModulus))
    const right = Float64Array.from({ length: size }, (_, k) => k % ff1.rightModulus)
    ff1.encrypt(left, right, size)
    expect(left.every((half) => half >= 0 && half < ff1.leftModulus)).toBe(true)
    expect(right.every((half) => half >= 0 && half < ff1.rightModulus)).toBe(true)
    const whole = () => left.map((half, k) => half * ff1.rightModulus + right[k]!)
    expect(new Set(whole()).size).toBe(size)
    ff1.decrypt(left, right, size)
    expect(whole().every((number, k) => number === k)).toBe(true)
  })

  it("leaves what lies beyond the batch alone", () => {
    const ff1 = Ff1.make({ radix: 10, length: 10, key: key128, batchMax: 8 })
    const left = new Float64Array(4).fill(12_345)
    const right = new Float64Array(4).fill(67_890)
    ff1.encrypt(left, right, 2)
    expect(left[0]).not.toBe(12_345)
    expect(left[1]).toBe(left[0])
    expect(Array.from(left.subarray(2))).toEqual([12_345, 12_345])
    expect(Array.from(right.subarray(2))).toEqual([67_890, 67_890])
  })

  it("takes an empty batch", () => {
    const ff1 = Ff1.make({ radix: 10, length: 10, key: key128, batchMax: 8 })
    expect(() => ff1.encrypt(new Float64Array(), new Float64Array(), 0)).not.toThrow()
  })

  const valid: Ff1.Ff1Options = { radix: 10, length: 10, key: key128, batchMax: 8 }

  it.each<[string, Partial<Ff1.Ff1Options>]>([
    ["a radix below 2", { radix: 1 }],
    ["a radix above 2^16", { radix: 65_537 }],
    ["a radix that is no integer", { radix: 10.5 }],
    ["a length below 2", { length: 1, radix: 200 }],
    ["halves above 2^52, radix 10", { length: 31 }],
    ["halves above 2^52, radix 2", { radix: 2, length: 105 }],
    ["a length that no half could hold", { length: 1e9 }],
    ["fewer than 100 strings", { radix: 3, length: 4 }],
    ["a key of 15 bytes", { key: new Uint8Array(15) }],
    ["an overlong tweak", { tweak: new Uint8Array(Ff1.tweakBytesMax + 1) }],
    ["batches of none", { batchMax: 0 }],
    ["batches above 2^20", { batchMax: 2 ** 20 + 1 }]
  ])("refuses %s", (_, fault) => {
    expect(() => Ff1.make(valid)).not.toThrow()
    expect(() => Ff1.make({ ...valid, ...fault })).toThrow(RangeError)
  })

  it.each([9, -1, 1.5, NaN, 5])("refuses a batch of %d strings in arrays of 4 and 9", (count) => {
    const ff1 = Ff1.make(valid)
    expect(() => ff1.encrypt(new Float64Array(4), new Float64Array(9), count)).toThrow(RangeError)
    expect(() => ff1.decrypt(new Float64Array(9), new Float64Array(4), count)).toThrow(RangeError)
  })
})
