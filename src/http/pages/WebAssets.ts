import { readdirSync, readFileSync } from "node:fs"
import { extname, join } from "node:path"
import { createHash } from "node:crypto"
import { brotliCompressSync, constants, gzipSync } from "node:zlib"
import { Context, Data, Effect, Layer } from "effect"
import { type BrandSettings, LogoUnusable, own, readLogo } from "./Brand.ts"
import * as BrandColor from "./BrandColor.ts"
import { coin } from "./Emblem.ts"
import type { Theme } from "./ThemeCookie.ts"

/** The operator's settings that the page needs. */
export interface WebSettings {
  /** What short URLs begin with after `https://`: the page may have been opened under another name. */
  readonly shortHost: string
  readonly signUp: boolean
  readonly anonymousCreates: boolean
  /** Whether links without an expiry expire by default. */
  readonly defaultExpiry: boolean
}

/** What the page itself shows of the brand. */
interface PageBrand {
  readonly name: string
  /** The address of its logo. */
  readonly logo?: string
}

/** What the page reads in its `meta` element. */
export interface PageSettings extends WebSettings {
  readonly brand: PageBrand
}

/** The built web page is missing. */
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

/** Addresses of what the visitors' pages load. */
export interface VisitorFiles {
  readonly stylesheet: string
  readonly icon: string | undefined
  /** What it has of the brand. */
  readonly brand?: { readonly stylesheet?: string; readonly logo?: string }
}

/** The page's HTML in each theme, so that it has the right colours before its script has come. */
export type Themed = Readonly<Record<Theme, Asset>>

/** The page's HTML by language tags (BCP 47), English first, so that what is seen before its script has come can be read, too. */
export type Localised = ReadonlyMap<string, Themed>

/** The built page: `home` and `inner` are the HTML at `/` and elsewhere, `files` what it loads, by file name. */
export class WebAssets extends Context.Tag("linkmint/WebAssets")<
  WebAssets,
  {
    readonly home: Localised
    readonly inner: Localised
    /** The hashes by which a policy allows the styles in the HTML. */
    readonly styleHashes: ReadonlyArray<string>
    readonly files: ReadonlyMap<string, Asset>
    /** `undefined` if the build made no stylesheet for them. */
    readonly visitorFiles: VisitorFiles | undefined
  }
>() {}

const contentTypes: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2"
}

const assetOf = (name: string, bodies: Asset["bodies"]): Asset => ({
  contentType: contentTypes[extname(name)] ?? "application/octet-stream",
  tag: createHash("sha256").update(bodies.identity).digest("base64url").slice(0, 22),
  bodies
})

const escaped = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;")

/** The HTML is compressed at each start, in every language and theme: a page of 20 kB within 0.7 ms to 5.5 kB, where the best quality takes 27 ms for 5.1 kB. */
const startQuality = { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } }

/** The page with its settings in an attribute, since its policy allows no inline script. */
const themedOf = (html: string, settings: PageSettings): Themed => {
  const whole = html
    .replace("%SETTINGS%", () => escaped(JSON.stringify(settings)))
    .replaceAll("%BRAND%", () => escaped(settings.brand.name))
    .replace("%COIN%", coin)
  const pageOf = (theme: Theme) => {
    const identity = Buffer.from(
      theme === "auto" ? whole : whole.replace("<html ", `<html data-theme="${theme}" `)
    )
    return assetOf("index.html", {
      identity,
      br: brotliCompressSync(identity, startQuality),
      gzip: gzipSync(identity, { level: 9 })
    })
  }
  return { auto: pageOf("auto"), light: pageOf("light"), dark: pageOf("dark") }
}

/** The HTML without a part that stands between `<!--name-->` and `<!--/name-->`. */
const without = (html: string, name: string) => {
  const [from, to] = [html.indexOf(`<!--${name}-->`), html.indexOf(`<!--/${name}-->`)]
  return from === -1 ? html : html.slice(0, from) + html.slice(to)
}

const styleHashesOf = (html: string): ReadonlyArray<string> =>
  [...html.matchAll(/<style>([^]*?)<\/style>/g)].map(
    ([, styles]) => `'sha256-${createHash("sha256").update(styles!).digest("base64")}'`
  )

/** The HTML that the build has made, by languages: English is `index.html`, others are like `index.de.html`. */
const readHtml = (folder: string): ReadonlyMap<string, string> => {
  const pages = readdirSync(folder).flatMap((file) => {
    const [, language] = /^index\.([\w-]+)\.html$/.exec(file) ?? []
    return language === undefined ? [] : [[language, file] as const]
  })
  return new Map(
    [["en", "index.html"] as const, ...pages].map(([language, file]) => [
      language,
      readFileSync(join(folder, file), "utf8")
    ])
  )
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

/** The address of a file whose name the build has made of `name-`, a hash of the content, and the extension. */
const addressOf = (files: ReadonlyMap<string, Asset>, name: string, extension: string) => {
  const file = [...files.keys()].find((file) => file.startsWith(`${name}-`) && extname(file) === extension)
  return file && `/assets/${file}`
}

const visitorFilesOf = (
  files: ReadonlyMap<string, Asset>,
  brand: NonNullable<VisitorFiles["brand"]>
): VisitorFiles | undefined => {
  const stylesheet = addressOf(files, "visitor", ".css")
  return stylesheet === undefined
    ? undefined
    : { stylesheet, icon: brand.logo ?? addressOf(files, "icon", ".svg"), brand }
}

/** The files that the brand adds to those of the build, by their names. */
const brandFiles = ({ color, logoFile }: BrandSettings) => {
  const files = new Map<string, Asset>()
  const add = (identity: Uint8Array, extension: string): string => {
    const asset = assetOf(extension, { identity })
    const name = `brand-${asset.tag}${extension}`
    files.set(name, { ...asset, contentType: contentTypes[extension]! })
    return `/assets/${name}`
  }
  const stylesheet = color && add(Buffer.from(BrandColor.rulesOf(color)), ".css")
  const logo = logoFile === undefined ? undefined : readLogo(logoFile)
  const logoAddress = logo && add(logo.bytes, logo.extension)
  return { files, brand: { ...(stylesheet && { stylesheet }), ...(logoAddress && { logo: logoAddress }) } }
}

/** The HTML with the brand's colours, which are there from the first paint on. */
const coloured = (html: string, { color }: BrandSettings): string =>
  color === undefined
    ? html
    : html.replace("</head>", () => `<style>${BrandColor.rulesOf(color)}</style></head>`)

/** Reads what the build has put into `folder`, and hands `settings` to the page. */
export const read = (
  folder: string,
  settings: WebSettings,
  brandSettings: BrandSettings = own
): Effect.Effect<typeof WebAssets.Service, LogoUnusable | WebPageMissing> =>
  Effect.try({
    try: () => {
      const { brand, files: brandsFiles } = brandFiles(brandSettings)
      const files = new Map([...readFiles(join(folder, "assets")), ...brandsFiles])
      const pages = [...readHtml(folder)].map(
        ([language, html]) => [language, coloured(html, brandSettings)] as const
      )
      const localised = (partOf: (html: string) => string): Localised =>
        new Map(pages.map(([language, html]) => [language, themedOf(partOf(html), page)]))
      const { logo } = brand
      const page = { ...settings, brand: { name: brandSettings.name, ...(logo && { logo }) } }
      return WebAssets.of({
        // Where one must sign in first, there may be no form.
        home: localised((html) => (settings.anonymousCreates ? html : without(html, "form"))),
        inner: localised((html) => without(html, "home")),
        // They are the same in all languages.
        styleHashes: styleHashesOf(pages[0]![1]),
        files,
        visitorFiles: visitorFilesOf(files, brand)
      })
    },
    catch: (error) => (error instanceof LogoUnusable ? error : new WebPageMissing({ folder }))
  })

/** See {@link read}. */
export const layer = (
  folder: string,
  settings: WebSettings,
  brand: BrandSettings = own
): Layer.Layer<WebAssets, LogoUnusable | WebPageMissing> =>
  Layer.effect(WebAssets, read(folder, settings, brand))
