// How QR codes look, for the service and for its page: the latter draws links without an owner, too. Lengths are in modules unless something else is said.

import QRCode from "qrcode"

/** Light modules around the symbol (ISO/IEC 18004, section 6.3.8). */
export const quietZone = 4

/** How wide a logo may be, in parts of the symbol: a symbol of level H can be read with 30 % of it spoilt, and this is 5 %. */
const logoShare = 0.22

/** What modules look like. */
export const shapes = ["square", "round", "dot"] as const
/** See {@link shapes}. */
export type Shape = (typeof shapes)[number]

/** A module of a symbol. The patterns by which readers find a symbol and its modules are square in every shape. */
export const light = 0
/** See {@link light}. */
export const pattern = 1
/** See {@link light}. */
export const shaped = 2

/** A text's symbol. */
export interface QrSymbol {
  /** Modules to each side. */
  readonly size: number
  /** What each module is, row by row. */
  readonly modules: Uint8Array
  /** Where a logo has room: a square in the middle. */
  readonly room: { readonly at: number; readonly width: number }
}

/** The symbol of a text; with a logo one that can be read with 30 % of it spoilt (level H), and light where the logo comes, otherwise with 15 % of it (level M). */
export const symbolOf = (text: string, hasLogo: boolean): QrSymbol => {
  const { data, reservedBit, size } = QRCode.create(text, {
    errorCorrectionLevel: hasLogo ? "H" : "M"
  }).modules
  // Whole modules, and as many to each side.
  const width = 2 * Math.floor((size * logoShare) / 2) + 1
  const at = (size - width) / 2
  const isInRoom = (place: number) => place >= at && place < at + width
  const modules = Uint8Array.from(data, (dark, index) => {
    if (dark === 0 || (hasLogo && isInRoom(index % size) && isInRoom(Math.floor(index / size)))) return light
    return reservedBit[index] === 1 ? pattern : shaped
  })
  return { size, modules, room: { at, width } }
}

/** Modules to each side of a symbol's picture. */
export const acrossOf = ({ size }: QrSymbol): number => size + 2 * quietZone

/** A module that is no square, as a path from its upper left corner on. */
const outlines = {
  round: "m.3 0h.4a.3 .3 0 0 1 .3 .3v.4a.3 .3 0 0 1-.3 .3h-.4a.3 .3 0 0 1-.3-.3v-.4a.3 .3 0 0 1 .3-.3z",
  dot: "m.04 .5a.46 .46 0 1 0 .92 0a.46 .46 0 1 0-.92 0z"
} as const

/** Whether a point of a module, from 0 to 1 in each direction, is dark; see {@link outlines}. */
export const isDarkAt = (shape: Shape, x: number, y: number): boolean => {
  if (shape === "square") return true
  // Of a rounded square, only the corners are round.
  const [reach, radius] = shape === "round" ? [0.2, 0.3] : [0, 0.46]
  const [across, down] = [Math.max(0, Math.abs(x - 0.5) - reach), Math.max(0, Math.abs(y - 0.5) - reach)]
  return across * across + down * down <= radius * radius
}

/** The dark modules of a symbol as a path, squares that are side by side together. */
export const pathOf = ({ modules, size }: QrSymbol, shape: Shape): string => {
  let path = ""
  for (let index = 0; index < modules.length; index++) {
    const isSquare = (place: number) =>
      modules[place] === pattern || (shape === "square" && modules[place] === shaped)
    if (modules[index] === light) continue
    const [x, y] = [index % size, Math.floor(index / size)]
    path += `M${x + quietZone} ${y + quietZone}`
    if (shape !== "square" && !isSquare(index)) {
      path += outlines[shape]
      continue
    }
    const rowEnd = (y + 1) * size
    let end = index + 1
    while (end < rowEnd && isSquare(end)) end++
    path += `h${end - index}v1h-${end - index}z`
    index = end - 1
  }
  return path
}

/** The square in which a logo is drawn, whole and in the middle, with a little air, in the symbol's picture. */
export const logoPlaceOf = ({ room }: QrSymbol): { readonly at: number; readonly width: number } => ({
  at: room.at + quietZone + 0.3,
  width: room.width - 0.6
})

/** How a symbol is drawn as SVG. */
export interface SvgDesign {
  /** Of the modules, and what is behind them: `#rrggbb`. */
  readonly colour: string
  readonly background: string
  readonly shape: Shape
  /** The `data:` URL of a picture. */
  readonly logo?: string | undefined
  /** Pixels to each side. */
  readonly pixels: number
}

/** A symbol as SVG. A script in a logo does not run: it is shown as an image. */
export const svgOf = (symbol: QrSymbol, { background, colour, logo, pixels, shape }: SvgDesign): string => {
  const across = acrossOf(symbol)
  const { at, width } = logoPlaceOf(symbol)
  const picture =
    logo === undefined ? "" : `<image href="${logo}" x="${at}" y="${at}" width="${width}" height="${width}"/>`
  const edges = shape === "square" ? ' shape-rendering="crispEdges"' : ""
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${across} ${across}" width="${pixels}" height="${pixels}"><path fill="${background}" d="M0 0h${across}v${across}H0z"/><path fill="${colour}"${edges} d="${pathOf(symbol, shape)}"/>${picture}</svg>`
}
