// The cluster's PostgreSQL as a primary and its standby, under Patroni, with etcd and a HAProxy that leads to the primary.

import { Effect, identity, Schedule, type Scope } from "effect"
import { readFileSync } from "node:fs"
import { delimiter, dirname, join } from "node:path"
import { installPackage, installServer } from "../test/support/services/Apt.ts"
import type { RunAs } from "../test/support/services/Command.ts"
import type { Command } from "../test/support/services/Keeper.ts"
import { writeSecret } from "../test/support/services/OwnServer.ts"
import type { Binaries } from "../test/support/services/postgres/PostgresBinaries.ts"
import { serverVersion } from "../test/support/services/postgres/PostgresServer.ts"
import { findOrInstall, firstFit, inFolders } from "../test/support/services/Programs.ts"
import { Unavailable } from "../test/support/services/Service.ts"
import { type Launched, launch, makeFolder } from "./Launch.ts"
import { connectionsFor, urlOf } from "./Postgres.ts"
import { inRepository } from "./Repository.ts"

/** Whether a commit waits for the standby. */
export type StandbyMode = "sync" | "async"

/** The paths of the programs, and what they speak. */
export interface Programs {
  readonly patroni: string
  readonly etcd: string
  /**
   * Which of etcd's interfaces Patroni uses. Before 3.0.3 it can take the lock of another primary by version 3, when it
   * goes on after it stood still (patroni/patroni#2689), and before 3.1 it can lose sight of the synchronous standby
   * (patroni/patroni#2783).
   */
  readonly etcdApi: 2 | 3
}

const isBefore = (version: string, other: string) => version.localeCompare(other, "en", { numeric: true }) < 0

const find = (product: string, program: string, version: RegExp, oldest: string) =>
  Effect.suspend(() =>
    Effect.map(
      firstFit(
        {
          product,
          versionArgument: "--version",
          version,
          isOld: (found) => isBefore(found, oldest),
          none: `no ${program} ${oldest} or newer in PATH`
        },
        inFolders(program, (process.env["PATH"] ?? "").split(delimiter))
      ),
      ({ program, version }) => ({ program, version })
    )
  )

/** Patroni 3 and etcd 3.4 of this machine. Their names in the configuration are those of these versions and newer ones. */
export const findPrograms: Effect.Effect<Programs, Unavailable> = Effect.all({
  patroni: find("Patroni", "patroni", /patroni (\d[\w.]*)/, "3.0"),
  etcd: find("etcd", "etcd", /etcd Version: (\d[\w.]*)/, "3.4")
}).pipe(
  Effect.map(({ etcd, patroni }) => ({
    patroni: patroni.program,
    etcd: etcd.program,
    etcdApi: isBefore(patroni.version, "3.1") ? 2 : 3
  }))
)

/** The same, installed where they are missing. */
export const havePrograms: Effect.Effect<Programs, Unavailable> = findOrInstall(
  findPrograms,
  installServer({ name: "etcd", package: "etcd-server" }).pipe(
    Effect.zipRight(installServer({ name: "Patroni", package: "patroni" })),
    // Which Patroni needs for version 2.
    Effect.zipRight(installPackage({ name: "etcd's client", package: "python3-etcd" }, identity))
  )
)

/** Names of the two servers, either of which can be the primary. */
export const memberNames = ["postgres-1", "postgres-2"] as const

/** The port at which a server's Patroni answers, by its name in the list of ports. */
export const restOf = (member: string): string => `${member}-patroni`

/** Names of everything here that needs a port. */
export const portNames: ReadonlyArray<string> = [
  "etcd",
  "etcd-peer",
  "haproxy-postgres",
  ...memberNames,
  ...memberNames.map(restOf)
]

/** Where and how to run all of it. */
export interface PatroniOptions {
  readonly programs: Programs & { readonly haproxy: string }
  readonly binaries: Binaries
  readonly user: RunAs
  /** The cluster's folder. */
  readonly folder: string
  /** Whether the data is to outlive the cluster. */
  readonly keepData: boolean
  readonly port: (name: string) => number
  readonly password: string
  /** Nodes that will connect. */
  readonly nodes: number
  readonly mode: StandbyMode
}

const host = "127.0.0.1"

/** What Patroni keeps in etcd of how the servers are to be run. `PATCH /config` changes it while they run. */
export const dynamicConfiguration = (mode: StandbyMode) => ({
  // A primary that is gone without a word is replaced after `ttl`; one whose server has crashed within a second or two.
  ttl: 20,
  loop_wait: 1,
  retry_timeout: 3,
  primary_start_timeout: 0,
  // An asynchronous standby may lack so many bytes of log and yet take the primary's place.
  maximum_lag_on_failover: 64 * 1024 * 1024,
  synchronous_mode: mode === "sync"
})

/** A folder of its own around the data, on which another file system can be mounted. */
const dataIn = (home: string) => join(home, "disk", "data")

const configurationOf = (options: PatroniOptions, name: string, home: string) => {
  const { binaries, mode, nodes, password, port, programs } = options
  const listen = `${host}:${port(name)}`
  const rest = `${host}:${port(restOf(name))}`
  const superuser = { username: "postgres", password }
  return {
    scope: "linkmint",
    name,
    restapi: { listen: rest, connect_address: rest },
    [programs.etcdApi === 2 ? "etcd" : "etcd3"]: { hosts: [`${host}:${port("etcd")}`] },
    bootstrap: {
      dcs: {
        ...dynamicConfiguration(mode),
        postgresql: { use_pg_rewind: true, parameters: { max_connections: connectionsFor(nodes) } }
      },
      initdb: [{ encoding: "UTF8" }, { locale: "C" }, { "auth-host": "scram-sha-256" }, "data-checksums"]
    },
    postgresql: {
      listen,
      connect_address: listen,
      data_dir: dataIn(home),
      bin_dir: binaries.folder,
      pgpass: join(home, "pgpass"),
      authentication: { superuser, replication: superuser, rewind: superuser },
      pg_hba: [`host all all ${host}/32 scram-sha-256`, `host replication all ${host}/32 scram-sha-256`],
      parameters: { unix_socket_directories: "" },
      remove_data_directory_on_rewind_failure: true,
      remove_data_directory_on_diverged_timelines: true
    }
  }
}

/** A Patroni's own server is no child of it, and outlives its kill; and one that stands still hears nothing. */
const endServer = (binaries: Binaries, home: string): Command => [
  "/bin/sh",
  "-c",
  `pid=$(head -n 1 "$0/postmaster.pid") || exit 0
kill -CONT $pid $(cat /proc/$pid/task/$pid/children)
"$1" stop -D "$0" -m immediate -t 5 || kill -KILL $pid`,
  dataIn(home),
  join(binaries.folder, "pg_ctl")
]

const get = (port: number, path: string) =>
  Effect.tryPromise(() => fetch(`http://${host}:${port}${path}`, { signal: AbortSignal.timeout(2_000) }))

/** Makes the folder that a server's data is in, and gives its path. */
export const makeDisk = ({ folder, user }: PatroniOptions, name: string): Effect.Effect<string> =>
  Effect.sync(() => {
    const disk = dirname(dataIn(join(folder, name)))
    makeFolder(dirname(disk), user)
    makeFolder(disk, user)
    return disk
  })

/** The process id of a server's postmaster, by the file that it keeps. */
export const postmasterOf = (folder: string, name: string): number =>
  Number(readFileSync(join(dataIn(join(folder, name)), "postmaster.pid"), "utf8").split("\n")[0])

/** Starts etcd, one server of it: enough to try a failover of PostgreSQL, not one of its own. */
export const startEtcd = ({ folder, keepData, port, programs }: PatroniOptions) => {
  const client = `http://${host}:${port("etcd")}`
  const peer = `http://${host}:${port("etcd-peer")}`
  const home = join(folder, "etcd")
  return launch({
    name: "etcd",
    folder: home,
    env: { PATH: process.env["PATH"], LC_ALL: "C" },
    commands: [
      [
        programs.etcd,
        "--name=etcd",
        `--data-dir=${join(home, "data")}`,
        `--listen-client-urls=${client}`,
        `--advertise-client-urls=${client}`,
        `--listen-peer-urls=${peer}`,
        `--initial-advertise-peer-urls=${peer}`,
        `--initial-cluster=etcd=${peer}`,
        "--force-new-cluster",
        ...(programs.etcdApi === 2 ? ["--enable-v2"] : []),
        "--logger=zap",
        "--log-level=warn"
      ]
    ],
    signal: keepData ? "TERM" : "KILL",
    answers: Effect.filterOrFail(get(port("etcd"), "/health"), ({ ok }) => ok),
    limit: "20 seconds"
  })
}

/** Starts a server and its Patroni, which makes it the primary or the standby. Its `pid` is the Patroni's. */
export const startMember = Effect.fn("Patroni.startMember")(function* (
  options: PatroniOptions,
  name: (typeof memberNames)[number]
): Effect.fn.Return<Launched, Unavailable, Scope.Scope> {
  const { binaries, folder, keepData, port, programs, user } = options
  const home = join(folder, name)
  const file = join(home, "patroni.json")
  yield* makeDisk(options, name)
  return yield* launch({
    name,
    folder: home,
    user,
    prepare: () => writeSecret(file, JSON.stringify(configurationOf(options, name, home), null, 2), user),
    env: { PATH: process.env["PATH"], LC_ALL: "C" },
    commands: [[programs.patroni, file]],
    cleanup: endServer(binaries, home),
    // In order the standby would be waited for, and the data be written once more: for nothing, where it goes.
    signal: keepData ? "TERM" : "KILL",
    answers: Effect.filterOrFail(get(port(restOf(name)), "/health"), ({ ok }) => ok),
    limit: "90 seconds"
  })
})

/** What Patroni says of one server: `leader`, `replica`, `sync_standby`. */
export interface MemberState {
  readonly name: string
  readonly role: string
  readonly state: string
  readonly timeline?: number
}

/** What a Patroni knows of all of them. */
export const states = (restPort: number): Effect.Effect<ReadonlyArray<MemberState>, Unavailable> =>
  get(restPort, "/cluster").pipe(
    Effect.flatMap((response) => Effect.tryPromise(() => response.json())),
    Effect.map((body) => (body as { readonly members: ReadonlyArray<MemberState> }).members),
    Effect.mapError(() => new Unavailable({ reason: `Patroni at port ${restPort} does not answer` }))
  )

/** Whether there is a primary, and a standby that follows it and, in the mode `sync`, is waited for. */
export const isWhole = (members: ReadonlyArray<MemberState>, mode: StandbyMode): boolean => {
  const standby = members.find(({ role }) => role === (mode === "sync" ? "sync_standby" : "replica"))
  return (
    members.some(({ role, state }) => role === "leader" && state === "running") &&
    (standby?.state === "running" || standby?.state === "streaming") &&
    standby.timeline === members.find(({ role }) => role === "leader")?.timeline
  )
}

/** Waits until that is so by the word of either Patroni, 90 s at most. */
export const awaitWhole = (
  restPorts: ReadonlyArray<number>,
  mode: StandbyMode
): Effect.Effect<void, Unavailable> =>
  Effect.firstSuccessOf(restPorts.map(states)).pipe(
    Effect.map((members) => isWhole(members, mode)),
    Effect.orElseSucceed(() => false),
    Effect.repeat({ schedule: Schedule.spaced("200 millis"), until: (is) => is }),
    Effect.timeoutFail({
      duration: "90 seconds",
      onTimeout: () => new Unavailable({ reason: "PostgreSQL's standby did not follow its primary in time" })
    })
  )

/** Tells Patroni how the servers are to be run from now on. */
export const configure = (restPort: number, mode: StandbyMode): Effect.Effect<void, Unavailable> =>
  Effect.tryPromise(() =>
    fetch(`http://${host}:${restPort}/config`, {
      method: "PATCH",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(dynamicConfiguration(mode)),
      signal: AbortSignal.timeout(5_000)
    })
  ).pipe(
    Effect.filterOrFail(({ ok }) => ok),
    Effect.mapError(() => new Unavailable({ reason: `Patroni at port ${restPort} took no configuration` })),
    Effect.asVoid
  )

/** Whether the server of this Patroni is the primary; one that does not answer is none. */
export const isPrimary = (restPort: number): Effect.Effect<boolean> =>
  Effect.orElseSucceed(
    Effect.map(get(restPort, "/primary"), ({ status }) => status === 200),
    () => false
  )

/** Asks the primary's Patroni to let the standby take its place. Comes when it has, or fails as Patroni says. */
export const switchOver = (restPort: number, leader: string): Effect.Effect<void, Unavailable> =>
  Effect.tryPromise(async () => {
    const response = await fetch(`http://${host}:${restPort}/switchover`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ leader }),
      signal: AbortSignal.timeout(30_000)
    })
    if (!response.ok) throw new Error(await response.text())
  }).pipe(
    Effect.mapError(({ cause }) => new Unavailable({ reason: `No switchover: ${String(cause)}` })),
    Effect.asVoid
  )

/** The URL at which the primary is, by way of HAProxy. */
export const urlOfPrimary = ({ password, port }: Pick<PatroniOptions, "password" | "port">): string =>
  urlOf({ password, port: port("haproxy-postgres") })

/** The URLs of the servers themselves. */
export const urlsOfServers = ({
  password,
  port
}: Pick<PatroniOptions, "password" | "port">): ReadonlyArray<string> =>
  memberNames.map((name) => urlOf({ password, port: port(name) }))

/** Starts the HAProxy that leads to the primary, and waits until it does. */
export const startBalancer = (options: PatroniOptions) => {
  const { folder, port, programs } = options
  const home = join(folder, "haproxy-postgres")
  return launch({
    name: "haproxy-postgres",
    folder: home,
    commands: [[programs.haproxy, "-db", "-f", inRepository("haproxy/postgres.cfg")]],
    env: {
      PATH: process.env["PATH"],
      LISTEN: `${host}:${port("haproxy-postgres")}`,
      ...Object.fromEntries(
        memberNames.flatMap((name, index) => [
          [`POSTGRES_${index + 1}`, `${host}:${port(name)}`],
          [`PATRONI_${index + 1}`, String(port(restOf(name)))]
        ])
      )
    },
    signal: "TERM",
    answers: serverVersion(urlOfPrimary(options)),
    limit: "20 seconds"
  })
}

/** All that runs. */
export interface Started {
  readonly etcd: Launched
  readonly members: ReadonlyArray<Launched>
  readonly balancer: Launched
}

/** Starts etcd, both servers and HAProxy; comes when the standby follows the primary. */
export const start = Effect.fn("Patroni.start")(function* (
  options: PatroniOptions
): Effect.fn.Return<Started, Unavailable, Scope.Scope> {
  const { mode, port } = options
  const etcd = yield* startEtcd(options)
  const members = yield* Effect.parallelFinalizers(
    Effect.forEach(memberNames, (name) => startMember(options, name), { concurrency: "unbounded" })
  )
  const restPorts = memberNames.map((name) => port(restOf(name)))
  yield* configure(restPorts[0]!, mode)
  yield* awaitWhole(restPorts, mode)
  const balancer = yield* startBalancer(options)
  return { etcd, members, balancer }
})
