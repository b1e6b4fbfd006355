import { promisify } from "node:util"
import { deflate } from "node:zlib"
import { Effect } from "effect"
import {
  acrossOf,
  isDarkAt,
  light,
  logoPlaceOf,
  type QrSymbol,
  quietZone,
  type Shape,
  shaped,
  svgOf,
  symbolOf
} from "./QrDrawing.ts"
import type { Logo, Pixels } from "./QrLogo.ts"

/** Pixels that an image may have to each side. */
export const sizeMin = 64
/** See {@link sizeMin}. */
export const sizeMax = 2_048

/** What a code is drawn in: six hexadecimal digits each, of red, green and blue. */
export interface Colours {
  readonly dark: string
  readonly light: string
}

/** What every reader reads. */
export const blackOnWhite: Colours = { dark: "000000", light: "ffffff" }

/** How a code is drawn. */
export interface Design {
  /** Pixels to each side. */
  readonly size: number
  readonly colours: Colours
  readonly shape: Shape
  readonly logo: Logo | undefined
}

/** A QR code of a text as SVG. */
export const svg = (text: string, { colours, logo, shape, size }: Design): Effect.Effect<Uint8Array> =>
  Effect.sync(() =>
    Buffer.from(
      svgOf(symbolOf(text, logo !== undefined), {
        colour: `#${colours.dark}`,
        background: `#${colours.light}`,
        shape,
        logo: logo?.url,
        pixels: size
      })
    )
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

/** The kinds of pixels that a PNG can have (PNG, third edition, section 11.2.1): of a palette by one bit, or red, green and blue by a byte each. */
const kinds = { palette: { depth: 1, type: 3 }, colours: { depth: 8, type: 2 } } as const

const headerOf = (size: number, { depth, type }: (typeof kinds)[keyof typeof kinds]): Uint8Array => {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(size, 0)
  header.writeUInt32BE(size, 4)
  header[8] = depth
  header[9] = type
  return header
}

/** The pixels of a code, before they are compressed: rows, each behind a byte that says that it is not filtered. */
interface Raster {
  readonly symbol: QrSymbol
  /** Pixels to each side. */
  readonly pixels: number
  /** Pixels of a module to each side. */
  readonly scale: number
  /** Pixels before the first module. */
  readonly from: number
}

/** All modules of one size, in the middle of at least `size` pixels: more where a module would be less than a pixel. */
const rasterOf = (symbol: QrSymbol, size: number): Raster => {
  const pixels = Math.max(size, acrossOf(symbol))
  const scale = Math.floor(pixels / acrossOf(symbol))
  return { symbol, pixels, scale, from: Math.floor((pixels - symbol.size * scale) / 2) }
}

/** The rows of squares in two colours, by a bit a pixel: dark (0) or light (1). */
const squareRows = ({ from, pixels, scale, symbol: { modules, size } }: Raster): Buffer => {
  const stride = 1 + Math.ceil(pixels / 8)
  const rows = Buffer.alloc(stride * pixels, 0xff)
  for (let row = 0; row < pixels; row++) rows[row * stride] = 0
  for (let y = 0; y < size; y++) {
    const first = (from + y * scale) * stride
    for (let x = 0; x < size * scale; x++) {
      if (modules[y * size + Math.floor(x / scale)] === light) continue
      const pixel = from + x
      rows[first + 1 + (pixel >> 3)]! &= ~(0x80 >> (pixel & 7))
    }
    for (let copy = 1; copy < scale; copy++) {
      rows.copyWithin(first + copy * stride, first, first + stride)
    }
  }
  return rows
}

/** Points of a pixel to each side by which is told how much of it is dark. */
const points = 4

/** How much of a pixel of a module is dark, from 0 to 1. */
const shareOf = (shape: Shape, x: number, y: number, scale: number): number => {
  let dark = 0
  for (let point = 0; point < points * points; point++) {
    const across = (x + ((point % points) + 0.5) / points) / scale
    const down = (y + (Math.floor(point / points) + 0.5) / points) / scale
    if (isDarkAt(shape, across, down)) dark++
  }
  return dark / (points * points)
}

const mixed = (dark: number, light: number, share: number) => Math.round(light + (dark - light) * share)

/** Rows of a logo that are drawn before others have their turn: some milliseconds. Of modules it is one row of each. */
const rowsAtOnce = 32

/** The rows of any shapes, by three bytes a pixel. A row of modules is put together from the modules' own rows. */
const shapedRows = Effect.fnUntraced(function* (
  { from, pixels, scale, symbol: { modules, size } }: Raster,
  shape: Shape,
  colours: Colours
) {
  const [dark, background] = [Buffer.from(colours.dark, "hex"), Buffer.from(colours.light, "hex")]
  const stride = 1 + 3 * pixels
  const rows = Buffer.alloc(stride * pixels)
  rows.fill(background, 1, stride)
  for (let row = 1; row < pixels; row++) rows.copyWithin(row * stride, 0, stride)
  const partOf = (kind: Shape, y: number) =>
    Buffer.from(
      Array.from({ length: 3 * scale }, (_, index) => {
        const channel = index % 3
        const share = shareOf(kind, Math.floor(index / 3), y, scale)
        return mixed(dark[channel]!, background[channel]!, share)
      })
    )
  for (let part = 0; part < scale; part++) {
    yield* Effect.yieldNow()
    const [square, other] = [partOf("square", part), partOf(shape, part)]
    for (let index = 0; index < modules.length; index++) {
      const module = modules[index]!
      if (module === light) continue
      const [x, y] = [index % size, Math.floor(index / size)]
      rows.set(
        module === shaped ? other : square,
        (from + y * scale + part) * stride + 1 + 3 * (from + x * scale)
      )
    }
  }
  return rows
})

/** Draws a logo over rows of {@link shapedRows}: each pixel is the mean of those of the logo that fall on it. */
const drawLogo = Effect.fnUntraced(function* (
  rows: Buffer,
  { from, pixels, scale, symbol }: Raster,
  logo: Pixels
) {
  const place = logoPlaceOf(symbol)
  const stride = 1 + 3 * pixels
  const side = place.width * scale
  const ratio = Math.max(logo.width, logo.height) / side
  const [width, height] = [
    Math.max(1, Math.floor(logo.width / ratio)),
    Math.max(1, Math.floor(logo.height / ratio))
  ]
  const middle = from + (place.at - quietZone + place.width / 2) * scale
  const [left, top] = [Math.round(middle - width / 2), Math.round(middle - height / 2)]
  const rangeOf = (at: number, length: number, all: number) => {
    const first = Math.floor((at * all) / length)
    return [first, Math.max(first + 1, Math.floor(((at + 1) * all) / length))] as const
  }
  for (let y = 0; y < height; y++) {
    if (y % rowsAtOnce === 0) yield* Effect.yieldNow()
    const [firstY, endY] = rangeOf(y, height, logo.height)
    for (let x = 0; x < width; x++) {
      const [firstX, endX] = rangeOf(x, width, logo.width)
      let [red, green, blue, opacity] = [0, 0, 0, 0]
      for (let atY = firstY; atY < endY; atY++) {
        for (let atX = firstX; atX < endX; atX++) {
          const source = 4 * (atY * logo.width + atX)
          const weight = logo.data[source + 3]!
          red += weight * logo.data[source]!
          green += weight * logo.data[source + 1]!
          blue += weight * logo.data[source + 2]!
          opacity += weight
        }
      }
      if (opacity === 0) continue
      const share = opacity / (255 * (endX - firstX) * (endY - firstY))
      const pixel = (top + y) * stride + 1 + 3 * (left + x)
      for (const [channel, sum] of [red, green, blue].entries()) {
        rows[pixel + channel] = mixed(sum / opacity, rows[pixel + channel]!, share)
      }
    }
  }
})

const compress = promisify<Uint8Array, Buffer>(deflate)

/**
 * A QR code of a text as PNG: all modules of one size, and the image larger than asked where one would be less than a pixel. A logo without pixels is left out.
 *
 * Not by `qrcode`, which takes some 200 ms of one core for 2,048 pixels, during which nothing else is answered; this takes a few.
 */
export const png = (text: string, { colours, logo, shape, size }: Design): Effect.Effect<Uint8Array> =>
  Effect.gen(function* () {
    const raster = rasterOf(symbolOf(text, logo !== undefined), size)
    const isPlain = shape === "square" && logo === undefined
    const rows = isPlain ? squareRows(raster) : yield* shapedRows(raster, shape, colours)
    if (logo?.pixels !== undefined) yield* drawLogo(rows, raster, logo.pixels)
    const kind = isPlain ? kinds.palette : kinds.colours
    const data = yield* Effect.promise(() => compress(rows))
    return Buffer.concat([
      signature,
      chunk("IHDR", headerOf(raster.pixels, kind)),
      ...(isPlain ? [chunk("PLTE", Buffer.from(colours.dark + colours.light, "hex"))] : []),
      chunk("IDAT", data),
      chunk("IEND", new Uint8Array())
    ])
  })
