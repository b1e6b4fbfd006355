// The cluster that is tormented: two pools, one behind Sentinels, and three nodes behind a load balancer.

import { Effect, Either, Schedule, type Scope } from "effect"
import { rmSync } from "node:fs"
import { join } from "node:path"
import * as Folder from "../cluster/Folder.ts"
import * as Haproxy from "../cluster/Haproxy.ts"
import * as Nodes from "../cluster/Nodes.ts"
import * as Postgres from "../cluster/Postgres.ts"
import * as Redis from "../cluster/Redis.ts"
import * as RedisUrl from "../src/storage/RedisUrl.ts"
import { findBinaries, machinePaths, serverUser } from "../test/services/PostgresBinaries.ts"
import { findProgram as findRedis } from "../test/services/RedisServer.ts"
import type { Unavailable } from "../test/services/Service.ts"
import * as Server from "./Server.ts"

/** Marks and capacities, small ones so that the bound on lost keys is sharp. */
export const poolLow = 200
/** See {@link poolLow}. */
export const poolHigh = 1_000
/** See {@link poolLow}. */
export const bufferCapacity = 64

/** A node, and the port at which it serves HTTP. */
export interface Node extends Server.Server {
  readonly port: number
}

/** A cluster that is up. */
export interface Topology {
  readonly folder: string
  /** Where the load balancer listens. */
  readonly port: number
  readonly adminKey: string
  readonly keySecret: string
  readonly databaseUrl: string
  /** What the nodes have in `REDIS_URLS`: the plain pool, and the one behind Sentinels. */
  readonly poolUrls: ReadonlyArray<RedisUrl.RedisUrl>
  readonly nodes: ReadonlyArray<Node>
  readonly postgres: Server.Server
  readonly plainRedis: Server.Server
  /** Takes away what the plain Redis keeps, while it does not run. */
  readonly emptyPlainRedis: Effect.Effect<void>
  /** A primary and a replica, in an order that changes. */
  readonly pair: ReadonlyArray<Server.Server & { readonly port: number }>
  readonly sentinelPorts: ReadonlyArray<number>
  /** The logs of all servers. */
  readonly logs: ReadonlyArray<string>
}

const nodeNames = ["node-1", "node-2", "node-3"] as const
const sentinelNames = ["sentinel-1", "sentinel-2", "sentinel-3"] as const

/** What the Sentinels call the first, and here the only one, of their pools. */
export const watchedPool = "pool-1"

/** A server whose predecessor has just been killed may find that one's children still there. */
const patiently = <A, R>(start: Effect.Effect<A, Unavailable, R>) =>
  Effect.retry(start, { times: 5, schedule: Schedule.spaced("300 millis") })

/** Both pools' servers, and the Sentinels over the second one. */
const startPools = Effect.fn("startPools")(function* (folder: string, port: (name: string) => number) {
  const program = yield* findRedis()
  const optionsOf = (name: string, isSelfConfiguring: boolean): Redis.RedisOptions => ({
    name,
    program,
    folder: join(folder, name),
    port: port(name),
    isSelfConfiguring
  })
  const plainRedis = yield* Server.make(patiently(Redis.start(optionsOf("redis-1", false))))
  const start = (name: string, replicaOf?: number) =>
    Effect.map(
      Server.make(
        patiently(Redis.start({ ...optionsOf(name, true), ...(replicaOf !== undefined && { replicaOf }) }))
      ),
      (server) => ({ ...server, port: port(name) })
    )
  const pair = [yield* start("redis-2"), yield* start("redis-2-replica", port("redis-2"))]
  const pools = [{ name: watchedPool, port: port("redis-2") }]
  const sentinels = yield* Effect.forEach(sentinelNames, (name) =>
    Server.make(Redis.startSentinel(optionsOf(name, true), pools))
  )
  yield* Effect.forEach(sentinelNames, (name) => Redis.awaitWatch(port(name), pools))
  return {
    plainRedis,
    pair,
    sentinels,
    urls: [Redis.urlOf(port("redis-1")), Redis.sentinelUrlOf(sentinelNames.map(port), watchedPool)]
  }
})

/** Starts all of it; it stops, and its folder goes, when the scope closes or this process ends. */
export const start = Effect.fn("Topology.start")(function* (
  program: string | null
): Effect.fn.Return<Topology, Unavailable, Scope.Scope> {
  const user = yield* serverUser
  const binaries = yield* findBinaries(machinePaths(), user)
  const haproxy = yield* Haproxy.haveProgram
  const folder = yield* Folder.open(null, user)
  const runnerOf = (name: string) => `${name}-runner`
  const { memory } = yield* Folder.recall(folder, {
    names: [
      "postgres",
      "haproxy",
      "redis-1",
      "redis-2",
      "redis-2-replica",
      ...sentinelNames,
      ...nodeNames,
      ...nodeNames.map(runnerOf)
    ],
    sentinel: true
  })
  const { adminKey, keySecret, ports, postgresPassword } = memory
  const port = (name: string) => ports[name]!

  const database = { password: postgresPassword, port: port("postgres") }
  const postgres = yield* Server.make(
    patiently(
      Postgres.start({
        ...database,
        binaries,
        user,
        folder: join(folder, "postgres"),
        keepData: true,
        nodes: nodeNames.length
      })
    )
  )
  const { pair, plainRedis, sentinels, urls } = yield* startPools(folder, port)

  const shared = {
    BASE_URL: `http://127.0.0.1:${port("haproxy")}`,
    DATABASE_URL: Postgres.urlOf(database),
    REDIS_URLS: urls.join(","),
    ADMIN_API_KEY: adminKey,
    KEY_SECRET: keySecret,
    POOL_LOW: String(poolLow),
    POOL_HIGH: String(poolHigh),
    BUFFER_CAPACITY: String(bufferCapacity),
    LOG_FORMAT: "json"
  }
  const nodes = yield* Effect.forEach(
    nodeNames,
    (name) =>
      Effect.map(
        Server.make(
          Nodes.start({
            name,
            folder: join(folder, name),
            role: "all",
            port: port(name),
            runnerPort: port(runnerOf(name)),
            shared,
            ...(program !== null && { command: [process.execPath, program] })
          })
        ),
        (server) => ({ ...server, port: port(name) })
      ),
    { concurrency: "unbounded" }
  )
  const balancer = yield* Haproxy.start({
    program: haproxy,
    folder: join(folder, "haproxy"),
    port: port("haproxy"),
    nodes: nodes.map((node) => ({ name: node.name, address: `127.0.0.1:${node.port}` }))
  })

  return {
    folder,
    port: port("haproxy"),
    adminKey,
    keySecret,
    databaseUrl: Postgres.urlOf(database),
    poolUrls: urls.map((url) => Either.getOrThrowWith(RedisUrl.parse(url), (fault) => new Error(fault))),
    nodes,
    postgres,
    plainRedis,
    emptyPlainRedis: Effect.sync(() =>
      rmSync(join(folder, "redis-1", "appendonlydir"), { recursive: true, force: true })
    ),
    pair,
    sentinelPorts: sentinelNames.map(port),
    logs: [postgres, plainRedis, ...pair, ...sentinels, ...nodes, balancer].map(({ log }) => log)
  }
})
