import { FastCheck as fc, Schema } from "effect"
import { describe, expect, it } from "vitest"
import {
  at,
  concat,
  count,
  empty,
  fromStrings,
  PackedKeys,
  readKey,
  slice,
  toStrings,
  widen
} from "../../src/keys/PackedKeys.ts"

const key = fc.string({
  unit: fc.constantFrom(..."0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_"),
  minLength: 1,
  maxLength: 12
})
const keys = fc.array(key, { maxLength: 40 })

describe("packed keys", () => {
  it("stand side by side, padded with zero bytes to the longest", () => {
    const packed = fromStrings(["abc", "z", "09"])
    expect(packed.width).toBe(3)
    expect(Buffer.from(packed.bytes).toString("latin1")).toBe("abcz\0\x0009\0")
  })

  it("give back the strings that were packed, in order", () => {
    fc.assert(
      fc.property(keys, (strings) => {
        const packed = fromStrings(strings)
        expect(toStrings(packed)).toEqual(strings)
        expect(count(packed)).toBe(strings.length)
        expect(strings.map((_, index) => at(packed, index))).toEqual(strings)
      })
    )
  })

  it("are none where nothing was packed", () => {
    expect(fromStrings([])).toEqual(empty)
    expect([count(empty), toStrings(empty)]).toEqual([0, []])
    expect([
      count(slice(empty, 0, 0)),
      count(widen(empty, 7)),
      count(concat()),
      count(concat(empty, empty))
    ]).toEqual([0, 0, 0, 0])
  })

  it("are read up to the first zero byte or the whole width", () => {
    const bytes = new Uint8Array(Buffer.from("xxabc\0\0defg"))
    expect(readKey(bytes, 2, 5)).toBe("abc")
    expect(readKey(bytes, 7, 4)).toBe("defg")
    expect(readKey(bytes, 5, 2)).toBe("")
  })

  it("are cut like an array is", () => {
    fc.assert(
      fc.property(keys, fc.nat(40), fc.nat(40), (strings, a, b) => {
        const [from, to] = [Math.min(a, b, strings.length), Math.min(Math.max(a, b), strings.length)]
        const part = slice(fromStrings(strings), from, to)
        expect(toStrings(part)).toEqual(strings.slice(from, to))
        expect(count(part)).toBe(to - from)
      })
    )
  })

  it("are joined like arrays are, whatever their widths", () => {
    fc.assert(
      fc.property(fc.array(keys, { maxLength: 5 }), (parts) => {
        expect(toStrings(concat(...parts.map(fromStrings)))).toEqual(parts.flat())
      })
    )
  })

  it("stay the same keys when they are widened, and when slices are joined", () => {
    fc.assert(
      fc.property(keys, fc.nat(12), fc.nat(40), (strings, more, middle) => {
        const packed = fromStrings(strings)
        const wide = widen(packed, packed.width + more)
        expect(wide.width).toBe(packed.width + more)
        expect(toStrings(wide)).toEqual(strings)
        const cut = Math.min(middle, strings.length)
        expect(toStrings(concat(slice(wide, 0, cut), slice(packed, cut, strings.length)))).toEqual(strings)
      })
    )
  })

  it("are joined into bytes of their own: what is joined later changes does not show", () => {
    const [a, b] = [fromStrings(["abc"]), fromStrings(["defgh"])]
    const joined = concat(a, b)
    a.bytes.fill(0)
    b.bytes.fill(0)
    expect(toStrings(joined)).toEqual(["abc", "defgh"])
  })

  it("pass through their schema, which asks for whole numbers and bytes", () => {
    const packed = fromStrings(["abc", "defg"])
    expect(Schema.decodeUnknownSync(PackedKeys)(packed)).toEqual(packed)
    expect(() => Schema.decodeUnknownSync(PackedKeys)({ width: 1.5, bytes: packed.bytes })).toThrow()
    expect(() => Schema.decodeUnknownSync(PackedKeys)({ width: 4, bytes: [1, 2] })).toThrow()
  })
})
