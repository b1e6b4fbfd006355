import { SqlClient } from "@effect/sql"
import { Context, Effect, Layer } from "effect"
import { lockBase, sessionPrefix } from "../keys/ShardOwnership.ts"
import { asStorageError } from "../sql/SqlTransaction.ts"
import type { StorageError } from "../StorageError.ts"

/** The cluster at a moment. */
export interface Seen {
  /** The id of the node that holds a shard (1 … shards); `undefined` where none does, as between a node's death and the next owner. */
  readonly ownerOf: (shard: number) => string | undefined
  /** Addresses (`host:port`) of runners that do not answer the others. */
  readonly unhealthy: ReadonlySet<string>
}

/** Who holds the shards, and who answers, by the store that grants them: the same for every node, also while one dies. */
export class RunnersSeen extends Context.Tag("linkmint/RunnersSeen")<
  RunnersSeen,
  { readonly read: Effect.Effect<Seen, StorageError> }
>() {}

/** A node alone holds everything. */
export const layerAlone = (node: string): Layer.Layer<RunnersSeen> =>
  Layer.succeed(RunnersSeen, {
    read: Effect.succeed({ ownerOf: () => node, unhealthy: new Set<string>() })
  })

/** The nodes that share the database: reads the table of `SqlRunnerStorage` (`@effect/cluster` 0.60), and the sessions that hold its locks. */
export const layerPostgres: Layer.Layer<RunnersSeen, never, SqlClient.SqlClient> = Layer.effect(
  RunnersSeen,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const held = sql<{ shard: number; session: string }>`
      SELECT objid::bigint::int - ${lockBase}::int AS shard, pg_stat_activity.application_name AS session
      FROM pg_locks JOIN pg_stat_activity USING (pid)
      WHERE locktype = 'advisory' AND granted AND classid = 0
        AND objid::bigint > ${lockBase}::bigint AND objid::bigint < ${2 * lockBase}::bigint
        AND starts_with(pg_stat_activity.application_name, ${sessionPrefix})
        AND pg_stat_activity.datname = current_database()`
    const unhealthy = sql<{ address: string }>`SELECT address FROM cluster_runners WHERE NOT healthy`
    return {
      read: Effect.zipWith(
        held,
        unhealthy,
        (held, unhealthy): Seen => {
          const owners = new Map(held.map((row) => [row.shard, row.session.slice(sessionPrefix.length)]))
          return {
            ownerOf: (shard) => owners.get(shard),
            unhealthy: new Set(unhealthy.map(({ address }) => address))
          }
        },
        { concurrent: true }
      ).pipe(asStorageError("RunnersSeen.read"))
    }
  })
)
