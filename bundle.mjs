// Puts the program and its administration into one file each: Node takes longer to load some 1,200 modules than for all the rest of a
// start. Beside each file it puts V8's code cache of it (`src/terminal/Launch.ts`), which a run of the program has filled.
// The thread of a connection to SQLite gets a file as well, since each thread loads its modules again, and so do the processes that tests start.
// The documents of the contract are made here as well, since a start would take 90 ms for them.
// `node bundle.mjs --run FILE …` is that run: it writes the code cache of the file when the program ends.

import { spawn } from "node:child_process"
import { createHash } from "node:crypto"
import { once } from "node:events"
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync
} from "node:fs"
import { get } from "node:http"
import { createRequire } from "node:module"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { dirname, join, relative } from "node:path"
import { setTimeout } from "node:timers/promises"
import { pathToFileURL } from "node:url"

const root = import.meta.dirname
const dist = join(root, "dist")
const requireHere = createRequire(import.meta.url)
const { cacheOf, launch } = await import("./dist/src/terminal/Launch.js")

/** Puts a whole file in place: programs start while a build goes on. */
const put = (path, contents) => {
  const writing = `${path}.${process.pid}`
  writeFileSync(writing, contents)
  // For other users too, whatever the program that runs here does with what it writes.
  chmodSync(writing, 0o644)
  renameSync(writing, path)
}

if (process.argv[2] === "--run") {
  const bundle = pathToFileURL(process.argv[3])
  process.argv.splice(1, 3, process.argv[3])
  const { exports, script } = launch(bundle)
  process.on("exit", () => {
    for (const load of exports.deferredPackages) load()
    put(cacheOf(bundle), script.createCachedData())
  })
} else {
  const { build } = await import("esbuild")
  const { Effect } = await import("effect")
  const { fileNames } = await import("./dist/src/http/contract/Documents.js")
  const { render } = await import("./dist/src/http/contract/RenderedDocuments.js")

  for (const [name, contents] of Object.entries(await Effect.runPromise(render))) {
    put(join(dist, "src/http/contract", fileNames[name]), contents)
  }

  /** A module that looks for files beside itself goes on looking there. */
  const ownPlaces = {
    name: "own-places",
    setup: ({ onLoad }) =>
      onLoad({ filter: /\.m?js$/, namespace: "file" }, ({ path }) => {
        const contents = readFileSync(path, "utf8")
        if (!contents.includes("import.meta.url")) return undefined
        const place = `new URL(${JSON.stringify(relative(dist, path))}, bundleUrl).href`
        return {
          contents: contents.replaceAll("import.meta.url", place),
          loader: "js",
          resolveDir: dirname(path)
        }
      })
  }

  /**
   * Evaluates CommonJS packages when something of them is used first: most starts need none of these. The names of what they export are
   * read here, and each is a getter.
   */
  const deferred = {
    name: "deferred",
    setup: ({ onLoad, onResolve, resolve }) => {
      onResolve({ filter: /^(?:ioredis|msgpackr|undici|ws)$/ }, ({ kind, path, pluginData }) =>
        kind === "import-statement" && pluginData?.isItself !== true
          ? { path, namespace: "deferred" }
          : undefined
      )
      onResolve({ filter: /.*/, namespace: "deferred" }, ({ path }) =>
        resolve(path, { kind: "require-call", resolveDir: root, pluginData: { isItself: true } })
      )
      onLoad({ filter: /.*/, namespace: "deferred" }, ({ path }) => {
        const names = Object.keys(requireHere(path))
        return {
          contents: [
            "let loaded",
            `const load = () => loaded ??= (log("evaluates %s", ${JSON.stringify(path)}), require(${JSON.stringify(path)}))`,
            "deferredPackages.push(load)",
            ...names.map((name) => {
              const key = JSON.stringify(name)
              return `Object.defineProperty(exports, ${key}, { enumerable: true, get: () => load()[${key}] })`
            })
          ].join("\n"),
          loader: "js",
          resolveDir: root
        }
      })
    }
  }

  /**
   * Tells libSQL which native part is this machine's without a report of the whole process, which takes longer than all the rest of a thread's start. The C library
   * is told apart as `libsql` itself does behind that.
   */
  const nativeTarget = {
    name: "native-target",
    setup: ({ onLoad }) =>
      onLoad({ filter: /[\\/]@neon-rs[\\/]load[\\/].*\.js$/ }, ({ path }) => ({
        contents: `${readFileSync(path, "utf8")}
          const { familySync, GLIBC } = require("detect-libc")
          exports.currentTarget = () =>
            process.platform === "linux" ? "linux-" + process.arch + (familySync() === GLIBC ? "-gnu" : "-musl") : currentTarget()`,
        loader: "js",
        resolveDir: dirname(requireHere.resolve("libsql"))
      }))
  }

  const common = {
    absWorkingDir: dist,
    bundle: true,
    platform: "node",
    target: "node20",
    legalComments: "none",
    logLevel: "warning"
  }

  /** With native parts, which are no files of JavaScript, and optional ones of packages, which are not installed. */
  const external = ["@node-rs/argon2", "pg-native", "msgpackr-extract"]

  await build({
    ...common,
    entryPoints: ["src/storage/sql/SqliteConnection.js"],
    outfile: "src/storage/sql/SqliteConnection.cjs",
    format: "cjs",
    plugins: [nativeTarget]
  })

  const children = join(dist, "test/support/children")
  if (existsSync(children)) {
    await build({
      ...common,
      entryPoints: readdirSync(children)
        .filter((name) => name.endsWith(".js"))
        .map((name) => join(children, name)),
      outdir: "test/support/children/bundled",
      format: "esm",
      splitting: true,
      external: [...external, "libsql"],
      banner: {
        js: [
          'import { createRequire as requireOf } from "node:module";',
          "const require = requireOf(import.meta.url);",
          'const bundleUrl = new URL("../../../../", import.meta.url);'
        ].join(" ")
      },
      plugins: [ownPlaces]
    })
  }

  const { outputFiles } = await build({
    ...common,
    entryPoints: { admin: "src/admin/main.js", main: "src/main.js" },
    outdir: ".",
    outExtension: { ".js": ".cjs" },
    // V8 keeps no code cache of a module.
    format: "cjs",
    supported: { "dynamic-import": false },
    external: [...external, "libsql"],
    banner: {
      js: [
        'const bundleUrl = require("node:url").pathToFileURL(__filename);',
        'const log = require("node:util").debuglog("linkmint");',
        // As in Node 21 and later. Where it is missing, `pg` makes a `Response` to see whether it runs at Cloudflare, for which Node 20 evaluates all of `fetch`.
        "globalThis.navigator ??= { userAgent: `Node.js/${parseInt(process.versions.node)}` };",
        "const deferredPackages = exports.deferredPackages = [];"
      ].join(" ")
    },
    sourcemap: true,
    plugins: [ownPlaces, deferred],
    write: false
  })

  const contentsOf = (name) => Buffer.from(outputFiles.find(({ path }) => path === join(dist, name)).contents)

  /** Runs a bundle to fill its code cache. V8 accepts that only with the options with which it was made. */
  const fill = (bundle, { args = [], env = {}, options = [] }) => {
    const child = spawn(process.execPath, [...options, "bundle.mjs", "--run", bundle, ...args], {
      cwd: root,
      env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
      stdio: "ignore"
    })
    return { child, ended: once(child, "exit") }
  }

  const freePort = async () => {
    const server = createServer().listen(0, "127.0.0.1")
    await once(server, "listening")
    const { port } = server.address()
    server.close()
    return port
  }

  const isReady = (port) =>
    new Promise((resolve) => {
      get({ host: "127.0.0.1", port, path: "/health/ready", agent: false }, (response) => {
        response.resume()
        resolve(response.statusCode === 200)
      }).on("error", () => resolve(false))
    })

  /** Starts the program on an empty data folder, as its first users do, and stops it when it is ready. */
  const fillByStart = async (bundle) => {
    const folder = mkdtempSync(join(tmpdir(), "linkmint-build-"))
    const port = await freePort()
    const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
    const { child, ended } = fill(bundle, {
      options: scripts.start.match(/(?<= )--\S+/g),
      env: { PORT: String(port), DATA_DIR: join(folder, "data") }
    })
    const deadline = performance.now() + 30_000
    while (child.exitCode === null && performance.now() < deadline && !(await isReady(port)))
      await setTimeout(20)
    child.kill("SIGTERM")
    const [code] = await ended
    rmSync(folder, { recursive: true, force: true })
    if (code !== 0)
      process.stderr.write(
        "The program did not start during the build, so that it has no code cache and starts more slowly.\n"
      )
  }

  const bundles = new Set()
  for (const name of ["admin", "main"]) {
    const code = contentsOf(`${name}.cjs`)
    // V8 knows a script by its length alone. So a name belongs to one content, and so does the cache beside it.
    const file = `${name}-${createHash("sha256").update(code).update(process.version).digest("hex").slice(0, 12)}.cjs`
    const bundle = join(dist, file)
    bundles.add(file)
    put(`${bundle}.map`, contentsOf(`${name}.cjs.map`))
    put(bundle, Buffer.from(code.toString().replace(`${name}.cjs.map`, `${file}.map`)))
    if (!existsSync(cacheOf(pathToFileURL(bundle)))) {
      if (name === "main") await fillByStart(bundle)
      else await fill(bundle, { args: ["--help"] }).ended
    }
    // Last: it leads to the others.
    put(
      join(dist, `${name}.js`),
      `import { launch } from "./src/terminal/Launch.js"\nlaunch(new URL("./${file}", import.meta.url))\n`
    )
  }

  // Those of earlier builds, unless a program may be about to start from them.
  for (const name of readdirSync(dist)) {
    const bundle = /^(?:admin|main)-[0-9a-f]+\.cjs/.exec(name)?.[0]
    if (bundle === undefined || bundles.has(bundle)) continue
    if (Date.now() - statSync(join(dist, name)).mtimeMs > 60_000) rmSync(join(dist, name))
  }
}
