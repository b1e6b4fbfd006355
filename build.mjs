// Builds the program into `dist`, unless `dist` was built from the same files already, whenever and wherever these were checked out.
// Types are checked apart, by `npm run types` and `npm run check`.

import { spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join, relative } from "node:path"

const root = import.meta.dirname
const stamp = join(root, "dist/digest")

/** What is built, and what it is built with. Tests share helpers with the commands. */
const folders = ["src", "bench", "chaos", "cluster", "fuzz", "screenshots", "test/support", "test/browser"]
const files = [
  "package.json",
  "package-lock.json",
  "tsconfig.json",
  "tsconfig.build.json",
  "build.mjs",
  "bundle.mjs"
]

const filesIn = (folder) =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    : []

/** Differs where any file does, or Node: V8's code cache belongs to a version of it. */
const digest = () => {
  const hash = createHash("sha256").update(`${process.version} ${process.arch}`)
  const all = [
    ...folders.flatMap((folder) => filesIn(join(root, folder))),
    ...files.map((file) => join(root, file))
  ]
  for (const file of all.toSorted()) {
    const contents = readFileSync(file)
    hash.update(`\n${relative(root, file)} ${contents.length}\n`).update(contents)
  }
  return hash.digest("hex")
}

const run = (...args) => {
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: "inherit" })
  if (status !== 0) process.exit(status ?? 1)
}

const wanted = digest()
if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) process.exit()
process.stderr.write("Building Linkmint, which takes a moment …\n")
run("node_modules/typescript/bin/tsc", "-p", "tsconfig.build.json", "--noCheck")
run("src/http/web/build.mjs")
// It runs the program, with its page.
run("bundle.mjs")
mkdirSync(join(root, "dist"), { recursive: true })
writeFileSync(stamp, wanted)
