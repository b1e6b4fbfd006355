import QRCode from "qrcode"

/** Light modules around the symbol (ISO/IEC 18004, section 6.3.8). */
const quietZone = 4

/** Pixels of a picture that is saved, at least. */
const savedSize = 1_024

/** How wide a logo may be, in parts of the symbol: a symbol of level H can be read with 30 % of it spoilt, and this is 5 %. */
const logoShare = 0.22

/** What modules look like. */
export const shapes = { square: "Squares", round: "Rounded squares", dot: "Dots" } as const
/** See {@link shapes}. */
export type Shape = keyof typeof shapes

/** A picture in the middle of a symbol: to draw, and as a `data:` URL to write into an SVG. */
export interface Logo {
  readonly bitmap: ImageBitmap
  readonly url: string
}

/** How a symbol is drawn. Colours are written as #rrggbb. */
export interface Design {
  readonly colour: string
  readonly background: string
  readonly shape: Shape
  readonly logo?: Logo | undefined
}

/** Black squares on white, which every reader reads. */
export const plain: Design = { colour: "#000000", background: "#ffffff", shape: "square" }

/** A symbol that is ready to be drawn: lengths are in modules. */
interface Drawing {
  readonly width: number
  /** Its dark modules. */
  readonly path: string
  /** Where a logo has room, a square of so many modules. */
  readonly room: { readonly at: number; readonly width: number }
}

/** A module as a path, at a place. */
const modules: Readonly<Record<Shape, string>> = {
  square: "h1v1h-1z",
  round: "m.3 0h.4a.3 .3 0 0 1 .3 .3v.4a.3 .3 0 0 1-.3 .3h-.4a.3 .3 0 0 1-.3-.3v-.4a.3 .3 0 0 1 .3-.3z",
  dot: "m.04 .5a.46 .46 0 1 0 .92 0a.46 .46 0 1 0-.92 0z"
}

/** Draws a text's symbol. It is done here, so that links without an owner have theirs, too. */
export const drawingOf = (text: string, { logo, shape }: Design): Drawing => {
  const symbol = QRCode.create(text, { errorCorrectionLevel: logo ? "H" : "M" })
  // Of the patterns by which readers find a symbol and its modules, nothing is taken away.
  const { data, reservedBit: isPattern, size } = symbol.modules
  // Whole modules, and as many to each side.
  const logoWidth = 2 * Math.floor((size * logoShare) / 2) + 1
  const room = { at: (size - logoWidth) / 2, width: logoWidth }
  const isInRoom = (at: number) => at >= room.at && at < room.at + room.width
  let path = ""
  data.forEach((dark, index) => {
    const [x, y] = [index % size, Math.floor(index / size)]
    if (!dark || (logo && isInRoom(x) && isInRoom(y))) return
    path += `M${x + quietZone} ${y + quietZone}${modules[isPattern[index] ? "square" : shape]}`
  })
  return { path, width: size + 2 * quietZone, room: { ...room, at: room.at + quietZone } }
}

/** Where a picture fits into a drawing's room: whole, in the middle, with a little air. */
const placeOf = ({ room }: Drawing, { bitmap }: Logo) => {
  const scale = (room.width - 0.6) / Math.max(bitmap.width, bitmap.height)
  const [width, height] = [bitmap.width * scale, bitmap.height * scale]
  const middle = room.at + room.width / 2
  return { x: middle - width / 2, y: middle - height / 2, width, height }
}

/** Draws a symbol on a canvas, as large as it is saved. */
export const paint = (canvas: HTMLCanvasElement, drawing: Drawing, design: Design): void => {
  // Whole pixels a module, so that edges are sharp.
  const scale = Math.ceil(savedSize / drawing.width)
  canvas.width = canvas.height = drawing.width * scale
  const context = canvas.getContext("2d")!
  context.scale(scale, scale)
  context.fillStyle = design.background
  context.fillRect(0, 0, drawing.width, drawing.width)
  context.fillStyle = design.colour
  // oxlint-disable-next-line unicorn/no-array-fill-with-reference-type -- It is a canvas, and no array.
  context.fill(new Path2D(drawing.path))
  if (!design.logo) return
  const { height, width, x, y } = placeOf(drawing, design.logo)
  context.drawImage(design.logo.bitmap, x, y, width, height)
}

/** A symbol as SVG. */
export const svgOf = (drawing: Drawing, { background, colour, logo, shape }: Design): string => {
  const { path, width } = drawing
  const place = logo && placeOf(drawing, logo)
  const picture =
    logo && place
      ? `<image href="${logo.url}" x="${place.x}" y="${place.y}" width="${place.width}" height="${place.height}"/>`
      : ""
  const edges = shape === "square" ? ' shape-rendering="crispEdges"' : ""
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${width}" width="${savedSize}" height="${savedSize}"><path fill="${background}" d="M0 0h${width}v${width}H0z"/><path fill="${colour}"${edges} d="${path}"/>${picture}</svg>`
}

/** Bytes of a logo's file at most. */
const logoMax_bytes = 512 * 1024

/** Reads a picture for the middle of a symbol; `undefined` for what is no picture, or too large. */
export const readLogo = async (file: File): Promise<Logo | undefined> => {
  if (file.size > logoMax_bytes) return undefined
  try {
    const bitmap = await createImageBitmap(file)
    const url = await new Promise<string>((resolve, reject) => {
      const reader = new FileReader()
      reader.addEventListener("load", () => resolve(reader.result as string))
      reader.addEventListener("error", () => reject(reader.error!))
      reader.readAsDataURL(file)
    })
    return { bitmap, url }
  } catch {
    return undefined
  }
}

/** The relative luminance of a colour (WCAG 2.2). */
const luminanceOf = (colour: string): number => {
  const parts = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255)
  const [red, green, blue] = parts.map((part) =>
    part <= 0.040_45 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  ) as [number, number, number]
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/** The contrast below which some readers fail. */
const contrastMin = 3

/** Whether readers can be counted on: dark on light, with enough contrast between them. */
export const isReadable = ({ background, colour }: Design): boolean =>
  (luminanceOf(background) + 0.05) / (luminanceOf(colour) + 0.05) >= contrastMin
