import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import { agent, type Request, send } from "../support/http/HttpClient.ts"
import { freePort } from "../support/FreePort.ts"
import { version } from "../../src/model/Version.ts"
import { launch, place, type Program, run, start, type Variables } from "./Program.ts"

const administratorLine = /^Administrator: admin@localhost, password shown this once: ([A-Za-z0-9_-]{20})$/m
const adminKeyLine = /^Admin key, shown this once: (lm_[A-Za-z0-9_-]{32})$/m

const ask = (port: number, request: Request) =>
  Effect.scoped(Effect.flatMap(agent(1), (connections) => send(connections, port, request)))

/** The status of signing in with a password. */
const signsIn = (port: number, password: string) =>
  Effect.map(
    ask(port, {
      method: "POST",
      path: "/api/v1/session",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ email: "admin@localhost", password })
    }),
    ({ status }) => status
  )

/** Whether a key is the administrator's: only the administrator is told that there is no such link. */
const opens = (port: number, key: string) =>
  Effect.map(
    ask(port, { path: "/api/v1/links/nothing", headers: { "x-api-key": key } }),
    ({ status }) => status === 404
  )

/** A start that fails: what it printed. */
const failed = (variables: Variables) =>
  Effect.gen(function* () {
    const program = yield* launch(variables)
    expect(yield* program.ended).toEqual({ code: 1, signal: null })
    expect(program.output()).toMatch(/^Linkmint cannot start\. /m)
    // For operators, not for programmers.
    expect(program.output()).not.toMatch(/^\s+at /m)
    return program.output()
  })

/** The modes of a folder and of all files in it, each once. */
const modesIn = (folder: string) => [
  ...new Set(
    ["", ...readdirSync(folder)].map((name) => (statSync(join(folder, name)).mode & 0o777).toString(8))
  )
]

const stop = (program: Program) =>
  Effect.suspend(() => {
    program.signal("SIGTERM")
    return Effect.map(program.ended, (ending) => expect(ending).toEqual({ code: 0, signal: null }))
  })

describe("the first start", () => {
  it.scopedLive(
    "tells where it listens, where its data is, and once the administrator's password and key, which later starts keep",
    () =>
      Effect.gen(function* () {
        const { folder, port, settings } = yield* place
        const first = yield* start(settings)
        expect(first.output()).toContain(
          `Linkmint listens at http://127.0.0.1:${port} and gives out http://localhost:${port}/…`
        )
        expect(first.output()).toContain(`Data folder: ${folder}`)
        expect(existsSync(join(folder, "linkmint.db"))).toBe(true)
        expect(modesIn(folder)).toEqual(["700", "600"])
        const [, key] = yield* first.printed(adminKeyLine)
        expect(yield* opens(port, key!)).toBe(true)
        expect(yield* opens(port, `${key}x`)).toBe(false)
        const [, password] = yield* first.printed(administratorLine)
        expect(yield* signsIn(port, password!)).toBe(204)
        expect(yield* signsIn(port, `${password}x`)).toBe(401)
        yield* stop(first)

        // As an earlier version left it.
        chmodSync(join(folder, "linkmint.db"), 0o644)
        const second = yield* start(settings)
        expect(second.output()).not.toMatch(/admin/i)
        expect(modesIn(folder)).toEqual(["700", "600"])
        expect(yield* signsIn(port, password!)).toBe(204)
        expect(yield* opens(port, key!)).toBe(true)
        yield* stop(second)

        const ADMIN_API_KEY = "lm_the-operators-own-admin-key"
        const third = yield* start({ ...settings, ADMIN_API_KEY })
        expect(third.output()).not.toContain(ADMIN_API_KEY)
        expect(yield* opens(port, ADMIN_API_KEY)).toBe(true)
        expect(yield* opens(port, key!)).toBe(false)
      }),
    120_000
  )
})

describe("the command line", () => {
  it.scopedLive("tells the version, and lists the settings, without a start", () =>
    Effect.gen(function* () {
      const said = (...args: ReadonlyArray<string>) =>
        Effect.gen(function* () {
          const program = yield* run(process.execPath, ["dist/main.js", ...args], {
            ADMIN_API_KEY: "hidden".repeat(3)
          })
          expect(yield* program.ended).toEqual({ code: 0, signal: null })
          return program.output()
        })
      expect(yield* said("--version")).toBe(`${version}\n`)
      const help = yield* said("--help")
      expect(help).toMatch(/^ {2}FAILED_LOOKUPS_PER_MINUTE=/m)
      expect(help).not.toContain("hidden")
    })
  )

  it.scopedLive("is read beside secrets in files, and a misspelt setting is told", () =>
    Effect.gen(function* () {
      const { folder, port, settings } = yield* place
      const file = `${folder}.key`
      writeFileSync(file, "lm_the-operators-own-admin-key\n")
      const program = yield* start({ ...settings, ADMIN_API_KEY_FILE: file, REDIS_URL: "redis://localhost" })
      expect(yield* opens(port, "lm_the-operators-own-admin-key")).toBe(true)
      expect(program.output()).toMatch(/REDIS_URL is no setting of Linkmint.*REDIS_URLS/)
    })
  )
})

describe("a second start on a data folder in use", () => {
  it.scopedLive(
    "fails with the folder and the process that has it, which has drawn no key beside ADMIN_API_KEY and works on; after kill -9 it succeeds",
    () =>
      Effect.gen(function* () {
        const { folder, port, settings: own } = yield* place
        const ADMIN_API_KEY = "lm_the-operators-own-admin-key"
        const settings = { ...own, ADMIN_API_KEY }
        const first = yield* start(settings)
        expect(first.output()).not.toMatch(/admin key/i)
        expect(yield* opens(port, ADMIN_API_KEY)).toBe(true)
        const other = { ...settings, PORT: String(yield* freePort) }
        const output = yield* failed(other)
        expect(output).toContain(
          `The data folder ${folder} is in use by process ${first.pid}, running since `
        )
        expect(output).toContain("DATA_DIR")

        const body = JSON.stringify({ url: "https://example.com/", alias: "kept" })
        const headers = { "content-type": "application/json" }
        const created = yield* ask(port, { method: "POST", path: "/api/v1/links", headers, body })
        expect(created.status).toBe(201)

        first.signal("SIGKILL")
        yield* first.ended
        yield* start(other)
        expect((yield* ask(Number(other.PORT), { path: "/kept" })).headers.location).toBe(
          "https://example.com/"
        )
      }),
    120_000
  )
})

describe("a start fails with exit code 1 and says why:", () => {
  it.scopedLive("settings that are not usable, all of them, each with an example", () =>
    Effect.gen(function* () {
      const { folder } = yield* place
      const output = yield* failed({
        DATA_DIR: folder,
        PORT: "http",
        KEY_LENGTH: "3",
        KEY_SECRET: "abc",
        LOG_LEVEL: "loud"
      })
      expect(output).toContain("The settings are not usable:")
      expect(output).toMatch(
        /^ {2}PORT must be a whole number from 1 to 65535, not "http"; for example PORT=8080$/m
      )
      expect(output).toMatch(/^ {2}KEY_LENGTH must be .*; for example KEY_LENGTH=7$/m)
      expect(output).toMatch(
        /^ {2}KEY_SECRET must be 32 hexadecimal digits.*; for example KEY_SECRET=[0-9a-f]{32}$/m
      )
      expect(output).toMatch(/^ {2}LOG_LEVEL must be one of .*; for example LOG_LEVEL=info$/m)
      expect(existsSync(folder)).toBe(false)
    })
  )

  it.scopedLive("a port that is in use", () =>
    Effect.gen(function* () {
      const { port, settings } = yield* place
      yield* Effect.acquireRelease(
        Effect.async<ReturnType<typeof createServer>>((resume) => {
          const server = createServer().listen(port, "127.0.0.1", () => resume(Effect.succeed(server)))
        }),
        (server) => Effect.sync(() => server.close())
      )
      const output = yield* failed(settings)
      expect(output).toMatch(
        new RegExp(`cannot start\\. Nothing can listen at 127.0.0.1, port ${port}:.*EADDRINUSE`)
      )
      expect(output).not.toContain("has stopped")
    })
  )

  it.scopedLive(
    "another key space than the database was started with",
    () =>
      Effect.gen(function* () {
        const { settings } = yield* place
        const KEY_SECRET = "00112233445566778899aabbccddeeff"
        yield* stop(yield* start({ ...settings, KEY_SECRET }))
        const changed = yield* failed({ ...settings, KEY_SECRET: "ff".repeat(16) })
        expect(changed).toContain("KEY_SECRET has another value there.")
        expect(changed).not.toContain(KEY_SECRET)
        yield* stop(yield* start({ ...settings, KEY_SECRET }))
      }),
    120_000
  )

  it.scopedLive("a data folder that is a file", () =>
    Effect.gen(function* () {
      const { folder, settings } = yield* place
      writeFileSync(folder, "")
      const output = yield* failed(settings)
      expect(output).toContain(`The data folder ${folder} cannot be used: `)
      expect(output).toContain("DATA_DIR")
    })
  )

  it.scopedLive("a database file that is none", () =>
    Effect.gen(function* () {
      const { folder, settings } = yield* place
      mkdirSync(folder)
      writeFileSync(
        join(folder, "linkmint.db"),
        "this is no database, and is long enough to have a header of one".repeat(20)
      )
      expect(yield* failed(settings)).toContain(join(folder, "linkmint.db"))
    })
  )

  // Root may write anywhere.
  it.scopedLive.skipIf(process.getuid?.() === 0)("a data folder that cannot be written", () =>
    Effect.gen(function* () {
      const { folder, settings } = yield* place
      mkdirSync(folder)
      chmodSync(folder, 0o500)
      expect(yield* failed(settings)).toContain(`The data folder ${folder} cannot be used: `)
    })
  )

  it.scopedLive("a blocklist that is not there, or has a line that is no domain", () =>
    Effect.gen(function* () {
      const { folder, settings } = yield* place
      const missing = join(folder, "blocked.txt")
      expect(yield* failed({ ...settings, BLOCKLIST_FILE: missing })).toContain(
        `The blocklist ${missing} cannot be used: there is no such file.`
      )
      const broken = `${folder}.blocked`
      writeFileSync(broken, "evil.example\nhttps://evil.example/\n")
      const output = yield* failed({ ...settings, BLOCKLIST_FILE: broken })
      expect(output).toContain('line 2 is not a domain: "https://evil.example/"')
    })
  )

  it.scopedLive("a PostgreSQL server that is not there", () =>
    Effect.gen(function* () {
      const { settings } = yield* place
      const port = yield* freePort
      const output = yield* failed({
        ...settings,
        DATABASE_URL: `postgres://me:hidden@127.0.0.1:${port}/links`
      })
      expect(output).not.toContain("hidden")
    })
  )
})
