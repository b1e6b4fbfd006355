import { readFileSync, statSync } from "node:fs"
import { Data } from "effect"
import type { BrandColor } from "./BrandColor.ts"

/** Whose service this is, as the operator has set it. */
export interface BrandSettings {
  readonly name: string
  /** An SVG or PNG file. */
  readonly logoFile: string | undefined
  readonly color: BrandColor | undefined
  /** A line at the end of visitors' pages. */
  readonly footer: string | undefined
  readonly imprintUrl: string | undefined
  readonly privacyUrl: string | undefined
}

/** The service's own. */
export const own: BrandSettings = {
  name: "Linkmint",
  logoFile: undefined,
  color: undefined,
  footer: undefined,
  imprintUrl: undefined,
  privacyUrl: undefined
}

/** Bytes of a logo at most: it is loaded with every page. */
const logoMax_bytes = 65_536

/** The logo cannot be used. */
export class LogoUnusable extends Data.TaggedError("LogoUnusable")<{ readonly fault: string }> {
  override get message() {
    return `BRAND_LOGO_FILE: ${this.fault}`
  }
}

const pngSignature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

/** Reads a logo: its bytes, and `.svg` or `.png` by its content. It is shown as an image, where scripts in it do not run. */
export const readLogo = (file: string): { readonly bytes: Buffer; readonly extension: ".png" | ".svg" } => {
  const fail = (fault: string): never => {
    throw new LogoUnusable({ fault: `${file} ${fault}` })
  }
  let bytes: Buffer
  try {
    const { size } = statSync(file)
    if (size > logoMax_bytes) fail(`has ${size} bytes, and may have ${logoMax_bytes}`)
    bytes = readFileSync(file)
  } catch (error) {
    if (error instanceof LogoUnusable) throw error
    return fail(`cannot be read (${String(error)})`)
  }
  if (bytes.subarray(0, pngSignature.length).equals(pngSignature)) return { bytes, extension: ".png" }
  return /<svg[\s>]/.test(bytes.toString("utf8"))
    ? { bytes, extension: ".svg" }
    : fail("is neither SVG nor PNG")
}
