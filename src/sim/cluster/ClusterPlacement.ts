import { Effect } from "effect"
import * as ClusterRunner from "../../node/ClusterRunner.ts"
import { lockBase } from "../../storage/keys/ShardOwnership.ts"
import { StorageError } from "../../storage/StorageError.ts"
import type { Placement } from "../deployment/Placement.ts"
import type { Network } from "../world/Network.ts"
import type { VirtualProcess } from "../world/VirtualProcess.ts"
import type { VirtualServer } from "../world/VirtualServer.ts"
import type { World } from "../world/World.ts"
import type { ConnectionFaults } from "./PgConnection.ts"
import { type PgMessage, RunnerDatabase } from "./RunnerDatabase.ts"
import * as VirtualSocket from "./VirtualSocket.ts"
import * as VirtualSql from "./VirtualSql.ts"
import { VirtualTcp } from "./VirtualTcp.ts"

/** Where runners live, and what goes wrong between them and the locks of their shards. */
export interface ClusterPlacementOptions extends ConnectionFaults {
  readonly world: World
  readonly network: Network
  /** The database's machine: locks live there, end with its runs, and are asked for there. */
  readonly server: VirtualServer
}

/** The port of a name's first process; each start has the next one, so that no two have one address. */
const firstPort = 20_000

/** The name of the process's sessions, which no other start has. */
const applicationNameOf = (process: VirtualProcess) => `linkmint-runner-${process.id}`

/**
 * Actors placed as in production: the stack of `@effect/cluster` that {@link ClusterRunner.layerOn} makes, `SqlRunnerStorage` included, on virtual
 * connections between the nodes and to a database.
 */
export class ClusterPlacement implements Placement {
  readonly database: RunnerDatabase
  readonly #options: ClusterPlacementOptions
  readonly #sockets: VirtualTcp<VirtualSocket.Bytes>
  readonly #databaseConnections: VirtualTcp<PgMessage>

  constructor(options: ClusterPlacementOptions) {
    const { network, server, world } = options
    this.#options = options
    this.#sockets = new VirtualTcp(world, network)
    this.#databaseConnections = new VirtualTcp(world, network)
    this.database = new RunnerDatabase(world, this.#databaseConnections, server)
  }

  layer(process: VirtualProcess): ReturnType<Placement["layer"]> {
    const { crashPoint, faults, server } = this.#options
    return ClusterRunner.layerOn(
      {
        host: process.name,
        port: firstPort + process.incarnation,
        listenHost: process.name,
        role: "all"
      },
      {
        server: VirtualSocket.layerServer(this.#sockets, process),
        clientProtocol: VirtualSocket.layerClientProtocol(this.#sockets, process),
        sql: VirtualSql.layer({
          tcp: this.#databaseConnections,
          process,
          machine: server.name,
          applicationName: applicationNameOf(process),
          faults,
          crashPoint
        })
      }
    )
  }

  ownership(process: VirtualProcess): ReturnType<Placement["ownership"]> {
    const { server } = this.#options
    const operation = "ShardOwnership.holds"
    return {
      holds: (shard) =>
        server
          .call(process, operation, () =>
            this.database.isHeldBy(lockBase + shard, applicationNameOf(process))
          )
          .pipe(Effect.mapError(({ applied, reason }) => new StorageError({ operation, applied, reason })))
    }
  }

  /** Whether the process holds the shard (1 … shards) in the lock table, as only the simulation knows. */
  owns(process: VirtualProcess, shard: number): boolean {
    return this.database.isHeldBy(lockBase + shard, applicationNameOf(process))
  }

  /** Connections notice by themselves that their process is dead. */
  died() {}

  /** Nothing but time passes for a process that is held up. */
  paused() {}

  /** Ends the database sessions of a runner that holds locks. It goes on until it notices, which is not in the caller's hand. */
  move() {
    const holders = this.database.holders()
    const chance = this.#options.world.chance("moves")
    if (holders.length > 0) this.database.terminate(chance.pick(holders))
  }
}
