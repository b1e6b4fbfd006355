import {
  RunnerAddress,
  RunnerHealth,
  Runners,
  Sharding,
  ShardingConfig,
  SocketRunner,
  SqlRunnerStorage,
  MessageStorage
} from "@effect/cluster"
import { NodeClusterSocket } from "@effect/platform-node"
import type { SocketServerError } from "@effect/platform/SocketServer"
import { RpcSerialization } from "@effect/rpc"
import type { SqlError } from "@effect/sql/SqlError"
import { PgClient } from "@effect/sql-pg"
import { Duration, Effect, Layer, Option, Redacted, Schedule } from "effect"

/** Where the other nodes reach this one, and what it does for them. */
export interface RunnerOptions {
  readonly host: string
  readonly port: number
  /** The local address to listen at. */
  readonly listenHost: string
  /** `http`: it owns no actors, and only sends messages. */
  readonly role: "all" | "http"
  readonly databaseUrl: Redacted.Redacted
  /** A name that no other start of any node has. */
  readonly applicationName: string
}

/** Shards that actors are spread over; the same on every node. */
export const shardsPerGroup = 64

/** A node that has not renewed its locks for this long has lost them. */
const lockExpiry = Duration.seconds(6)

/**
 * Runner storage has connections of its own, with two settings that make advisory locks into leases. A killed node's connection is closed by its
 * operating system, which frees its locks at once; a paused node's stays open. `idle_session_timeout` ends it when nothing came for as long as a
 * lock lasts, and a running node renews its locks three times in that time.
 */
const runnerSql = ({ applicationName, databaseUrl }: RunnerOptions) => {
  const url = new URL(Redacted.value(databaseUrl))
  const given = url.searchParams.get("options")
  const idle = `-c idle_session_timeout=${Duration.toMillis(lockExpiry)}`
  url.searchParams.set("options", given === null ? idle : `${given} ${idle}`)
  return PgClient.layer({
    url: Redacted.make(url.href),
    applicationName,
    maxConnections: 4,
    connectTimeout: Duration.seconds(1),
    idleTimeout: Duration.seconds(3)
  })
}

/** Nodes that start at once on a new database can collide in making the tables; the one that loses finds them made. */
const storage = (options: RunnerOptions) =>
  SqlRunnerStorage.layer.pipe(
    Layer.retry(Schedule.recurs(5).pipe(Schedule.addDelay(() => Duration.millis(200)))),
    Layer.provide(runnerSql(options))
  )

/**
 * Whether another node answers. `RunnerHealth.layerPing` tries for 2.5 s and more before it gives up a node that refuses connections,
 * most of the time that a failover takes; this gives up after 0.4 s on refusal and 1.7 s on silence. A node that is given up too early keeps its
 * locks, so nothing but the placement moves.
 */
const health = Layer.effect(
  RunnerHealth.RunnerHealth,
  Effect.map(Runners.Runners, (runners) =>
    RunnerHealth.RunnerHealth.of({
      isAlive: (address) =>
        runners
          .ping(address)
          .pipe(
            Effect.timeout(Duration.millis(500)),
            Effect.retry({ times: 2, schedule: Schedule.spaced(Duration.millis(100)) }),
            Effect.isSuccess
          )
    })
  )
).pipe(Layer.provide(Runners.layerRpc))

const config = ({ host, listenHost, port, role }: RunnerOptions) =>
  ShardingConfig.layer({
    runnerAddress: role === "all" ? Option.some(RunnerAddress.make(host, port)) : Option.none(),
    runnerListenAddress: Option.some(RunnerAddress.make(listenHost, port)),
    shardsPerGroup,
    shardLockExpiration: lockExpiry,
    shardLockRefreshInterval: Duration.seconds(2),
    // How soon a node hears that another one came, went, or was found dead.
    refreshAssignmentsInterval: Duration.millis(500),
    runnerHealthCheckInterval: Duration.millis(500),
    // How soon a shard that was still locked is tried again.
    entityMessagePollInterval: Duration.millis(500),
    sendRetryInterval: Duration.millis(50),
    // An orderly stop waits this long for an actor's requests.
    entityTerminationTimeout: Duration.seconds(3),
    simulateRemoteSerialization: false
  })

/**
 * One runner of many: actors are placed on all runners by `@effect/cluster`, over sockets, with the runners and the locks of their shards in
 * PostgreSQL. No message is persisted, because every actor's state is a cache of the store and every request is answered or failed at once.
 */
export const layer = (
  options: RunnerOptions
): Layer.Layer<Sharding.Sharding, SocketServerError | SqlError> => {
  const runner =
    options.role === "all"
      ? SocketRunner.layer.pipe(Layer.provide([NodeClusterSocket.layerSocketServer, health]))
      : SocketRunner.layerClientOnly
  return runner.pipe(
    Layer.provide(NodeClusterSocket.layerClientProtocol),
    Layer.provide([MessageStorage.layerNoop, storage(options)]),
    Layer.provide(config(options)),
    Layer.provide(RpcSerialization.layerMsgPack)
  )
}
