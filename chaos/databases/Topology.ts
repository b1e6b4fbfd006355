// The cluster whose links are moved: several servers of PostgreSQL, a Redis, and three nodes behind a load balancer.

import { Effect, type Scope } from "effect"
import { join } from "node:path"
import * as Folder from "../../cluster/Folder.ts"
import * as Haproxy from "../../cluster/Haproxy.ts"
import type { Launched } from "../../cluster/Launch.ts"
import * as Nodes from "../../cluster/Nodes.ts"
import * as Postgres from "../../cluster/Postgres.ts"
import * as Redis from "../../cluster/Redis.ts"
import {
  findBinaries,
  machinePaths,
  serverUser
} from "../../test/support/services/postgres/PostgresBinaries.ts"
import { findProgram as findRedis } from "../../test/support/services/redis/RedisServer.ts"
import type { Unavailable } from "../../test/support/services/Service.ts"
import * as Server from "../Server.ts"
import { nodeNames, patiently } from "../Topology.ts"

/** A server of PostgreSQL, with one database of links. */
export interface Database extends Server.Server {
  readonly databaseUrl: string
}

/** A cluster that is up. */
export interface Topology {
  readonly folder: string
  /** Where the load balancer listens. */
  readonly port: number
  readonly adminKey: string
  /** By number: the first one is the control database. */
  readonly databases: ReadonlyArray<Database>
  /** What names the databases, and the cluster, to programs. */
  readonly variables: Readonly<Record<string, string>>
  readonly nodes: ReadonlyArray<Server.Server & { readonly port: number }>
  readonly balancer: Launched
  /** The logs of all servers. */
  readonly logs: ReadonlyArray<string>
}

/** Starts all of it; it stops, and its folder goes, when the scope closes or this process ends. */
export const start = Effect.fn("databases.Topology.start")(function* (
  count: number
): Effect.fn.Return<Topology, Unavailable, Scope.Scope> {
  const user = yield* serverUser
  const binaries = yield* findBinaries(machinePaths(), user)
  const haproxy = yield* Haproxy.haveProgram
  const redis = yield* findRedis()
  const folder = yield* Folder.open(null, user)
  const databaseNames = Array.from({ length: count }, (_, number) => `postgres-${number}`)
  const runnerOf = (name: string) => `${name}-runner`
  const { memory } = yield* Folder.recall(folder, {
    names: ["haproxy", "redis", ...databaseNames, ...nodeNames, ...nodeNames.map(runnerOf)],
    sentinel: false,
    standby: false
  })
  const { adminKey, keySecret, postgresPassword: password } = memory
  const port = (name: string) => memory.ports[name]!

  const databases = yield* Effect.forEach(
    databaseNames,
    (name) =>
      Effect.gen(function* () {
        const own = {
          binaries,
          user,
          password,
          keepData: true,
          nodes: nodeNames.length,
          name,
          folder: join(folder, name),
          port: port(name),
          // As docs/operations.md has it for servers between which links are moved.
          settings: { wal_level: "logical" }
        }
        const server = yield* Server.make(patiently(Postgres.start(own)))
        return { ...server, databaseUrl: Postgres.urlOf(own) } satisfies Database
      }),
    { concurrency: "unbounded" }
  )
  const pool = yield* Server.make(
    patiently(
      Redis.start({
        name: "redis",
        program: redis,
        folder: join(folder, "redis"),
        port: port("redis"),
        isSelfConfiguring: false
      })
    )
  )
  const [control, ...others] = databases.map(({ databaseUrl }) => databaseUrl)
  const variables = {
    DATABASE_URL: control!,
    LINK_DATABASE_URLS: others.join(","),
    BASE_URL: `http://127.0.0.1:${port("haproxy")}`
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
            shared: {
              ...variables,
              REDIS_URLS: Redis.urlOf(port("redis")),
              ADMIN_API_KEY: adminKey,
              KEY_SECRET: keySecret,
              LOG_FORMAT: "json"
            }
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
    databases,
    variables,
    nodes,
    balancer,
    logs: [...databases, pool, ...nodes, balancer].map(({ log }) => log)
  }
})
