import { Schema } from "effect"

/**
 * Short keys side by side in one byte array: key i is at `bytes[i * width]`, in ASCII, padded on the right
 * with zero bytes where it is shorter than `width`. A million keys of seven characters take seven megabytes.
 */
export const PackedKeys = Schema.Struct({
  /** Bytes a key: the length of the longest one, at least 1. */
  width: Schema.Int,
  bytes: Schema.Uint8ArrayFromSelf
})
/** See {@link PackedKeys}. */
export type PackedKeys = typeof PackedKeys.Type

/** No keys. */
export const empty: PackedKeys = { width: 1, bytes: new Uint8Array(0) }

/** How many keys there are. */
export const count = (keys: PackedKeys): number => keys.bytes.length / keys.width

/** Reads the key that starts at `offset` of `bytes` and is at most `width` characters long. */
export const readKey = (bytes: Uint8Array, offset: number, width: number): string => {
  let key = ""
  for (let i = offset; i < offset + width; i++) {
    const code = bytes[i]!
    if (code === 0) break
    key += String.fromCharCode(code)
  }
  return key
}

/** Key number `index`. */
export const at = (keys: PackedKeys, index: number): string =>
  readKey(keys.bytes, index * keys.width, keys.width)

/** All keys as strings, in their order. */
export const toStrings = (keys: PackedKeys): Array<string> =>
  Array.from({ length: count(keys) }, (_, index) => at(keys, index))

/** Packs strings of ASCII characters in their order. */
export const fromStrings = (strings: ReadonlyArray<string>): PackedKeys => {
  const width = strings.reduce((widest, key) => Math.max(widest, key.length), 1)
  const bytes = new Uint8Array(width * strings.length)
  strings.forEach((key, index) => {
    for (let i = 0; i < key.length; i++) bytes[index * width + i] = key.charCodeAt(i)
  })
  return { width, bytes }
}

/** Keys `from` up to but not including `to`. Shares the bytes. */
export const slice = (keys: PackedKeys, from: number, to: number): PackedKeys => ({
  width: keys.width,
  bytes: keys.bytes.subarray(from * keys.width, to * keys.width)
})

/** The same keys with `width` bytes each; `width` is at least the present one. */
export const widen = (keys: PackedKeys, width: number): PackedKeys => {
  if (width === keys.width) return keys
  const bytes = new Uint8Array(count(keys) * width)
  for (let i = 0; i < count(keys); i++) {
    bytes.set(keys.bytes.subarray(i * keys.width, (i + 1) * keys.width), i * width)
  }
  return { width, bytes }
}

/** The keys of all parts, in order. */
export const concat = (...parts: ReadonlyArray<PackedKeys>): PackedKeys => {
  const filled = parts.filter((part) => part.bytes.length > 0)
  if (filled.length <= 1) return filled[0] ?? empty
  const width = filled.reduce((widest, part) => Math.max(widest, part.width), 1)
  return { width, bytes: new Uint8Array(Buffer.concat(filled.map((part) => widen(part, width).bytes))) }
}
