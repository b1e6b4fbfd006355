// The real program under test: in a process of its own, with little memory, on SQLite or on a PostgreSQL database.

import { Effect, ExecutionStrategy, Exit, Scope } from "effect"
import Database from "libsql"
import { randomBytes } from "node:crypto"
import { closeSync, fstatSync, mkdtempSync, openSync, readSync } from "node:fs"
import type { Agent } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { rssOf_MB } from "../bench/ProcessFigures.ts"
import * as Nodes from "../cluster/Nodes.ts"
import { freePort } from "../test/support/FreePort.ts"
import { agent, type Request, send } from "../test/support/http/HttpClient.ts"
import { type Document, documentOf } from "../test/support/http/OpenApi.ts"
import { keep } from "../test/support/services/Keeper.ts"
import { Unavailable } from "../test/support/services/Service.ts"
import * as Probe from "./Probe.ts"
import type { Supply } from "./Requests.ts"
import { furnish } from "./Supply.ts"

/** Rows by table. */
export type Stored = Readonly<Record<string, number>>

/** What is attacked: the program, or in tests something that has its faults on purpose. */
export interface Target {
  readonly port: number
  readonly agent: Agent
  readonly document: Document
  /** Makes what the requests of a batch find. */
  readonly supply: (batch: number) => Effect.Effect<Supply, Unavailable>
  /** How it ended, where it has. */
  readonly ended: () => string | null
  /** Ends it where it has not, and starts it again with all that it has stored. */
  readonly revive: Effect.Effect<void, Unavailable>
  readonly rss_MB: () => number
  /** How much is stored of what requests can store; null where it cannot be looked at. */
  readonly stored: () => Stored | null
  readonly lap: Effect.Effect<Probe.Lap>
  /** The longest delay of the event loop that the program itself has seen since it was asked before, in milliseconds. */
  readonly lag_ms: Effect.Effect<number>
  /** Lines of its log that tell of something broken, since they were asked for before. */
  readonly troubles: () => ReadonlyArray<string>
}

/** How to run it. */
export interface ProgramOptions {
  /** Megabytes of JavaScript's heap. */
  readonly memory_MB: number
  /** A PostgreSQL database in place of SQLite. */
  readonly database: string | null
  /** Whether limits of rates are those of a deployment that sets none; otherwise there are none, where that can be. */
  readonly hasLimits: boolean
}

/** Tables that grow by what users make: what follows from keys being minted and visits counted is not among them. */
const tables = ["links", "users", "api_keys", "sessions", "webhooks"]

const countingIn = (file: string) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => new Database(file, { readonly: true })),
      (database) => Effect.sync(() => void database.close())
    ),
    (database) => {
      const counts = database.prepare(
        `SELECT ${tables.map((table) => `(SELECT count(*) FROM ${table}) AS ${table}`).join(", ")}`
      )
      return () => counts.get() as Stored
    }
  )

/** Reads what was appended to a file since it was read before, at most so many bytes of it. */
const following = (file: string, bytesMax = 1_000_000) => {
  let at = 0
  return () => {
    const descriptor = openSync(file, "r")
    try {
      const size = fstatSync(descriptor).size
      const bytes = Buffer.alloc(Math.min(bytesMax, size - at))
      readSync(descriptor, bytes, 0, bytes.length, at)
      at = size
      return bytes.toString("utf8")
    } finally {
      closeSync(descriptor)
    }
  }
}

/** What the program logs where it is at fault. */
const trouble = /A request broke|Unhandled|uncaught|FATAL ERROR|heap out of memory/i

/** How long the probe waits between two questions, and by how much it may see a hold of the event loop too short. Each question takes half a millisecond of CPU time. */
const probePause_ms = 20

/** Starts the program with an empty database, and watches it. All goes with the scope. */
export const start = Effect.fn("fuzz.start")(function* (
  options: ProgramOptions
): Effect.fn.Return<Target, Unavailable, Scope.Scope> {
  const outer = yield* Effect.scope
  const folder = mkdtempSync(join(tmpdir(), "linkmint-fuzz-"))
  yield* keep({ commands: [], signal: "TERM", cleanup: ["rm", "-rf", folder] })
  const adminKey = `lm_${randomBytes(24).toString("base64url")}`
  const [port, runnerPort] = [yield* freePort, yield* freePort]
  const connections = yield* agent(64)
  const path = "/probed"

  /** One life of the process, with its probe. */
  const live = Effect.gen(function* () {
    const scope = yield* Scope.fork(outer, ExecutionStrategy.sequential)
    const node = yield* Nodes.start({
      name: "Linkmint",
      folder: join(folder, "program"),
      role: "all",
      port,
      runnerPort,
      shared: {
        NODE_OPTIONS: `--max-old-space-size=${options.memory_MB}`,
        DATA_DIR: join(folder, "data"),
        DATABASE_URL: options.database ?? "",
        REDIS_URLS: "",
        PROCESSES: "",
        ADMIN_API_KEY: adminKey,
        METRICS_TOKEN: adminKey,
        SIGN_UP: "open",
        ANONYMOUS_CREATES: "true",
        ...(!options.hasLimits && {
          ANONYMOUS_CREATES_PER_MINUTE: "none",
          FAILED_LOOKUPS_PER_MINUTE: "none",
          // Each request is another client's.
          TRUSTED_PROXIES: "127.0.0.0/8"
        })
      }
    }).pipe(Scope.extend(scope))
    const state: { end: string | null } = { end: null }
    const watching = Effect.tap(node.ended, (how) => Effect.sync(() => (state.end = how)))
    yield* Scope.extend(Effect.forkScoped(watching), scope)
    const probed = { port, pid: node.pid, path, pause_ms: probePause_ms }
    const probe = yield* Scope.extend(Probe.make(probed), scope)
    return { node, probe, state, scope }
  })

  const unavailable = (error: { readonly message: string }) =>
    error instanceof Unavailable ? error : new Unavailable({ reason: error.message })
  const ask = (request: Request) =>
    Effect.mapError(
      send(connections, port, {
        ...request,
        headers: { ...request.headers, authorization: `Bearer ${adminKey}` }
      }),
      unavailable
    )
  let now = yield* live
  yield* ask({
    method: "POST",
    path: "/api/v1/links",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ url: "https://example.com/", alias: path.slice(1) })
  })
  const document = yield* Effect.map(ask({ path: "/openapi.json" }), documentOf)
  const read = following(now.node.log)
  const isSqlite = options.database === null
  const stored = isSqlite ? yield* countingIn(join(folder, "data", "linkmint.db")) : () => null

  return {
    port,
    agent: connections,
    document,
    supply: (batch) =>
      Effect.raceFirst(
        Effect.mapError(furnish({ agent: connections, port, adminKey, batch }), unavailable),
        Effect.flatMap(
          Effect.suspend(() => now.node.ended),
          (how) => new Unavailable({ reason: `Linkmint ${how}` })
        )
      ),
    ended: () => now.state.end,
    revive: Effect.suspend(() => Scope.close(now.scope, Exit.void)).pipe(
      Effect.zipRight(live),
      Effect.map((next) => void (now = next))
    ),
    rss_MB: () => rssOf_MB([now.node.pid]),
    stored,
    lap: Effect.suspend(() => now.probe.lap),
    lag_ms: ask({ path: "/metrics" }).pipe(
      Effect.map(
        ({ text }) => 1_000 * Number(/^nodejs_eventloop_lag_max_seconds ([\d.e+-]+)$/m.exec(text)?.[1] ?? 0)
      ),
      Effect.orElseSucceed(() => 0)
    ),
    troubles: () =>
      read()
        .split("\n")
        .filter((line) => trouble.test(line))
  }
})
