/** A key of 128 bits as four signed numbers of 32 bits: those of bytes 0–3, 4–7, 8–11 and 12–15, each in little-endian order. */
export type Key = readonly [number, number, number, number]

/** Whether the sum of two numbers of 32 bits, `sum` in 32 bits, was longer: 1 or 0. */
const carry = (a: number, b: number, sum: number): number => ((a & b) | ((a | b) & ~sum)) >>> 31

/** The message of 16 bytes: two halves of its first 8 bytes and of its last, the lower ones first, and the length that follows them. */
const message = new Int32Array([0, 0, 0, 0, 0, 16 << 24])

/** The last hash, in halves of 32 bits, signed. */
export const hashed = { high: 0, low: 0 }

/**
 * SipHash-2-4 (Aumasson and Bernstein, 2012) of a message of 16 bytes, in halves of 8 bytes and those in halves of 32 bits. Puts it into {@link hashed}: it is called for each visit,
 * and allocates nothing. HMAC-SHA-256 of the same takes thirty times as long.
 */
export const hash = (
  [k0l, k0h, k1l, k1h]: Key,
  firstLow: number,
  firstHigh: number,
  secondLow: number,
  secondHigh: number
): void => {
  message[0] = firstLow
  message[1] = firstHigh
  message[2] = secondLow
  message[3] = secondHigh
  let v0l = k0l ^ 0x70736575
  let v0h = k0h ^ 0x736f6d65
  let v1l = k1l ^ 0x6e646f6d
  let v1h = k1h ^ 0x646f7261
  let v2l = k0l ^ 0x6e657261
  let v2h = k0h ^ 0x6c796765
  let v3l = k1l ^ 0x79746573
  let v3h = k1h ^ 0x74656462
  for (let round = 0; round < 10; round++) {
    const isOfMessage = round < 6
    const at = round & ~1
    if (isOfMessage && (round & 1) === 0) {
      v3l ^= message[at]!
      v3h ^= message[at + 1]!
    }
    let low = (v0l + v1l) | 0
    v0h = (v0h + v1h + carry(v0l, v1l, low)) | 0
    v0l = low
    low = (v1l << 13) | (v1h >>> 19)
    v1h = ((v1h << 13) | (v1l >>> 19)) ^ v0h
    v1l = low ^ v0l
    low = v0l
    v0l = v0h
    v0h = low
    low = (v2l + v3l) | 0
    v2h = (v2h + v3h + carry(v2l, v3l, low)) | 0
    v2l = low
    low = (v3l << 16) | (v3h >>> 16)
    v3h = ((v3h << 16) | (v3l >>> 16)) ^ v2h
    v3l = low ^ v2l
    low = (v0l + v3l) | 0
    v0h = (v0h + v3h + carry(v0l, v3l, low)) | 0
    v0l = low
    low = (v3l << 21) | (v3h >>> 11)
    v3h = ((v3h << 21) | (v3l >>> 11)) ^ v0h
    v3l = low ^ v0l
    low = (v2l + v1l) | 0
    v2h = (v2h + v1h + carry(v2l, v1l, low)) | 0
    v2l = low
    low = (v1l << 17) | (v1h >>> 15)
    v1h = ((v1h << 17) | (v1l >>> 15)) ^ v2h
    v1l = low ^ v2l
    low = v2l
    v2l = v2h
    v2h = low
    if (isOfMessage && (round & 1) === 1) {
      v0l ^= message[at]!
      v0h ^= message[at + 1]!
    }
    if (round === 5) v2l ^= 0xff
  }
  hashed.high = v0h ^ v1h ^ v2h ^ v3h
  hashed.low = v0l ^ v1l ^ v2l ^ v3l
}
