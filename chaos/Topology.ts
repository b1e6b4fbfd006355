// The cluster that is tormented: two pools, one behind Sentinels, and three nodes behind a load balancer.

import { Effect, Either, Schedule, type Scope } from "effect"
import { existsSync, rmSync } from "node:fs"
import { join } from "node:path"
import * as Folder from "../cluster/Folder.ts"
import * as Haproxy from "../cluster/Haproxy.ts"
import * as Nodes from "../cluster/Nodes.ts"
import * as Postgres from "../cluster/Postgres.ts"
import * as Patroni from "../cluster/Patroni.ts"
import * as Redis from "../cluster/Redis.ts"
import * as RedisUrl from "../src/storage/redis/RedisUrl.ts"
import { findBinaries, machinePaths, serverUser } from "../test/support/services/postgres/PostgresBinaries.ts"
import { findProgram as findRedis } from "../test/support/services/redis/RedisServer.ts"
import type { Unavailable } from "../test/support/services/Service.ts"
import type { FaultKind } from "./FaultKind.ts"
import * as Pair from "./Pair.ts"
import * as Server from "./Server.ts"
import * as Wire from "./Wire.ts"

/** Marks and capacities, small ones so that the bound on lost keys is sharp. */
export const poolLow = 200
/** See {@link poolLow}. */
export const poolHigh = 1_000
/** See {@link poolLow}. */
export const bufferCapacity = 64

/** A node, and the port at which it serves HTTP. */
export interface Node extends Server.Server {
  readonly port: number
  /** Its ways to PostgreSQL. */
  readonly wires: Wire.Wires
  /** From its next start on its clock is so many seconds ahead. */
  readonly setClock: (ahead_s: number) => void
}

/** A cluster that is up. */
export interface Topology {
  readonly folder: string
  /** Where the load balancer listens. */
  readonly port: number
  readonly adminKey: string
  readonly keySecret: string
  /** The URL of the primary. */
  readonly databaseUrl: string
  /** What the nodes have in `REDIS_URLS`: the plain pool, and the one behind Sentinels. */
  readonly poolUrls: ReadonlyArray<RedisUrl.RedisUrl>
  readonly nodes: ReadonlyArray<Node>
  /** PostgreSQL, where it is one server. */
  readonly postgres: Server.Server | null
  /** PostgreSQL, where it has a standby. */
  readonly standby: Pair.Pair | null
  readonly plainRedis: Server.Server
  /** Takes away what the plain Redis keeps, while it does not run. */
  readonly emptyPlainRedis: Effect.Effect<void>
  /** A primary and a replica, in an order that changes. */
  readonly pair: ReadonlyArray<Server.Server & { readonly port: number }>
  readonly sentinelPorts: ReadonlyArray<number>
  /** The logs of all servers. */
  readonly logs: ReadonlyArray<string>
}

/** What the nodes are called. */
export const nodeNames = ["node-1", "node-2", "node-3"] as const
const sentinelNames = ["sentinel-1", "sentinel-2", "sentinel-3"] as const

/** What the Sentinels call the first, and here the only one, of their pools. */
export const watchedPool = "pool-1"

/** Starts a server again and again: one whose predecessor has just been killed may find that one's children still there. */
export const patiently = <A, R>(start: Effect.Effect<A, Unavailable, R>) =>
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

/** Lies about the time of day to a program, and to nobody else. */
const library = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1"

/** Whether a node can be given a wrong clock here: with the package `libfaketime`. */
const hasWrongClocks = existsSync(library)

const wrongClock = (ahead_s: number): NodeJS.ProcessEnv =>
  ahead_s === 0
    ? {}
    : {
        LD_PRELOAD: library,
        FAKETIME: `${ahead_s > 0 ? "+" : ""}${ahead_s}s`,
        FAKETIME_DONT_FAKE_MONOTONIC: "1"
      }

/** Those of the faults that can be done here. */
export const possible = ({ standby }: Topology, faults: ReadonlyArray<FaultKind>): ReadonlyArray<FaultKind> =>
  faults.filter(
    (kind) =>
      (kind !== "clock" || hasWrongClocks) &&
      (kind !== "disk-full" || (standby?.members.every(({ disk }) => disk !== null) ?? false))
  )

/** What the nodes' PostgreSQL is. */
interface Database {
  /** Where the primary is. */
  readonly url: string
  /** Its servers. */
  readonly ports: ReadonlyArray<number>
  readonly postgres: Server.Server | null
  readonly standby: Pair.Pair | null
  readonly logs: ReadonlyArray<string>
}

/** Starts all of it; it stops, and its folder goes, when the scope closes or this process ends. */
export const start = Effect.fn("Topology.start")(function* (
  program: string | null,
  mode: Patroni.StandbyMode | null
): Effect.fn.Return<Topology, Unavailable, Scope.Scope> {
  const user = yield* serverUser
  const binaries = yield* findBinaries(machinePaths(), user)
  const haproxy = yield* Haproxy.haveProgram
  const folder = yield* Folder.open(null, user)
  const runnerOf = (name: string) => `${name}-runner`
  const { memory } = yield* Folder.recall(folder, {
    names: [
      ...(mode === null ? ["postgres"] : Patroni.portNames),
      "haproxy",
      "redis-1",
      "redis-2",
      "redis-2-replica",
      ...sentinelNames,
      ...nodeNames,
      ...nodeNames.map(runnerOf)
    ],
    sentinel: true,
    standby: mode !== null
  })
  const { adminKey, keySecret, ports, postgresPassword } = memory
  const port = (name: string) => ports[name]!

  const common = {
    binaries,
    user,
    password: postgresPassword,
    keepData: true,
    nodes: nodeNames.length
  }
  const database: Database = yield* mode === null
    ? Effect.gen(function* () {
        const own = { ...common, folder: join(folder, "postgres"), port: port("postgres") }
        const postgres = yield* Server.make(patiently(Postgres.start(own)))
        const url = Postgres.urlOf(own)
        return { url, ports: [own.port], postgres, standby: null, logs: [postgres.log] }
      })
    : Effect.gen(function* () {
        const programs = { ...(yield* Patroni.havePrograms), haproxy }
        const standby = yield* Pair.start({ ...common, keepData: false, programs, folder, port, mode })
        return {
          url: Patroni.urlOfPrimary({ password: postgresPassword, port }),
          ports: standby.members.map((member) => member.port),
          postgres: null,
          standby,
          logs: standby.logs
        }
      })
  const { pair, plainRedis, sentinels, urls } = yield* startPools(folder, port)

  const shared = {
    BASE_URL: `http://127.0.0.1:${port("haproxy")}`,
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
      Effect.gen(function* () {
        const wires = yield* Wire.make(database.ports)
        const hosts = wires.ports.map((at) => `127.0.0.1:${at}`).join(",")
        const databaseUrl = `postgresql://postgres:${postgresPassword}@${hosts}/postgres?target_session_attrs=read-write`
        let ahead_s = 0
        const start = Effect.suspend(() =>
          Nodes.start({
            name,
            folder: join(folder, name),
            role: "all",
            port: port(name),
            runnerPort: port(runnerOf(name)),
            shared: { ...shared, DATABASE_URL: databaseUrl, ...wrongClock(ahead_s) },
            ...(program !== null && { command: [process.execPath, program] })
          })
        )
        const server = yield* Server.make(start)
        const setClock = (seconds: number) => {
          ahead_s = seconds
        }
        return { ...server, port: port(name), wires, setClock } satisfies Node
      }),
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
    databaseUrl: database.url,
    poolUrls: urls.map((url) => Either.getOrThrowWith(RedisUrl.parse(url), (fault) => new Error(fault))),
    nodes,
    postgres: database.postgres,
    standby: database.standby,
    plainRedis,
    emptyPlainRedis: Effect.sync(() =>
      rmSync(join(folder, "redis-1", "appendonlydir"), { recursive: true, force: true })
    ),
    pair,
    sentinelPorts: sentinelNames.map(port),
    logs: [...database.logs, ...[plainRedis, ...pair, ...sentinels, ...nodes, balancer].map(({ log }) => log)]
  }
})
