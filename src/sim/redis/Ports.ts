import { Effect, Exit, type Scope } from "effect"
import * as Concurrent from "../../fibers/Concurrent.ts"
import { type PackedKeys, toStrings } from "../../keys/PackedKeys.ts"
import type { KeyPool } from "../../storage/keys/KeyPool.ts"
import * as KeyPoolRedis from "../../storage/keys/KeyPoolRedis.ts"
import * as KeyPoolShard from "../../storage/keys/KeyPoolShard.ts"
import * as Witness from "../../storage/nodes/Witness.ts"
import * as WitnessRedis from "../../storage/nodes/WitnessRedis.ts"
import * as RedisClient from "../../storage/redis/RedisClient.ts"
import type { RedisUrl } from "../../storage/redis/RedisUrl.ts"
import type { StorageError } from "../../storage/StorageError.ts"
import type { Journal } from "../Journal.ts"
import type { VirtualProcess } from "../world/VirtualProcess.ts"
import { connecting } from "./RedisConnection.ts"
import { namespace, type VirtualRedis } from "./VirtualRedis.ts"

const urlOf = ({ server }: VirtualRedis): RedisUrl => ({
  _tag: "Server",
  address: { host: server.name, port: 6_379 },
  tls: false,
  credentials: null,
  database: 0
})

/** Notes calls that their caller gave up, or for which there was no connection: the server knows of neither. */
const noting =
  (process: VirtualProcess, journal: Journal) =>
  <A>(operation: string, call: Effect.Effect<A, StorageError>): Effect.Effect<A, StorageError> =>
    Effect.suspend(() => {
      const called_us = process.world.now_us
      return call.pipe(
        Effect.tapError(({ reason }) =>
          Effect.sync(() => {
            if (reason.includes(RedisClient.noConnection))
              journal.unanswered(process, operation, undefined, true)
          })
        ),
        Effect.onInterrupt(() =>
          Effect.sync(() => journal.unanswered(process, operation, process.world.now_us - called_us))
        )
      )
    })

/** Notes keys that could not be put back, or perhaps not. */
const notingReturn = (
  process: VirtualProcess,
  journal: Journal,
  packed: PackedKeys,
  giveBack: Effect.Effect<unknown, StorageError>
): Effect.Effect<unknown, StorageError> =>
  Effect.suspend(() => {
    const called_us = process.world.now_us
    const keys = toStrings(packed)
    return Effect.onExit(giveBack, (exit) =>
      Effect.sync(() => {
        if (Exit.isSuccess(exit)) return
        const interrupted_us = Exit.isInterrupted(exit) ? process.world.now_us - called_us : undefined
        journal.add({ tag: "unreturned", by: process.id, keys, interrupted_us })
      })
    )
  })

const shardOf = (redis: VirtualRedis, process: VirtualProcess, journal: Journal) =>
  Effect.map(KeyPoolRedis.commandsOf(urlOf(redis), namespace, redis.shard, redis.kind), (commands) => {
    const noted = noting(process, journal)
    return KeyPoolShard.make(redis.shard, {
      claim: (epoch) => noted("KeyPool.claim", commands.claim(epoch)),
      push: (epoch, batch, keys) => noted("KeyPool.push", commands.push(epoch, batch, keys)),
      batches: noted("KeyPool.known", commands.batches),
      pop: (wanted) => noted("KeyPool.lease", commands.pop(wanted)),
      giveBack: (id, keys) =>
        notingReturn(process, journal, keys, noted("KeyPool.giveBack", commands.giveBack(id, keys))),
      length: noted("KeyPool.level", commands.length)
    })
  })

/** The pools, one a server in the order of the shards, as a process reaches them: `KeyPoolRedis` over virtual connections. Made when connecting to each was tried once. */
export const pool = (
  servers: ReadonlyArray<VirtualRedis>,
  process: VirtualProcess,
  journal: Journal
): Effect.Effect<typeof KeyPool.Service, never, Scope.Scope> =>
  Concurrent.forEach(servers, (redis) => shardOf(redis, process, journal)).pipe(
    Effect.map(KeyPoolShard.join),
    Effect.provideService(RedisClient.Connecting, connecting(servers, process))
  )

/** The witnesses of a cluster, one a server, as a process reaches them: `WitnessRedis` over virtual connections. Each forgets what its server forgets. */
export const witnesses = (
  servers: ReadonlyArray<VirtualRedis>,
  process: VirtualProcess,
  journal: Journal
): Effect.Effect<typeof Witness.Witness.Service, never, Scope.Scope> => {
  const noted = noting(process, journal)
  const one = (redis: VirtualRedis) =>
    Effect.map(WitnessRedis.make(urlOf(redis), namespace), (witness) => ({
      read: noted("Witness.read", witness.read),
      raise: (seen: Witness.Testimony) => noted("Witness.raise", witness.raise(seen)),
      adopt: (database: Parameters<typeof witness.adopt>[0]) =>
        noted("Witness.adopt", witness.adopt(database))
    }))
  return Concurrent.forEach(servers, one).pipe(
    Effect.map(Witness.among),
    Effect.provideService(RedisClient.Connecting, connecting(servers, process))
  )
}
