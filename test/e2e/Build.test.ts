import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync, statSync, utimesSync } from "node:fs"
import { join } from "node:path"
import { fileNames } from "../../src/http/contract/Documents.ts"
import { render } from "../../src/http/contract/RenderedDocuments.ts"
import { nodeOptions, type Program, root, run, startAlone } from "./Program.ts"

const inDist = (name: string) => join(root, "dist", name)

const succeeded = (program: Program) =>
  Effect.gen(function* () {
    expect(yield* program.ended).toEqual({ code: 0, signal: null })
    return program.output()
  })

/** Whether the built program took its functions from V8's code cache. */
const codeCache = (options: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const program = yield* run(process.execPath, [...options, "dist/main.js", "--version"], {
      NODE_DEBUG: "linkmint"
    })
    return /code cache (\w+)/.exec(yield* succeeded(program))?.[1]
  })

describe("the build", () => {
  it.scopedLive("is not repeated for the same files, also when they were checked out again", () =>
    Effect.gen(function* () {
      const source = join(root, "src/main.ts")
      const builtAt = statSync(inDist("main.js")).mtimeMs
      const { atimeMs, mtimeMs } = statSync(source)
      utimesSync(source, atimeMs / 1_000, mtimeMs / 1_000 + 1)
      const output = yield* succeeded(yield* run(process.execPath, ["build.mjs"], {}))
      expect(output).toBe("")
      expect(statSync(inDist("main.js")).mtimeMs).toBe(builtAt)
    })
  )

  it.scopedLive(
    "leaves a code cache that Node takes with the options of `npm start`, and only with these",
    () =>
      Effect.gen(function* () {
        expect(yield* codeCache(nodeOptions)).toBe("used")
        expect(yield* codeCache(["--max-semi-space-size=16"])).toBe("rejected")
      })
  )

  it.scopedLive("has a start on SQLite evaluate no package that only clusters and webhooks use", () =>
    Effect.gen(function* () {
      const { program } = yield* startAlone({ NODE_DEBUG: "linkmint" })
      expect(program.output()).toMatch(/code cache used/)
      expect(program.output()).not.toMatch(/evaluates/)
    })
  )

  it.scopedLive("has a start evaluate none of Node's `fetch`, for which only a question of `pg` would", () =>
    Effect.gen(function* () {
      const listing = "process.on('exit', () => console.log(process.moduleLoadList.join(' ')))"
      const options = [...nodeOptions, "--import", `data:text/javascript,${encodeURIComponent(listing)}`]
      const output = yield* succeeded(
        yield* run(process.execPath, [...options, "dist/main.js", "--version"], {})
      )
      expect(output).toMatch(/NativeModule internal\/worker\b/)
      expect(output).not.toMatch(/undici/)
    })
  )

  it.effect("leaves the documents of the contract", () =>
    Effect.gen(function* () {
      const rendered = yield* render
      for (const name of ["openApi", "docs", "docsPolicy"] as const) {
        const built = readFileSync(inDist(`src/http/contract/${fileNames[name]}`))
        expect(built.equals(Buffer.from(rendered[name])), name).toBe(true)
      }
    })
  )
})
