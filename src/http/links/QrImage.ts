import { promisify } from "node:util"
import { deflate } from "node:zlib"
import { Effect } from "effect"
import QRCode from "qrcode"

/** Pixels that an image may have to each side. */
export const sizeMin = 64
/** See {@link sizeMin}. */
export const sizeMax = 2_048

/** Light modules around the symbol (ISO/IEC 18004, section 6.3.8). */
const quietZone = 4

/** A symbol that can be read with 15 % of it spoilt. */
const options = { errorCorrectionLevel: "M", margin: quietZone } as const

/** What a code is drawn in: six hexadecimal digits each, of red, green and blue. */
export interface Colours {
  readonly dark: string
  readonly light: string
}

/** What every reader reads. */
export const blackOnWhite: Colours = { dark: "000000", light: "ffffff" }

/** A QR code of a text as SVG, `size` pixels wide and high. */
export const svg = (
  text: string,
  size: number,
  { dark, light }: Colours = blackOnWhite
): Effect.Effect<Uint8Array> =>
  Effect.map(
    Effect.promise(() =>
      QRCode.toString(text, {
        ...options,
        type: "svg",
        width: size,
        color: { dark: `#${dark}`, light: `#${light}` }
      })
    ),
    (image) => Buffer.from(image)
  )

/** The CRC-32 of a PNG chunk (PNG, third edition, annex D), which Node has from version 20.15 on only. */
const crc32 = (bytes: Uint8Array): number => {
  let crc = 0xffff_ffff
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb8_8320 : 0)
  }
  return (crc ^ 0xffff_ffff) >>> 0
}

const chunk = (type: "IHDR" | "PLTE" | "IDAT" | "IEND", data: Uint8Array): Uint8Array => {
  const bytes = Buffer.alloc(12 + data.length)
  bytes.writeUInt32BE(data.length, 0)
  bytes.write(type, 4, "latin1")
  bytes.set(data, 8)
  bytes.writeUInt32BE(crc32(bytes.subarray(4, -4)), 8 + data.length)
  return bytes
}

const signature = Buffer.from("\x89PNG\r\n\x1a\n", "latin1")

/** One bit a pixel, which chooses one of the two colours of a palette: dark (0) or light (1). */
const headerOf = (size: number): Uint8Array => {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(size, 0)
  header.writeUInt32BE(size, 4)
  header[8] = 1
  header[9] = 3
  return header
}

/** The rows of a symbol's image, each behind a byte that says that it is not filtered. */
const rowsOf = ({ data, size: modules }: QRCode.BitMatrix, size: number, scale: number): Uint8Array => {
  const stride = 1 + Math.ceil(size / 8)
  const rows = Buffer.alloc(stride * size, 0xff)
  for (let row = 0; row < size; row++) rows[row * stride] = 0
  const from = Math.floor((size - modules * scale) / 2)
  for (let y = 0; y < modules; y++) {
    const first = (from + y * scale) * stride
    for (let x = 0; x < modules * scale; x++) {
      if (!data[y * modules + Math.floor(x / scale)]) continue
      const pixel = from + x
      rows[first + 1 + (pixel >> 3)]! &= ~(0x80 >> (pixel & 7))
    }
    for (let copy = 1; copy < scale; copy++) {
      rows.copyWithin(first + copy * stride, first, first + stride)
    }
  }
  return rows
}

const compress = promisify<Uint8Array, Buffer>(deflate)

/**
 * A QR code of a text as PNG, `size` pixels wide and high, or more where a module would be less than a pixel. All modules are of one size.
 *
 * Not by `qrcode`, which takes some 200 ms of one core for 2,048 pixels, during which nothing else is answered; this takes a few.
 */
export const png = (
  text: string,
  size: number,
  { dark, light }: Colours = blackOnWhite
): Effect.Effect<Uint8Array> =>
  Effect.suspend(() => {
    const { modules } = QRCode.create(text, options)
    const across = modules.size + 2 * quietZone
    const pixels = Math.max(size, across)
    const rows = rowsOf(modules, pixels, Math.floor(pixels / across))
    return Effect.map(
      Effect.promise(() => compress(rows)),
      (data) =>
        Buffer.concat([
          signature,
          chunk("IHDR", headerOf(pixels)),
          chunk("PLTE", Buffer.from(dark + light, "hex")),
          chunk("IDAT", data),
          chunk("IEND", new Uint8Array())
        ])
    )
  })
