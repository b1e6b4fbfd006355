// Builds the page into dist, unless it was built of the same sources already.

import { createHash } from "node:crypto"
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { brotliCompressSync, gzipSync } from "node:zlib"

const sources = import.meta.dirname
const root = join(sources, "../../..")
const folder = join(root, "dist/src/http/web")

/** A build of its own for each process, since several may build at once, and services start meanwhile. */
const building = `${folder}.${process.pid}`

/** Names what the page is built of: its files, those of the service that it may import, and the packages. */
const digest = () => {
  const own = readdirSync(sources, { recursive: true, encoding: "utf8" }).map((name) => join(sources, name))
  const service = readdirSync(join(sources, "..")).map((name) => join(sources, "..", name))
  const files = [...own, ...service, join(root, "package-lock.json"), join(root, "tsconfig.json")]
  const hash = createHash("sha256")
  for (const file of files.filter((file) => /\.\w+$/.test(file)).toSorted()) {
    hash.update(file.slice(root.length)).update(readFileSync(file))
  }
  return hash.digest("hex")
}

/** Puts a compressed copy beside each file that gets smaller by it, so that the service compresses nothing. */
const compress = () => {
  const assets = join(building, "assets")
  for (const name of readdirSync(assets)) {
    const bytes = readFileSync(join(assets, name))
    if (bytes.length < 512 || name.endsWith(".woff2")) continue
    writeFileSync(join(assets, `${name}.br`), brotliCompressSync(bytes))
    writeFileSync(join(assets, `${name}.gz`), gzipSync(bytes, { level: 9 }))
  }
}

/** Writes the styles into the HTML, which saves a round trip before anything is seen. The page's policy allows them by their hash. */
const inlineStyles = () => {
  const file = join(building, "index.html")
  const html = readFileSync(file, "utf8").replace(
    /<link rel="stylesheet"[^>]* href="\/assets\/([^"]+)">/,
    (_, name) => {
      const styles = readFileSync(join(building, "assets", name), "utf8").trim()
      rmSync(join(building, "assets", name))
      return `<style>${styles}</style>`
    }
  )
  if (!html.includes("<style>")) throw new Error("The page has no styles.")
  writeFileSync(file, html)
}

/** The texts of an area in a language. Files of messages have types, and import nothing else.
 * @param {string} language
 * @param {string} area
 * @returns {Promise<Record<string, string>>} */
const textsOf = async (language, area) => {
  const { transformWithEsbuild } = await import("vite")
  const source = readFileSync(join(sources, "messages", language, `${area}.ts`), "utf8")
  const { code } = await transformWithEsbuild(source, `${area}.ts`, { sourcemap: false })
  return (await import(`data:text/javascript,${encodeURIComponent(code)}`)).default
}

/** Writes the HTML in each language, with what is seen before the script has come. The file of a language is loaded together with the script. */
const localise = async () => {
  const html = readFileSync(join(building, "index.html"), "utf8")
  const assets = readdirSync(join(building, "assets"))
  const entries = readdirSync(join(sources, "messages"), { withFileTypes: true })
  for (const { name: language } of entries.filter((entry) => entry.isDirectory())) {
    /** @type {Record<string, Record<string, string>>} */
    const texts = { frame: await textsOf(language, "frame"), shorten: await textsOf(language, "shorten") }
    const file = assets.find((name) => name.startsWith(`${language}-`) && name.endsWith(".js"))
    const preload = file === undefined ? "" : `<link rel="modulepreload" href="/assets/${file}">`
    const localised = html
      .replaceAll(/%(frame|shorten)\.(\w+)%/g, (_, area, name) => texts[area]?.[name] ?? name)
      .replace(/<api>(.*?)<\/api>/, '<a href="/docs">$1</a>')
      .replace('<html lang="en">', `<html lang="${language}">`)
      .replace("</head>", `${preload}</head>`)
    writeFileSync(join(building, language === "en" ? "index.html" : `index.${language}.html`), localised)
  }
}

const putInPlace = () => {
  const old = `${building}.old`
  try {
    if (existsSync(folder)) renameSync(folder, old)
    renameSync(building, folder)
  } catch {
    // Another build was quicker; it is the same.
  }
  for (const rest of [old, building]) rmSync(rest, { recursive: true, force: true })
}

const wanted = digest()
const stamp = join(folder, "digest")
if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== wanted) {
  const { build } = await import("vite")
  await build({
    configFile: false,
    logLevel: "warn",
    root: sources,
    build: {
      outDir: building,
      rollupOptions: {
        // The page, and the stylesheet of the pages that the service renders for visitors.
        input: { index: join(sources, "index.html"), visitor: join(sources, "visitor/visitor.css") }
      },
      emptyOutDir: true,
      target: "es2022",
      // Images and fonts that are written into the HTML or the styles, the page's policy would forbid.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false
    }
  })
  inlineStyles()
  await localise()
  compress()
  writeFileSync(join(building, "digest"), wanted)
  putInPlace()
}
