import { Context, Effect, Layer } from "effect"
import { PNG } from "pngjs"
import { type BrandSettings, LogoUnusable, readLogo } from "../pages/Brand.ts"

/** Pixels of a logo to each side at most, for PNG: a small file can be a huge picture. */
const pixelsMax = 1_024

/** A picture as colours: red, green, blue and opacity of each pixel, row by row. */
export interface Pixels {
  readonly width: number
  readonly height: number
  readonly data: Uint8Array
}

/** The picture in the middle of a QR code. */
export interface Logo {
  /** Its file as a `data:` URL. */
  readonly url: string
  /** `undefined` where it cannot be drawn into a PNG: it is an SVG, has more than 1,024 pixels to a side, or is broken. */
  readonly pixels: Pixels | undefined
}

/** The width and height of a PNG, which its first chunk has (PNG, third edition, section 11.2.1). */
const isSmall = (png: Buffer): boolean =>
  png.length >= 24 && png.readUInt32BE(16) <= pixelsMax && png.readUInt32BE(20) <= pixelsMax

const pixelsOf = (png: Buffer): Pixels | undefined => {
  if (!isSmall(png)) return undefined
  try {
    const { data, height, width } = PNG.sync.read(png)
    return { data, height, width }
  } catch {
    return undefined
  }
}

/** Reads the logo of a file. Throws {@link LogoUnusable}. */
export const read = (file: string): Logo => {
  const { bytes, extension } = readLogo(file)
  const type = extension === ".svg" ? "image/svg+xml" : "image/png"
  return {
    url: `data:${type};base64,${bytes.toString("base64")}`,
    pixels: extension === ".png" ? pixelsOf(bytes) : undefined
  }
}

/** The logo that the operator has set. By default there is none. */
export class BrandLogo extends Context.Reference<BrandLogo>()("linkmint/BrandLogo", {
  defaultValue: (): Logo | undefined => undefined
}) {}

/** See {@link BrandLogo}. */
export const layer = ({ logoFile }: BrandSettings): Layer.Layer<BrandLogo, LogoUnusable> =>
  Layer.effect(
    BrandLogo,
    Effect.try({
      try: () => (logoFile === undefined ? undefined : read(logoFile)),
      catch: (error) => (error instanceof LogoUnusable ? error : new LogoUnusable({ fault: String(error) }))
    })
  )
