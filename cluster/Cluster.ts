// A cluster of this machine's processes.

import { Deferred, Effect, type Scope } from "effect"
import { join } from "node:path"
import { adminEmail } from "../src/accounts/Administrator.ts"
import { isFree } from "../test/support/FreePort.ts"
import type { RunAs } from "../test/support/services/Command.ts"
import {
  type Binaries,
  findBinaries,
  installBinaries,
  machinePaths,
  serverUser
} from "../test/support/services/postgres/PostgresBinaries.ts"
import { findOrInstall } from "../test/support/services/Programs.ts"
import {
  findProgram as findRedis,
  installProgram as installRedis
} from "../test/support/services/redis/RedisServer.ts"
import { Unavailable } from "../test/support/services/Service.ts"
import type { Arguments } from "./Arguments.ts"
import * as Folder from "./Folder.ts"
import * as Haproxy from "./Haproxy.ts"
import type { Launched } from "./Launch.ts"
import * as Nodes from "./Nodes.ts"
import * as Patroni from "./Patroni.ts"
import * as Postgres from "./Postgres.ts"
import * as Redis from "./Redis.ts"
import { type Watch, supervise, watchOver } from "./Watch.ts"

/** A server of the cluster, as others may talk to it. */
export interface Member {
  readonly name: string
  readonly pid: number
  readonly url: string
  readonly log: string
}

/** A node of the cluster. */
export interface NodeMember extends Member {
  readonly role: "all" | "http"
}

/** A cluster that is up. */
export interface Running {
  /** What short URLs begin with, and where clients go. */
  readonly url: string
  readonly adminKey: string
  /** With these one signs in as the administrator, unless the password was changed. */
  readonly adminEmail: string
  readonly adminPassword: string
  readonly folder: string
  /** Who keeps all of it: it ends when this process does. */
  readonly pid: number
  readonly loadBalancer: Member & { readonly socket: string }
  readonly nodes: ReadonlyArray<NodeMember>
  /** PostgreSQL, or with a standby the HAProxy that leads to the primary. */
  readonly postgres: Member
  /** With a standby: its servers, either of which is the primary, and etcd. */
  readonly failover: ReadonlyArray<Member>
  readonly redis: ReadonlyArray<Member>
  readonly sentinels: ReadonlyArray<Member>
}

/** Beside the arguments: whom to tell, in one line each, what happens to a cluster after it came up. */
export interface Options extends Arguments {
  readonly notify: Watch["notify"]
  /** Environment variables of the nodes, beside their settings. */
  readonly variables?: NodeJS.ProcessEnv
}

const numbered = (name: string, count: number): ReadonlyArray<string> =>
  Array.from({ length: count }, (_, index) => `${name}-${index + 1}`)

const member = ({ log, name, pid }: Launched, url: string): Member => ({ name, pid, url, log })

/** PostgreSQL's, Redis' and HAProxy's programs, installed where they are missing; one after the other, as they would wait for one lock. */
export const programs = Effect.gen(function* () {
  const findPostgres = Effect.flatMap(serverUser, (user) =>
    Effect.map(findBinaries(machinePaths(), user), (binaries) => ({ binaries, user }))
  )
  const postgres = yield* findOrInstall(findPostgres, installBinaries)
  const redis = yield* findOrInstall(findRedis(), installRedis)
  const haproxy = yield* Haproxy.haveProgram
  return { postgres, redis, haproxy }
})

/** Names of everything that needs a port, by kind. */
const namesOf = ({ httpNodes, nodes, pools, sentinel, standby }: Arguments) => {
  const redis = numbered("redis", pools)
  const names = {
    nodes: [...numbered("node", nodes), ...numbered("http", httpNodes)],
    redis,
    replicas: sentinel ? redis.map((name) => `${name}-replica`) : [],
    sentinels: sentinel ? numbered("sentinel", 3) : [],
    database: standby === null ? ["postgres"] : Patroni.portNames
  }
  const runners = names.nodes.map((name) => `${name}-runner`)
  return { ...names, all: [...Object.values(names).flat(), ...runners] }
}

interface Site {
  readonly options: Options
  readonly watch: Watch
  readonly folder: string
  readonly names: ReturnType<typeof namesOf>
  readonly port: (name: string) => number
}

/** PostgreSQL, alone or with a standby; gives what the nodes have to know of it. */
const startDatabase = Effect.fn("startDatabase")(function* (
  { folder, names, options, port }: Site,
  {
    binaries,
    haproxy,
    user
  }: { readonly binaries: Binaries; readonly user: RunAs; readonly haproxy: string },
  password: string
) {
  const common = { binaries, user, password, keepData: options.dir !== null, nodes: names.nodes.length }
  if (options.standby === null) {
    const database = { ...common, folder: join(folder, "postgres"), port: port("postgres") }
    const server = yield* Postgres.start(database)
    const url = Postgres.urlOf(database)
    return { shared: { DATABASE_URL: url }, postgres: member(server, url), failover: [], launched: [server] }
  }
  const programs = { ...(yield* Patroni.havePrograms), haproxy }
  const { balancer, etcd, members } = yield* Patroni.start({
    ...common,
    programs,
    folder,
    port,
    mode: options.standby
  })
  const url = Patroni.urlOfPrimary({ password, port })
  const urls = Patroni.urlsOfServers({ password, port })
  return {
    shared: { DATABASE_URL: url, DATABASE_REPLICA_URLS: urls.join(",") },
    postgres: member(balancer, url),
    failover: [
      ...members.map((server, index) => member(server, urls[index]!)),
      member(etcd, `http://127.0.0.1:${port("etcd")}`)
    ],
    launched: [etcd, ...members, balancer]
  }
})

/** All Redis servers, and the Sentinels where they are wanted; gives what `REDIS_URLS` has to say. */
const startPools = Effect.fn("startPools")(function* (
  { folder, names, options, port }: Site,
  program: string
) {
  const optionsOf = (name: string): Redis.RedisOptions => ({
    name,
    program,
    folder: join(folder, name),
    port: port(name),
    isSelfConfiguring: options.sentinel
  })
  const started = yield* Effect.forEach(
    [...names.redis, ...names.replicas],
    (name) => {
      const primary = name.replace(/-replica$/, "")
      return Redis.start({ ...optionsOf(name), ...(primary !== name && { replicaOf: port(primary) }) })
    },
    { concurrency: 4 }
  )
  const pools = names.redis.map((name, index) => ({ name: `pool-${index + 1}`, port: port(name) }))
  const sentinels = yield* Effect.forEach(
    names.sentinels,
    (name) => Redis.startSentinel(optionsOf(name), pools),
    { concurrency: 4 }
  )
  yield* Effect.forEach(names.sentinels, (name) => Redis.awaitWatch(port(name), pools), { concurrency: 4 })
  const urls = pools.map((pool) =>
    options.sentinel ? Redis.sentinelUrlOf(names.sentinels.map(port), pool.name) : Redis.urlOf(pool.port)
  )
  return {
    urls: urls.join(","),
    redis: started.map((server) => member(server, Redis.urlOf(port(server.name)))),
    sentinels: sentinels.map((server) => member(server, Redis.urlOf(port(server.name)))),
    launched: [...started, ...sentinels]
  }
})

const startNode = (
  { folder, port, watch }: Site,
  name: string,
  shared: NodeJS.ProcessEnv
): Effect.Effect<NodeMember, Unavailable, Scope.Scope> => {
  const role = name.startsWith("http-") ? "http" : "all"
  const start = Nodes.start({
    name,
    folder: join(folder, name),
    role,
    port: port(name),
    runnerPort: port(`${name}-runner`),
    shared
  })
  return Effect.map(supervise(start, watch), (node) => ({
    ...member(node, `http://127.0.0.1:${port(name)}`),
    role
  }))
}

/** All nodes, at once, and at once to their end. */
const startNodes = (site: Site, shared: NodeJS.ProcessEnv) =>
  Effect.parallelFinalizers(
    Effect.forEach(site.names.nodes, (name) => startNode(site, name, shared), { concurrency: "unbounded" })
  )

/** What servers are watched by, and what to run last of all: the cluster is up, and being stopped when the scope closes. */
const makeWatch = Effect.fn("makeWatch")(function* ({ notify, restart }: Options) {
  const up = yield* Deferred.make<void>()
  let isStopping = false
  const watch: Watch = { notify, restart, up: Deferred.await(up), isStopping: () => isStopping }
  const isUp = Effect.acquireRelease(Deferred.succeed(up, undefined), () =>
    Effect.sync(() => {
      isStopping = true
    })
  )
  return { watch, isUp }
})

const portOf = Effect.fn("portOf")(function* ({ port }: Arguments) {
  if (port === 0) return null
  if (yield* isFree(port)) return port
  return yield* new Unavailable({ reason: `Port ${port} of 127.0.0.1 is taken: choose another with --port` })
})

/**
 * Starts all of a cluster: PostgreSQL first, then the pools, the nodes, and HAProxy when every node is ready. It stops in the
 * reverse order when the scope closes; when this process ends otherwise, `kill -9` included, all of it stops at once.
 */
export const start = Effect.fn("Cluster.start")(function* (
  options: Options
): Effect.fn.Return<Running, Unavailable, Scope.Scope> {
  const given = yield* portOf(options)
  const { haproxy, postgres, redis } = yield* programs
  const folder = yield* Folder.open(options.dir, postgres.user)
  const names = namesOf(options)
  const { sentinel, standby } = options
  const wanted = { names: [...names.all, "haproxy"], sentinel, standby: standby !== null }
  const { memory, write } = yield* Folder.recall(folder, wanted)
  const { adminKey, keySecret, ports, postgresPassword: password } = memory
  const port = (name: string) => ports[name]!
  const { isUp, watch } = yield* makeWatch(options)
  const site: Site = { options, watch, folder, names, port }

  const database = yield* startDatabase(site, { ...postgres, haproxy }, password)
  // PostgreSQL lets nobody else into its data, so the folder is ours by now.
  yield* write(memory)
  const pools = yield* startPools(site, redis)
  yield* watchOver([...database.launched, ...pools.launched], watch)

  const publicPort = given ?? port("haproxy")
  const url = process.env["BASE_URL"] ?? `http://localhost:${publicPort}`
  const shared = {
    BASE_URL: url,
    ...database.shared,
    REDIS_URLS: pools.urls,
    ADMIN_API_KEY: adminKey,
    KEY_SECRET: keySecret
  }
  const nodes = yield* startNodes(site, { ...shared, ...options.variables })
  const adminPassword = memory.adminPassword ?? (yield* Nodes.setAdminPassword(shared))
  yield* write({ ...memory, adminPassword })
  const haproxyFolder = join(folder, "haproxy")
  const balancer = yield* Haproxy.start({
    program: haproxy,
    folder: haproxyFolder,
    port: publicPort,
    nodes: nodes.map(({ name }) => ({ name, address: `127.0.0.1:${port(name)}` }))
  })
  yield* watchOver([balancer], watch)
  yield* isUp

  return {
    url,
    adminKey,
    adminEmail,
    adminPassword,
    folder,
    pid: process.pid,
    loadBalancer: {
      ...member(balancer, `http://127.0.0.1:${publicPort}`),
      socket: Haproxy.socketIn(haproxyFolder)
    },
    nodes,
    postgres: database.postgres,
    failover: database.failover,
    redis: pools.redis,
    sentinels: pools.sentinels
  }
})
