// Puts the program and its administration into one file each, beside what the compiler left, unless they are newer than all that they
// are made of: to load some 1,200 modules takes Node longer than all else that a start does. Types were checked by the compiler.

import { build } from "esbuild"
import { statSync } from "node:fs"
import { readFile, rename, writeFile } from "node:fs/promises"
import { dirname, join, relative } from "node:path"

const dist = join(import.meta.dirname, "dist")

/** A module that looks for files beside itself goes on looking there. */
const ownPlaces = {
  name: "own-places",
  setup: ({ onLoad }) =>
    onLoad({ filter: /\.js$/, namespace: "file" }, async ({ path }) => {
      if (!path.startsWith(join(dist, "src"))) return undefined
      const contents = await readFile(path, "utf8")
      const place = JSON.stringify(`./${relative(dist, path)}`)
      return {
        contents: contents.replaceAll("import.meta.url", `new URL(${place}, import.meta.url)`),
        loader: "js",
        resolveDir: dirname(path)
      }
    })
}

const changed = (path) => statSync(join(import.meta.dirname, path), { throwIfNoEntry: false })?.mtimeMs ?? 0

/** The compiler writes its record only when it found something changed; packages come by the lock file. */
const inputs = ["dist/.tsbuildinfo", "package-lock.json", "bundle.mjs"]
if (changed("dist/main.js") > Math.max(...inputs.map(changed))) process.exit()

const { outputFiles } = await build({
  absWorkingDir: dist,
  // The program last, since its date says when all were made.
  entryPoints: { admin: "src/admin/main.js", main: "src/main.js" },
  outdir: ".",
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node20",
  // With native parts, which are no files of JavaScript, and optional ones of packages, which are not installed.
  external: ["libsql", "@node-rs/argon2", "pg-native", "msgpackr-extract"],
  // Packages that are CommonJS ask for Node's own modules by `require`.
  banner: {
    js: 'import { createRequire as requireOf } from "node:module"; const require = requireOf(import.meta.url);'
  },
  sourcemap: true,
  legalComments: "none",
  logLevel: "warning",
  plugins: [ownPlaces],
  write: false
})
// Never half written: programs start while another build goes on.
for (const { contents, path } of outputFiles) {
  const writing = `${path}.${process.pid}`
  await writeFile(writing, contents)
  await rename(writing, path)
}
