import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { brotliCompressSync, gzipSync } from "node:zlib"
import { defineConfig, type Plugin } from "vite"

const folder = join(import.meta.dirname, "../../../dist/src/http/web")

/** Where the page is built. A service that starts meanwhile finds the page of before. */
const outDir = `${folder}.new`

/** Puts a compressed copy beside each file that gets smaller by it, so that the service compresses nothing. */
const compress = () => {
  const assets = join(outDir, "assets")
  for (const name of readdirSync(assets)) {
    const bytes = readFileSync(join(assets, name))
    if (bytes.length < 512 || name.endsWith(".woff2")) continue
    writeFileSync(join(assets, `${name}.br`), brotliCompressSync(bytes))
    writeFileSync(join(assets, `${name}.gz`), gzipSync(bytes, { level: 9 }))
  }
}

const putInPlace = () => {
  const old = `${folder}.old`
  rmSync(old, { recursive: true, force: true })
  if (existsSync(folder)) renameSync(folder, old)
  renameSync(outDir, folder)
  rmSync(old, { recursive: true, force: true })
}

const finished: Plugin = {
  name: "finished",
  closeBundle: () => {
    compress()
    putInPlace()
  }
}

export default defineConfig({
  root: import.meta.dirname,
  plugins: [finished],
  build: {
    outDir,
    emptyOutDir: true,
    target: "es2022",
    // What is written into the HTML or the styles, the page's policy would forbid.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false
  }
})
