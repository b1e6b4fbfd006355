import { expect, it } from "@effect/vitest"
import { Effect, type Scope } from "effect"
import { execFile, execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { promisify } from "node:util"
import { describe } from "vitest"
import { inRepository } from "../../cluster/Repository.ts"
import { freePort } from "../support/FreePort.ts"
import { run } from "../support/services/Command.ts"
import { temporaryFolder } from "../support/services/OwnServer.ts"
import type { Unavailable } from "../support/services/Service.ts"

// No engine is needed: the Dockerfile's steps are taken in folders that stand for the file systems of its stages.

interface Step {
  readonly instruction: string
  readonly rest: string
}

const dockerfile: ReadonlyArray<Step> = readFileSync(inRepository("Dockerfile"), "utf8")
  .replaceAll(/\\\n\s*/g, "")
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"))
  .map((line) => {
    const [, instruction, rest] = /^(\S+) +(.*)$/.exec(line)!
    return { instruction: instruction!, rest: rest! }
  })

const valueOf = (instruction: string) => dockerfile.findLast((step) => step.instruction === instruction)!.rest

/** What `.dockerignore` leaves of the repository. */
const contextEntries = readFileSync(inRepository(".dockerignore"), "utf8")
  .split("\n")
  .filter((line) => line.startsWith("!"))
  .map((line) => line.slice(1))

const copy = (rest: string, context: string, stageFolders: ReadonlyMap<string, string>, root: string) => {
  const words = rest.split(/ +/)
  const isStage = words[0]!.startsWith("--from=")
  const from = isStage ? stageFolders.get(words.shift()!.slice(7))! : context
  const target = join(root, "app", words.pop()!)
  for (const source of words) {
    const path = join(from, source)
    const isFolder = !/\.\w+$/.test(source)
    const destination = isFolder ? target : join(target, source)
    mkdirSync(dirname(destination), { recursive: true })
    // Nothing is written any more into what an earlier stage has made.
    if (isStage) execFileSync("cp", ["-al", path, destination])
    else cpSync(path, destination, { recursive: true })
  }
}

const jsonOf = (path: string) => JSON.parse(readFileSync(path, "utf8"))

const npm = (app: string, command: string) =>
  run("sh", ["-c", `cd "$0" && ${command} --offline --no-audit --no-fund`, app], { timeout: "5 minutes" })

/** Large packages that no step of the build needs, and that `npm prune` removes as it does the other ones of development, such as the compiler. */
const unneeded = ["@effect/tsgo*", "@oxlint", "playwright-core", "prettier"]

/** A copy, and no hard links: npm writes into files that are there. */
const copyPackages = (app: string) =>
  run(
    "sh",
    [
      "-c",
      `tar -C "$0" ${unneeded.map((name) => `--exclude='node_modules/${name}'`).join(" ")} -cf - node_modules | tar -C "$1" -xf -`,
      inRepository("."),
      app
    ],
    { timeout: "2 minutes" }
  )

/** What the build makes of sources whose digest it keeps. It makes that again where they are others. */
const copyDigested = (app: string) => {
  for (const name of readdirSync(inRepository("dist")).filter((name) => name.endsWith(".cjs.cache"))) {
    cpSync(inRepository(`dist/${name}`), join(app, "dist", name))
  }
  cpSync(inRepository("dist/src/http/web"), join(app, "dist/src/http/web"), { recursive: true })
}

/** How each command of npm is run, which is asked of the registry and of the types' check no second time. */
const commands: Readonly<Record<string, (app: string) => Effect.Effect<unknown, Unavailable>>> = {
  // It refuses a lock file that does not belong to the package. What it would install stands here, as another test says.
  "npm ci": (app) => Effect.zipRight(npm(app, "npm ci --dry-run"), copyPackages(app)),
  // After `npm run types`, which `npm run check` is for: the sources import nothing else, as another test says.
  "npm run build": (app) => {
    copyDigested(app)
    return run(process.execPath, ["build.mjs"], { cwd: app, timeout: "5 minutes" })
  },
  "npm prune --omit=dev": (app) => npm(app, "npm prune --omit=dev")
}

/** Takes every step, and gives the folder of the last stage. */
const build: Effect.Effect<string, Unavailable, Scope.Scope> = Effect.gen(function* () {
  const folder = yield* temporaryFolder({})
  const context = join(folder, "context")
  for (const entry of contextEntries) {
    expect(existsSync(inRepository(entry)), entry).toBe(true)
    cpSync(inRepository(entry), join(context, entry), { recursive: true })
  }
  const stages = new Map<string, string>()
  let root = ""
  for (const { instruction, rest } of dockerfile) {
    if (instruction === "FROM") {
      const name = / AS (\w+)$/.exec(rest)?.[1] ?? "last"
      root = join(folder, name)
      stages.set(name, root)
      mkdirSync(join(root, "app"), { recursive: true })
    }
    if (instruction === "COPY") copy(rest, context, stages, root)
    if (instruction === "RUN" && rest.startsWith("npm ")) {
      yield* commands[rest]!(join(root, "app"))
    }
  }
  return join(root, "app")
})

const environmentOf = (rest: string) =>
  Object.fromEntries(rest.split(" ").map((pair) => pair.split("=") as [string, string]))

describe("the Dockerfile", () => {
  it("runs nothing but npm and what makes the data folder", () => {
    expect(dockerfile.filter(({ instruction }) => instruction === "RUN").map(({ rest }) => rest)).toEqual([
      ...Object.keys(commands),
      "mkdir /data && chown node:node /data"
    ])
    expect(valueOf("USER")).toBe("node")
    expect(valueOf("STOPSIGNAL")).toBe("SIGTERM")
    expect(valueOf("WORKDIR")).toBe("/app")
  })

  it("installs the packages that are installed here", () => {
    const locked: Readonly<Record<string, { readonly optional?: true }>> = jsonOf(
      inRepository("package-lock.json")
    ).packages
    const installed: typeof locked = jsonOf(inRepository("node_modules/.package-lock.json")).packages
    for (const [path, it] of Object.entries(installed)) expect(it, path).toEqual(locked[path])
    const missing = Object.keys(locked).filter((path) => path !== "" && !(path in installed))
    // Those of other platforms.
    expect(missing.filter((path) => locked[path]!.optional !== true)).toEqual([])
  })

  it("copies all files that the sources import, types included", () => {
    const { build: script } = jsonOf(inRepository("package.json")).scripts
    expect(script).toBe("npm run --silent types && node build.mjs")
    const sources = inRepository("src/")
    const names = readdirSync(sources, { recursive: true, encoding: "utf8" })
    const outside = names
      .filter((name) => /\.(?:[jt]sx?|mjs|css)$/.test(name))
      .flatMap((name) =>
        [...readFileSync(join(sources, name), "utf8").matchAll(/(?:from|import)\s*\(?\s*["'](\.[^"']*)["']/g)]
          .map(([, specifier]) => resolve(sources, dirname(name), specifier!))
          .filter(
            (path) =>
              !path.startsWith(sources) && !contextEntries.some((entry) => path === inRepository(entry))
          )
          .map((path) => `${name}: ${path}`)
      )
    expect(outside).toEqual([])
  })

  it.scopedLive(
    "gives a tree that serves links, tells its health, and stops when told to",
    () =>
      Effect.gen(function* () {
        const app = yield* build
        expect(existsSync(join(app, "node_modules/effect"))).toBe(true)
        expect(existsSync(join(app, "node_modules/typescript"))).toBe(false)
        expect(existsSync(join(app, "src"))).toBe(false)

        const port = String(yield* freePort)
        const env = {
          ...environmentOf(valueOf("ENV")),
          PATH: process.env["PATH"],
          PORT: port,
          HOST: "127.0.0.1",
          DATA_DIR: join(app, "../data")
        }
        const health = JSON.parse(/CMD (\[.*)$/.exec(valueOf("HEALTHCHECK"))![1]!) as [
          string,
          ...Array<string>
        ]
        const check = Effect.tryPromise(() => promisify(execFile)(health[0], health.slice(1), { env }))
        yield* Effect.flip(check)
        const [node, ...args] = JSON.parse(valueOf("ENTRYPOINT")) as [string, ...Array<string>]
        const server = yield* Effect.acquireRelease(
          Effect.sync(() => spawn(node, args, { cwd: app, env, stdio: ["ignore", "pipe", "inherit"] })),
          (child) => Effect.sync(() => child.kill("SIGKILL"))
        )
        yield* Effect.promise(() => once(server.stdout, "data"))
        yield* check
        const created = yield* Effect.promise(() =>
          fetch(`http://127.0.0.1:${port}/api/v1/links`, {
            method: "POST",
            headers: { "content-type": "application/json" },
            body: '{"url":"https://example.com/"}'
          })
        )
        expect(created.status).toBe(201)
        const ended = once(server, "exit")
        server.kill("SIGTERM")
        expect(yield* Effect.promise(() => ended)).toEqual([0, null])
      }),
    { timeout: 300_000 }
  )
})
