import {
  acrossOf,
  logoPlaceOf,
  pathOf,
  type Shape,
  svgOf,
  type QrSymbol,
  symbolOf
} from "../../../qr/QrDrawing.ts"

/** Pixels of a picture that is saved, at least. */
const savedSize = 1_024

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

/** A text's symbol, with room for the logo where the design has one. It is drawn here, so that links without an owner have theirs, too. */
export const designedSymbol = (text: string, { logo }: Design): QrSymbol => symbolOf(text, logo !== undefined)

/** Where a picture fits into the place of a logo: whole, and in the middle. */
const fitted = ({ at, width: place }: ReturnType<typeof logoPlaceOf>, { bitmap }: Logo) => {
  const scale = place / Math.max(bitmap.width, bitmap.height)
  const [width, height] = [bitmap.width * scale, bitmap.height * scale]
  const middle = at + place / 2
  return { x: middle - width / 2, y: middle - height / 2, width, height }
}

/** Draws a symbol on a canvas, as large as it is saved. */
export const paint = (canvas: HTMLCanvasElement, symbol: QrSymbol, design: Design): void => {
  const across = acrossOf(symbol)
  // Whole pixels a module, so that edges are sharp.
  const scale = Math.ceil(savedSize / across)
  canvas.width = canvas.height = across * scale
  const context = canvas.getContext("2d")!
  context.scale(scale, scale)
  context.fillStyle = design.background
  context.fillRect(0, 0, across, across)
  context.fillStyle = design.colour
  // oxlint-disable-next-line unicorn/no-array-fill-with-reference-type -- It is a canvas, and no array.
  context.fill(new Path2D(pathOf(symbol, design.shape)))
  if (!design.logo) return
  const { height, width, x, y } = fitted(logoPlaceOf(symbol), design.logo)
  context.drawImage(design.logo.bitmap, x, y, width, height)
}

/** A symbol as SVG. */
export const savedSvgOf = (symbol: QrSymbol, { logo, ...design }: Design): string =>
  svgOf(symbol, { ...design, logo: logo?.url, pixels: savedSize })

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
