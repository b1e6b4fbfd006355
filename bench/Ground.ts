// What a run of the benchmark stands on: servers of its own, deployments with links, and the program as it is.

import { SqlClient } from "@effect/sql/SqlClient"
import { Effect, Schedule, Scope } from "effect"
import { randomBytes, randomUUID } from "node:crypto"
import { mkdtempSync, readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Client } from "pg"
import { inDatabase } from "../chaos/Stores.ts"
import * as Nodes from "../cluster/Nodes.ts"
import { bucketCount } from "../src/keys/Buckets.ts"
import * as BucketPlacementSql from "../src/storage/links/buckets/BucketPlacementSql.ts"
import { keep } from "../test/support/services/Keeper.ts"
import { startPostgres } from "../test/support/services/postgres/PostgresServer.ts"
import { startRedis } from "../test/support/services/redis/RedisServer.ts"
import { type Availability, Unavailable } from "../test/support/services/Service.ts"
import { freePort } from "../test/support/FreePort.ts"
import * as EventLoop from "./EventLoop.ts"
import * as Links from "./Links.ts"
import * as Load from "./load/Load.ts"
import * as ProcessFigures from "./ProcessFigures.ts"

/** Where a deployment keeps its links. */
export type Kind = "PostgreSQL" | "SQLite"

/** The same with that of a node of a cluster, whose pool is in Redis, and with links evenly in four databases of one server. */
export type DeploymentKind = Kind | "PostgreSQL and Redis" | "four databases"

/** A database that the program has made its own, with a user and their links. */
export interface Deployment {
  readonly kind: DeploymentKind
  /** Settings of the program. */
  readonly variables: Readonly<Record<string, string>>
  /** The user, and their API key. */
  readonly userId: string
  readonly apiKey: string
  /** Links 1 … n of `Links.ts`. */
  readonly links: number
}

/** A server process under measurement. */
export interface Server {
  readonly port: number
  readonly pid: number
}

/** See the parts. */
export interface Ground {
  /** Short runs over small tables. */
  readonly quick: boolean
  /** Links in the database that the case `upgrade` upgrades. */
  readonly upgradedLinks: number
  readonly load: Load.Load
  /** For files of the run; goes at its end. */
  readonly folder: string
  readonly postgresUrl: Effect.Effect<string, Unavailable>
  readonly postgresVersion: Effect.Effect<string, Unavailable>
  /** CPU time that PostgreSQL's processes have taken so far, in microseconds; 0 where it runs elsewhere. */
  readonly postgresCpu_us: Effect.Effect<number, Unavailable>
  readonly redisUrl: Effect.Effect<string, Unavailable>
  /** A deployment, which is made once in a run, and used by one process at a time. */
  readonly deployment: (kind: DeploymentKind, links: number) => Effect.Effect<Deployment, Unavailable>
  /** Tells how it goes, in one line. */
  readonly notify: (line: string) => Effect.Effect<void>
}

/** The administrator's key of all deployments here. */
const adminKey = `lm_${randomBytes(24).toString("base64url")}`

const whereRunning = (name: string) => (server: Availability) =>
  server._tag === "Running"
    ? Effect.succeed(server)
    : Effect.fail(new Unavailable({ reason: `${name} cannot be had: ${server.reason}` }))

const backendPid = (url: string) =>
  Effect.tryPromise({
    try: async () => {
      const client = new Client({ connectionString: url })
      await client.connect()
      const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid")
      const parent = ProcessFigures.parentOf(rows[0]!.pid)
      await client.end()
      return parent
    },
    catch: (error) => new Unavailable({ reason: `PostgreSQL does not answer: ${String(error)}` })
  })

/** Creates an empty database and gives its URL; it goes when the scope closes, whoever is connected. */
export const newDatabase = Effect.fn("newDatabase")(function* ({ postgresUrl }: Ground) {
  const url = new URL(yield* postgresUrl)
  const server = url.href
  const name = `bench_${randomUUID().replaceAll("-", "")}`
  // From template0, as somebody may be connected to template1, and nobody can be to template0.
  yield* Effect.acquireRelease(Links.execute(server, `CREATE DATABASE ${name} TEMPLATE template0`), () =>
    Effect.ignore(Links.execute(server, `DROP DATABASE ${name} WITH (FORCE)`))
  )
  url.pathname = `/${name}`
  return url.href
})

/** How the program is started. */
export interface ProgramOptions {
  /** Of a cluster on this machine (`PROCESSES`). */
  readonly processes?: number
  /** Whether its event loop is watched ({@link EventLoop}), which takes some CPU time of an idle one. */
  readonly isWatched?: boolean
}

const awaitProcesses = (log: string, count: number) =>
  Effect.sync(() => readFileSync(log, "utf8").split("Linkmint listens at").length > count).pipe(
    Effect.repeat({ until: (all) => all, schedule: Schedule.spaced("50 millis") }),
    Effect.timeoutFail({
      duration: "60 seconds",
      onTimeout: () => new Unavailable({ reason: `${count} processes did not come up` })
    })
  )

/** Starts the real program on a deployment, until the scope closes. */
export const startProgram = Effect.fn("startProgram")(function* (
  place: Pick<Ground, "folder">,
  { kind, variables }: Pick<Deployment, "kind" | "variables">,
  { isWatched = true, processes = 1 }: ProgramOptions = {}
): Effect.fn.Return<Server & { readonly pids: ReadonlyArray<number> }, Unavailable, Scope.Scope> {
  const [port, runnerPort] = [yield* freePort, yield* freePort]
  const { log, pid } = yield* Nodes.start({
    name: `Linkmint on ${kind}`,
    folder: join(place.folder, `program-${port}`),
    role: "all",
    port,
    runnerPort,
    shared: {
      ADMIN_API_KEY: adminKey,
      REDIS_URLS: "",
      PROCESSES: String(processes),
      ...(isWatched && EventLoop.watched(place)),
      ...variables
    }
  })
  if (processes === 1) return { port, pid, pids: [pid] }
  yield* awaitProcesses(log, processes)
  return { port, pid, pids: [pid, ...ProcessFigures.childrenOf(pid)] }
})

interface Ask {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly json: unknown
}

const post = (port: number, { headers, json, path }: Ask) =>
  Effect.tryPromise({
    try: async () => {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body: JSON.stringify(json),
        signal: AbortSignal.timeout(20_000)
      })
      const text = await answer.text()
      if (!answer.ok) throw new Error(`${path} is answered ${answer.status}: ${text}`)
      const body = text === "" ? {} : (JSON.parse(text) as Readonly<Record<string, string>>)
      return { body, cookie: answer.headers.getSetCookie()[0]?.split(";")[0] ?? "" }
    },
    catch: (error) => new Unavailable({ reason: String(error) })
  })

/** A user and their API key, made as users make them. */
export const makeUser = Effect.fn("makeUser")(function* (port: number, admin: string) {
  const login = { email: "ada@example.com", password: randomBytes(12).toString("hex") }
  yield* post(port, { path: "/api/v1/users", headers: { "x-api-key": admin }, json: login })
  const { cookie } = yield* post(port, { path: "/api/v1/session", headers: {}, json: login })
  const json = { name: "bench", scopes: ["links:read", "links:write", "stats:read"] }
  const { body } = yield* post(port, { path: "/api/v1/api-keys", headers: { cookie }, json })
  const me = yield* Effect.tryPromise({
    try: async () => {
      const answer = await fetch(`http://127.0.0.1:${port}/api/v1/me`, { headers: { cookie } })
      return (await answer.json()) as Readonly<Record<string, string>>
    },
    catch: (error) => new Unavailable({ reason: String(error) })
  })
  return { id: me["id"]!, apiKey: body["secret"]! }
})

const databases = 4

/** Gives each of the databases as many buckets, of which nothing has been written yet: those of each. */
const spread = (controlUrl: string) => {
  const homes = Array.from({ length: databases }, (_, home) =>
    Array.from({ length: bucketCount / databases }, (_, index) => index * databases + home)
  )
  return inDatabase({ databaseUrl: controlUrl }, (sql) =>
    Effect.gen(function* () {
      const { begin, end } = yield* Effect.provideService(BucketPlacementSql.make, SqlClient, sql)
      for (const [to, buckets] of homes.entries()) {
        if (to === 0) continue
        yield* begin({ from: 0, to, buckets })
        yield* end({ from: 0, to, buckets })
      }
    }).pipe(Effect.orDie)
  ).pipe(Effect.as(homes))
}

const makeDeployment = Effect.fn("makeDeployment")(function* (
  ground: Ground,
  kind: DeploymentKind,
  links: number
) {
  if (links > 0) yield* ground.notify(`  ${links.toLocaleString("en")} links in ${kind} …`)
  const dataDir = join(ground.folder, `data-${links}`)
  const further =
    kind === "four databases" ? yield* Effect.replicateEffect(newDatabase(ground), databases - 1) : []
  const variables = {
    DATABASE_URL: kind === "SQLite" ? "" : yield* newDatabase(ground),
    DATA_DIR: dataDir,
    ...(further.length > 0 && { LINK_DATABASE_URLS: further.join(",") }),
    ...(kind === "PostgreSQL and Redis" && {
      REDIS_URLS: yield* ground.redisUrl,
      KEY_SECRET: randomBytes(16).toString("hex")
    })
  }
  const user = yield* Effect.scoped(
    Effect.flatMap(startProgram(ground, { kind, variables }), ({ port }) => makeUser(port, adminKey))
  )
  if (kind === "four databases") {
    const homes = yield* spread(variables.DATABASE_URL)
    yield* Effect.forEach([variables.DATABASE_URL, ...further], (url, home) =>
      Links.fillPostgres(url, links, user.id, homes[home]!)
    )
  } else
    yield* kind !== "SQLite"
      ? Links.fillPostgres(variables.DATABASE_URL, links, user.id)
      : Links.fillSqlite(join(dataDir, "linkmint.db"), links, user.id)
  return { kind, variables, userId: user.id, apiKey: user.apiKey, links }
})

/** Runs an effect at the first call for a name, within `scope`, and gives its result to all. */
const once = (scope: Scope.Scope) => {
  const known = new Map<string, Effect.Effect<unknown, Unavailable>>()
  return <A>(
    name: string,
    effect: Effect.Effect<A, Unavailable, Scope.Scope>
  ): Effect.Effect<A, Unavailable> =>
    Effect.suspend(() => {
      const present = known.get(name)
      if (present !== undefined) return present as Effect.Effect<A, Unavailable>
      return Effect.flatMap(Effect.cached(Scope.extend(effect, scope)), (cached) => {
        known.set(name, cached)
        return cached
      })
    })
}

/** What a run stands on; servers are started when they are asked for, and all goes with the scope. */
export const make = Effect.fn("Ground.make")(function* (options: {
  readonly quick: boolean
  readonly upgradedLinks: number
  readonly notify: Ground["notify"]
}): Effect.fn.Return<Ground, Unavailable, Scope.Scope> {
  const scope = yield* Effect.scope
  const folder = mkdtempSync(join(tmpdir(), "linkmint-bench-"))
  yield* keep({ commands: [], signal: "TERM", cleanup: ["rm", "-rf", folder] })
  const only = once(scope)
  const postgres = only("PostgreSQL", Effect.flatMap(startPostgres, whereRunning("PostgreSQL")))
  const postmaster = only(
    "postmaster",
    Effect.flatMap(postgres, ({ url }) => backendPid(url))
  )
  const ground: Ground = {
    ...options,
    folder,
    load: yield* Load.find,
    postgresUrl: Effect.map(postgres, ({ url }) => url),
    postgresVersion: Effect.map(postgres, ({ version }) => version),
    postgresCpu_us: Effect.map(postmaster, (pid) =>
      pid === undefined ? 0 : ProcessFigures.cpuOfFamily_us(pid)
    ),
    redisUrl: Effect.map(only("Redis", Effect.flatMap(startRedis, whereRunning("Redis"))), ({ url }) => url),
    deployment: (kind, links) => only(`${kind} ${links}`, makeDeployment(ground, kind, links))
  }
  return ground
})
