import { readdirSync, readFileSync } from "node:fs"
import { extname, join } from "node:path"
import { createHash } from "node:crypto"
import { brotliCompressSync, gzipSync } from "node:zlib"
import { Data, Effect } from "effect"

/** The web page is not where it must be. */
export class WebPageMissing extends Data.TaggedError("WebPageMissing")<{ readonly folder: string }> {
  override get message() {
    return `The web page is not in ${this.folder}. Build it with npm run build.`
  }
}

/** How a file can be sent, the smallest first. */
export const encodings = ["br", "gzip", "identity"] as const
/** See {@link encodings}. */
export type Encoding = (typeof encodings)[number]

/** A file in memory: its bytes as they are, and compressed where that is smaller. */
export interface Asset {
  readonly contentType: string
  /** A strong entity tag of the bytes as they are, without quotes (RFC 9110, section 8.8.3). */
  readonly tag: string
  readonly bodies: Readonly<Partial<Record<Encoding, Uint8Array>>> & { readonly identity: Uint8Array }
}

/** The built page: `page` is the HTML, `files` what it loads, by file name. */
export interface WebAssets {
  readonly page: Asset
  readonly files: ReadonlyMap<string, Asset>
}

const contentTypes: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2"
}

const assetOf = (name: string, bodies: Asset["bodies"]): Asset => ({
  contentType: contentTypes[extname(name)] ?? "application/octet-stream",
  tag: createHash("sha256").update(bodies.identity).digest("base64url").slice(0, 22),
  bodies
})

/** The page says what it needs to know of this service in an attribute, since its policy allows no script within it. */
const pageOf = (html: string, settings: object): Asset => {
  const json = JSON.stringify(settings).replaceAll("&", "&amp;").replaceAll('"', "&quot;")
  const identity = Buffer.from(html.replace("%SETTINGS%", () => json))
  return assetOf("index.html", { identity, br: brotliCompressSync(identity), gzip: gzipSync(identity) })
}

const readFiles = (folder: string): ReadonlyMap<string, Asset> => {
  const names = new Set(readdirSync(folder))
  const bodyOf = (name: string) => (names.has(name) ? readFileSync(join(folder, name)) : undefined)
  const files = [...names].filter((name) => !/\.(br|gz)$/.test(name))
  return new Map(
    files.map((name) => {
      const [br, gzip] = [bodyOf(`${name}.br`), bodyOf(`${name}.gz`)]
      return [name, assetOf(name, { identity: bodyOf(name)!, ...(br && { br }), ...(gzip && { gzip }) })]
    })
  )
}

/** Reads what the build has put into `folder`, and hands `settings` to the page. */
export const read = (folder: string, settings: object): Effect.Effect<WebAssets, WebPageMissing> =>
  Effect.try({
    try: () => ({
      page: pageOf(readFileSync(join(folder, "index.html"), "utf8"), settings),
      files: readFiles(join(folder, "assets"))
    }),
    catch: () => new WebPageMissing({ folder })
  })
