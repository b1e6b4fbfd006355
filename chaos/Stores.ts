// What stands in PostgreSQL and Redis, read past the nodes.

import * as Reactivity from "@effect/experimental/Reactivity"
import { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted, Schedule } from "effect"
import type { Redis } from "ioredis"
import type { StorageError } from "../src/storage/StorageError.ts"
import * as RedisClient from "../src/storage/redis/RedisClient.ts"
import type { RedisUrl } from "../src/storage/redis/RedisUrl.ts"
import { shardsPerGroup } from "../src/actors/Shards.ts"
import { Unavailable } from "../test/support/services/Service.ts"
import type { Node, Topology } from "./Topology.ts"

const unavailable = (what: string) => (error: SqlError | StorageError) =>
  new Unavailable({ reason: `${what} cannot be asked`, detail: String(error.cause ?? error) })

/** Asks the database, on a connection of its own. */
export const inDatabase = <A>(
  { databaseUrl }: Pick<Topology, "databaseUrl">,
  ask: (sql: SqlClient) => Effect.Effect<A, SqlError>
): Effect.Effect<A, Unavailable> =>
  Effect.flatMap(
    PgClient.make({
      url: Redacted.make(databaseUrl),
      maxConnections: 1,
      connectTimeout: "15 seconds",
      applicationName: "linkmint-chaos"
    }),
    ask
  ).pipe(Effect.scoped, Effect.provide(Reactivity.layer), Effect.mapError(unavailable("The database")))

/** Asks the Redis of a pool, on a connection of its own. */
export const inPool = <A>(url: RedisUrl, ask: (redis: Redis) => Promise<A>): Effect.Effect<A, Unavailable> =>
  RedisClient.make(url, {}).pipe(
    Effect.flatMap(({ send }) => send("chaos", ask)),
    Effect.scoped,
    Effect.mapError((error) => new Unavailable({ reason: `A pool cannot be asked: ${error.reason}` })),
    Effect.retry({ times: 3, schedule: Schedule.spaced("300 millis") })
  )

/** What tells this deployment from others: the start of its secret's fingerprint. */
export const namespaceOf = (topology: Topology): Effect.Effect<string, Unavailable> =>
  inDatabase(topology, (sql) =>
    Effect.map(sql<{ value: string }>`SELECT value FROM deployment WHERE name = 'identity'`, ([row]) =>
      (JSON.parse(row!.value) as { readonly fingerprint: string }).fingerprint.slice(0, 12)
    )
  )

/** The cluster shard of an entity, as `Sharding.getShardId` of `@effect/cluster` 0.60 has it. */
const clusterShardOf = (entityId: string): number => {
  let hash = 5381
  for (let at = entityId.length - 1; at >= 0; at--) hash = (hash * 33) ^ entityId.charCodeAt(at)
  const optimized = (hash & 0xbfffffff) | ((hash >>> 1) & 0x40000000)
  return Math.abs(optimized % shardsPerGroup) + 1
}

/** The node that holds the lock of a pool shard, by whose connection it is; null where nobody holds it. */
export const ownerOf = (topology: Topology, poolShard: number): Effect.Effect<Node | null, Unavailable> =>
  Effect.gen(function* () {
    const lock = 1_000_000 + clusterShardOf(String(poolShard))
    const rows = yield* inDatabase(
      topology,
      (sql) => sql<{ client_port: number }>`
        SELECT client_port FROM pg_locks JOIN pg_stat_activity USING (pid)
        WHERE locktype = 'advisory' AND granted AND classid = 0 AND objid = ${lock}
          AND application_name LIKE 'linkmint-runner-%'`
    )
    return topology.nodes.find(({ wires }) => rows.some(({ client_port }) => wires.has(client_port))) ?? null
  })

/** The epoch of a pool shard in the database; 0 where it was never claimed. */
export const epochOf = (topology: Topology, poolShard: number): Effect.Effect<number, Unavailable> =>
  inDatabase(topology, (sql) =>
    Effect.map(sql<{ epoch: string }>`SELECT epoch FROM pool_shards WHERE shard = ${poolShard}`, ([row]) =>
      Number(row?.epoch ?? 0)
    )
  )
