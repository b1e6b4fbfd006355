import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync } from "node:fs"
import { agent, type Request, send } from "../support/http/HttpClient.ts"
import { freePort } from "../support/FreePort.ts"
import { describePostgres, freshDatabase } from "../support/services/postgres/Postgres.ts"
import { describeRedis, serverUrl } from "../support/services/redis/Redis.ts"
import { adminHere } from "./AdminHere.ts"
import { ADMIN_API_KEY } from "./ClusterNodes.ts"
import { place, run, start, type Variables } from "./Program.ts"

const json = { "content-type": "application/json" }

const ask = (port: string, request: Request) =>
  Effect.scoped(Effect.flatMap(agent(1), (connections) => send(connections, Number(port), request)))

type Run = typeof adminHere

/** Runs a command in a process of its own. */
const inProcess: Run = (settings, ...args) =>
  Effect.scoped(
    Effect.gen(function* () {
      const program = yield* run(process.execPath, ["dist/admin.js", ...args], settings)
      const { code } = yield* program.ended
      return { code, output: program.output() }
    })
  )

/** What commands that are run in this way should come to. */
const expecting = (admin: Run) => ({
  /** Gives what the pattern's group matches. */
  done: (settings: Variables, pattern: RegExp, ...args: ReadonlyArray<string>) =>
    Effect.map(admin(settings, ...args), ({ code, output }) => {
      expect(output).toMatch(pattern)
      expect(code).toBe(0)
      return pattern.exec(output)?.[1] ?? ""
    }),
  refused: (settings: Variables, pattern: RegExp, ...args: ReadonlyArray<string>) =>
    Effect.map(admin(settings, ...args), ({ code, output }) => {
      expect(output).toMatch(pattern)
      expect(output).not.toMatch(/^\s+at /m)
      expect(code).toBe(1)
    })
})

// A process is started for each kind of resource that it has to let go before it ends, and for each way to end. The others say nothing more of it.
const { done: doneByProcess, refused: refusedByProcess } = expecting(inProcess)
const { done, refused } = expecting(adminHere)

const create = (port: string, key: string) =>
  ask(port, {
    method: "POST",
    path: "/api/v1/links",
    headers: { ...json, "x-api-key": key },
    body: JSON.stringify({ url: "https://example.com/" })
  })

const signIn = (port: string, email: string, password: string) =>
  Effect.map(
    ask(port, {
      method: "POST",
      path: "/api/v1/session",
      headers: json,
      body: JSON.stringify({ email, password })
    }),
    ({ status }) => status
  )

const stocked = { KEY_STOCK: "two-table", KEY_STOCK_TARGET: "50" }

const user = ["--email", "ada@example.com"]

/** What is the same of both databases; `whileUp` says whether a command can be run beside the server. */
const useful = (settings: Variables & { readonly PORT: string }, whileUp: boolean) =>
  Effect.gen(function* () {
    const program = yield* start(settings)
    const stopped = Effect.suspend(() => {
      program.signal("SIGTERM")
      return program.ended
    })
    if (!whileUp) {
      yield* refusedByProcess(settings, /is in use by process \d+.*\n?.*Stop it first/, "ledger")
      yield* stopped
    }
    const drawn = yield* doneByProcess(settings, /password shown this once: (\S+)/, "add-user", ...user)
    const key = yield* done(
      settings,
      /shown this once: (lm_\S+)/,
      "add-key",
      ...user,
      "--scope",
      "links:write"
    )
    yield* refused(settings, /belongs to an account already/, "add-user", ...user)
    if (!whileUp) {
      // Whatever the database is.
      yield* refused(settings, /must have 12 to 128/, "set-password", ...user, "--password", "short")
      yield* refused(settings, /no administrator/, "add-key", ...user, "--scope", "admin")
      yield* refused(settings, /There is no user/, "list-keys", "--email", "nobody@example.com")
      yield* refused(settings, /--keys must be 1 to 1000000000, not 0/, "skip-keys", "--keys", "0")
    }
    const id = yield* done(settings, /^(key_\S+) {2}links:write/m, "list-keys", ...user)

    if (whileUp) {
      // Accounts have nothing to do with keys, nor with where they wait.
      const elsewhere = { ...settings, REDIS_URLS: "redis://127.0.0.1:1", KEY_SECRET: "ab".repeat(16) }
      yield* done(elsewhere, /^(key_\S+) {2}links:write/m, "list-keys", ...user)
      yield* refused(elsewhere, /KEY_SECRET/, "ledger")
      yield* refused(settings, /processes work on this database\. Stop all of them first/, "skip-keys")
    }
    const up = whileUp ? program : yield* start(settings)
    expect(yield* signIn(settings.PORT, "ada@example.com", drawn)).toBe(204)
    expect((yield* create(settings.PORT, key)).status).toBe(201)
    if (!whileUp) {
      up.signal("SIGTERM")
      yield* up.ended
    }
    yield* done(settings, /https:\/\/example\.com\/$/m, "links", ...user)
    const ledgerBy = (admin: Run) =>
      Effect.map(
        admin(settings, "ledger"),
        ({ output }) =>
          (what: string) =>
            Number(new RegExp(`^${what} +(\\d+)$`, "m").exec(output)?.[1])
      )
    const counted = yield* ledgerBy(inProcess)
    expect(counted("bound")).toBe(1)
    expect(counted("minted")).toBeGreaterThan(1)
    const parts = ["stocked", "pooled", "recorded", "bound", "quarantined", "leased or lost"].map(counted)
    expect(parts.reduce((sum, part) => sum + part, 0)).toBe(counted("minted"))
    const other = yield* done(settings, /Made (key_\S+)/, "add-key", ...user, "--scope", "links:read")
    yield* done(settings, /and no sessions any more/, "set-password", ...user, "--keep-keys")
    yield* done(settings, /Revoked/, "revoke-key", "--id", id)
    yield* done(settings, /no sessions, API keys and webhooks any more/, "set-password", ...user)
    yield* refused(settings, /There is no API key/, "revoke-key", "--id", other)

    if (whileUp) yield* stopped
    // Keys stand ready somewhere: in the pools, or recorded where the pool is memory.
    expect(counted("pooled") + counted("recorded")).toBeGreaterThan(0)
    yield* doneByProcess(settings, /Each of 16 ranges has skipped 1000 keys/, "skip-keys", "--keys", "1000")
    const after = yield* ledgerBy(adminHere)
    expect(after("minted")).toBeGreaterThanOrEqual(counted("minted") + 16_000)
    expect(["stocked", "pooled", "recorded", "bound"].map(after)).toEqual([0, 0, 0, 1])
    yield* start(settings)
    expect((yield* create(settings.PORT, ADMIN_API_KEY)).status).toBe(201)
  })

describe("npm run admin", () => {
  it.scopedLive("needs no database to tell what it can do", () =>
    doneByProcess({ DATA_DIR: "/nowhere/at/all" }, /set-password/, "--help")
  )

  it.scopedLive("plans without a deployment", () => {
    const load = ["--links-per-second", "38", "--redirects-per-second", "3800"]
    return done({ DATA_DIR: "/nowhere" }, /^key length +(7) characters/m, "plan", ...load)
  })

  it.scopedLive("refuses a folder without a deployment by name, and makes nothing", () =>
    Effect.gen(function* () {
      const { folder, settings } = yield* place
      yield* refusedByProcess(
        settings,
        new RegExp(`There is no deployment in the data folder ${folder}`),
        "ledger"
      )
      expect(existsSync(folder)).toBe(false)
    })
  )

  it.scopedLive(
    "manages a data folder while no process has it",
    () =>
      Effect.gen(function* () {
        const { settings } = yield* place
        yield* useful({ ...settings, ADMIN_API_KEY, ...stocked }, false)
      }),
    300_000
  )
})

describeRedis("with Redis,", () =>
  describePostgres("npm run admin on PostgreSQL", () => {
    it.scopedLive(
      "manages a deployment while it runs",
      () =>
        Effect.gen(function* () {
          const [port, runnerPort] = [yield* freePort, yield* freePort]
          const settings = {
            DATABASE_URL: yield* freshDatabase,
            REDIS_URLS: yield* serverUrl,
            ADMIN_API_KEY,
            ...stocked,
            PORT: String(port),
            RUNNER_PORT: String(runnerPort),
            HOST: "127.0.0.1",
            DRAIN_DELAY: "PT0S"
          }
          yield* refused(settings, /There is no deployment in the database of DATABASE_URL/, "links")
          yield* useful(settings, true)
        }),
      300_000
    )
  })
)
