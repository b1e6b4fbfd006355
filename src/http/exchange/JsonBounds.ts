/** What a JSON text may be before anybody looks inside. */
export interface JsonBounds {
  /** Values at most: texts, numbers, lists, objects and the rest, at all depths together. */
  readonly valuesMax: number
}

/** Lists and objects within each other at most. */
const depthMax = 32

/** Bytes of a text at most, as it is written, so that the longest URL has room even where each character is escaped. */
const textBytesMax = 64 * 1024

/** Characters of a number at most. */
const numberLengthMax = 256

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const openList = 0x5b
const closeList = 0x5d
const openObject = 0x7b
const closeObject = 0x7d

/** Whether a byte can be part of a number: a digit, or one of `+-.Ee`. */
const isOfNumber = (byte: number) =>
  (byte >= 0x30 && byte <= 0x39) ||
  byte === 0x2b ||
  byte === 0x2d ||
  byte === 0x2e ||
  byte === 0x45 ||
  byte === 0x65

/** What a body has too much of. */
type JsonFault =
  | `may have texts of ${string} bytes at most`
  | `may have numbers of ${number} characters at most`
  | `may have ${string} values at most`
  | `may be nested ${number} levels deep at most`

const texts: JsonFault = `may have texts of ${textBytesMax.toLocaleString("en")} bytes at most`

/**
 * Says what is too much about a JSON text, or nothing; whether it is JSON at all is for the parser to say. One pass over the bytes that keeps nothing: parsing, decoding and
 * hashing cost what they find, so that a small body could hold up all other requests, and a deep one exhaust the stack.
 */
export const faultOf = (bytes: Uint8Array, { valuesMax }: JsonBounds): JsonFault | undefined => {
  let depth = 0
  let values = 1
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!
    if (byte === quote) {
      const start = at++
      while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1
      if (at - start > textBytesMax) return texts
    } else if (byte === comma) {
      values++
    } else if (byte === openList || byte === openObject) {
      values++
      if (++depth > depthMax) return `may be nested ${depthMax} levels deep at most`
    } else if (byte === closeList || byte === closeObject) {
      depth--
    } else if (isOfNumber(byte)) {
      const start = at
      while (at + 1 < bytes.length && isOfNumber(bytes[at + 1]!)) at++
      if (at - start >= numberLengthMax) return `may have numbers of ${numberLengthMax} characters at most`
    }
    if (values > valuesMax) return `may have ${valuesMax.toLocaleString("en")} values at most`
  }
  return undefined
}
