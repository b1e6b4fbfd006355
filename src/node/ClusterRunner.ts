import {
  ClusterError,
  RunnerAddress,
  RunnerHealth,
  Runners,
  RunnerStorage,
  Sharding,
  ShardingConfig,
  SocketRunner,
  SqlRunnerStorage,
  MessageStorage
} from "@effect/cluster"
import { NodeClusterSocket } from "@effect/platform-node"
import type { SocketServer, SocketServerError } from "@effect/platform/SocketServer"
import { RpcSerialization } from "@effect/rpc"
import { SqlClient } from "@effect/sql/SqlClient"
import type { Connection } from "@effect/sql/SqlConnection"
import type { SqlError } from "@effect/sql/SqlError"
import { Duration, Effect, Layer, Option, Schedule } from "effect"
import { shardsPerGroup } from "../actors/Shards.ts"
import * as Metered from "../telemetry/Metered.ts"
import * as Pulse from "../time/Pulse.ts"
import * as RunnerProtocol from "./RunnerProtocol.ts"
import type { DatabaseServers } from "../storage/sql/postgres/DatabaseServers.ts"
import * as PostgresClient from "../storage/sql/postgres/PostgresClient.ts"

/** The address at which other nodes reach this one, and its role. */
export interface RunnerIdentity {
  readonly host: string
  readonly port: number
  /** The local address to listen at. */
  readonly listenHost: string
  /** `http`: it owns no actors, and only sends messages. */
  readonly role: "all" | "http"
}

/** A node, and the database that it shares with the others. */
export interface RunnerOptions extends RunnerIdentity {
  /** A name that is unique to this start of this node. */
  readonly applicationName: string
}

const shardMoves = Metered.countersBy(
  "linkmint_shard_moves_total",
  "Shards that came to this node, and that it gave to others",
  "direction",
  ["acquired", "released"]
)

/** A failover begins with this: the shards of such a node move to others. */
const runnersLost = Metered.counter(
  "linkmint_runners_lost_total",
  "Nodes that this one found not to answer, so that their shards go to others"
)

/** A node that has not renewed its locks for this long has lost them. */
export const lockExpiry = Duration.seconds(6)

/** How often a node looks whether another one was added, removed or found dead, how often one of them checks that all answer, and how soon a node tries again to lock shards. */
const pollEvery = Duration.millis(500)

/** How often a node renews its locks, and how long each attempt may take. */
const lockRefreshInterval = Duration.seconds(2)

/**
 * The bounds of runner storage's connections. When a connection does not answer a renewal, the connection is given up with it: the library would take
 * the same one from the pool again, until TCP gives it up.
 */
export const connections = {
  maxConnections: 4,
  connectTimeout: Duration.seconds(1),
  answerTimeout: lockRefreshInterval,
  idleTimeout: Duration.seconds(3),
  /**
   * It turns advisory locks into leases. When a node is killed, its operating system closes the connection, which frees the locks at once; a paused node's connection stays
   * open. `idle_session_timeout` ends it after a lock's lifetime without a statement, and a running node renews its locks three times in that time.
   */
  bounds: { idle_ms: Duration.toMillis(lockExpiry) }
}

/**
 * The same connection, on which a statement waits for the one before. `SqlRunnerStorage` releases many shards at once, all on one: `pg` 9 refuses a statement while another is under way; and
 * `@effect/sql-pg` 0.53, to interrupt one that waits in `pg`, cancels the one that is under way.
 */
const inTurns = (connection: Connection): Connection => {
  const turn = Effect.unsafeMakeSemaphore(1).withPermits(1)
  return {
    execute: (...args) => turn(connection.execute(...args)),
    executeRaw: (...args) => turn(connection.executeRaw(...args)),
    executeStream: (...args) => connection.executeStream(...args),
    executeValues: (...args) => turn(connection.executeValues(...args)),
    executeUnprepared: (...args) => turn(connection.executeUnprepared(...args))
  }
}

/** The client on whose reserved connections statements take turns. */
export const turnTaking: Layer.Layer<SqlClient, never, SqlClient> = Layer.effect(
  SqlClient,
  Effect.map(SqlClient, (sql) => Object.assign(sql, { reserve: Effect.map(sql.reserve, inTurns) }))
)

/** Runner storage has its own connections, with bounds of their own. */
export const runnerSql = (applicationName: string) =>
  PostgresClient.layerBounded({ applicationName, ...connections })

/** How long a graceful shutdown waits for an actor's requests. */
export const actorEndMax = Duration.seconds(3)

/** How long a node that shuts down tries to unregister from the database. */
const goodbyeMax = Duration.seconds(3)

/**
 * Bounds a statement of a runner that shuts down. It runs in a finalizer, where nothing is interrupted, so the deadlines of `SqlRunnerStorage` have
 * no effect, and a node whose database does not answer would never stop. Its locks end with its sessions in any case.
 */
const withinGoodbye = <A>(self: Effect.Effect<A, ClusterError.PersistenceError>) =>
  self.pipe(
    Effect.disconnect,
    Effect.interruptible,
    Effect.timeoutFail({
      duration: goodbyeMax,
      onTimeout: () => new ClusterError.PersistenceError({ cause: new Error("not answered in time") })
    })
  )

/**
 * The storage of runners and of the locks of their shards. Nodes that start at once on a new database can collide when they create the tables; the
 * one that fails finds them when it tries again.
 */
export const storage = Layer.effect(
  RunnerStorage.RunnerStorage,
  Effect.map(RunnerStorage.RunnerStorage, (runners) =>
    RunnerStorage.RunnerStorage.of({
      ...runners,
      acquire: (address, shardIds) =>
        Effect.tap(runners.acquire(address, shardIds), ({ length }) =>
          Effect.sync(() => Metered.add(shardMoves.acquired, length))
        ),
      release: (address, shardId) =>
        Effect.tap(runners.release(address, shardId), () =>
          Effect.sync(() => Metered.add(shardMoves.released))
        ),
      setRunnerHealth: (address, isHealthy) =>
        Effect.tap(runners.setRunnerHealth(address, isHealthy), () =>
          Effect.sync(() => {
            if (!isHealthy) Metered.add(runnersLost)
          })
        ),
      unregister: (address) => withinGoodbye(runners.unregister(address)),
      releaseAll: (address) => withinGoodbye(runners.releaseAll(address))
    })
  )
).pipe(
  Layer.provide(
    SqlRunnerStorage.layer.pipe(
      Layer.retry(Schedule.recurs(5).pipe(Schedule.addDelay(() => Duration.millis(200)))),
      Layer.provide(turnTaking)
    )
  )
)

/**
 * Checks whether another node answers. `RunnerHealth.layerPing` tries for 2.5 s and more before it gives up a node that refuses connections,
 * which is most of a failover's time. This one gives up after 0.4 s of refusals and 1.7 s of silence. A node that is given up too early keeps its
 * locks, so only the placement changes.
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

/** The configuration that all runners share. */
export const config = ({ host, listenHost, port, role }: RunnerIdentity) =>
  ShardingConfig.layer({
    runnerAddress: role === "all" ? Option.some(RunnerAddress.make(host, port)) : Option.none(),
    runnerListenAddress: Option.some(RunnerAddress.make(listenHost, port)),
    shardsPerGroup,
    shardLockExpiration: lockExpiry,
    shardLockRefreshInterval: lockRefreshInterval,
    refreshAssignmentsInterval: pollEvery,
    runnerHealthCheckInterval: pollEvery,
    entityMessagePollInterval: pollEvery,
    sendRetryInterval: Duration.millis(50),
    entityTerminationTimeout: actorEndMax,
    simulateRemoteSerialization: false
  })

/** What a runner needs: a network, and a database. */
export interface RunnerGround<R> {
  readonly server: Layer.Layer<SocketServer, SocketServerError, ShardingConfig.ShardingConfig>
  readonly clientProtocol: Layer.Layer<Runners.RpcClientProtocol, never, RpcSerialization.RpcSerialization>
  readonly sql: Layer.Layer<SqlClient, SqlError, R>
}

/**
 * One runner of many: `@effect/cluster` places actors on all runners, over sockets, with the runners and the locks of their shards in
 * PostgreSQL. No message is persisted, because every actor's state is a cache of the store and every request is answered or failed at once.
 */
export const layerOn = <R>(
  identity: RunnerIdentity,
  ground: RunnerGround<R>
): Layer.Layer<Sharding.Sharding, SocketServerError | SqlError, R> => {
  const runner =
    identity.role === "all"
      ? SocketRunner.layer.pipe(Layer.provide([ground.server, health]))
      : SocketRunner.layerClientOnly
  return runner.pipe(
    Layer.provide(ground.clientProtocol),
    Layer.provide([MessageStorage.layerNoop, storage.pipe(Layer.provide(ground.sql))]),
    Layer.provide([config(identity), Pulse.layerOf([pollEvery])]),
    Layer.provide(RpcSerialization.layerMsgPack)
  )
}

/** A runner (see {@link layerOn}) over this machine's network and a PostgreSQL server. */
export const layer = (
  options: RunnerOptions
): Layer.Layer<Sharding.Sharding, SocketServerError | SqlError, DatabaseServers> =>
  layerOn(options, {
    server: NodeClusterSocket.layerSocketServer,
    clientProtocol: RunnerProtocol.layerClient,
    sql: runnerSql(options.applicationName)
  })
