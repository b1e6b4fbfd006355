import { SqlClient } from "@effect/sql"
import { Context, Effect, Layer } from "effect"
import { asStorageError } from "../sql/SqlTransaction.ts"
import type { StorageError } from "../StorageError.ts"

/**
 * Whether this process holds a cluster shard in the store that grants them. The process itself may be wrong about it: an actor can be started by a
 * message that was under way when its process lost the shard. By default the process is alone, and holds everything.
 */
export class ShardOwnership extends Context.Reference<ShardOwnership>()("linkmint/ShardOwnership", {
  defaultValue: (): ShardOwnershipService => ({ holds: () => Effect.succeed(true) })
}) {}

/** See {@link ShardOwnership}. */
export interface ShardOwnershipService {
  /** Whether the shard (1 … shards) is held at the moment of asking. */
  readonly holds: (shard: number) => Effect.Effect<boolean, StorageError>
}

/**
 * Advisory lock number of the first shard group's shard 0 (`SqlRunnerStorage` of `@effect/cluster` 0.60: group × 1,000,000 + shard).
 */
export const lockBase = 1_000_000

/** What begins the name of a runner's sessions; its node's id follows. */
export const sessionPrefix = "linkmint-runner-"

/** The name of a runner's sessions in PostgreSQL, by which its locks are known. `node` is a text that no other start of any node has. */
export const sessionName = (node: string): string => `${sessionPrefix}${node}`

/** Looks for the shard's advisory lock in a session of `applicationName`, a name that only this start of this node has. */
export const layerPostgres = (applicationName: string): Layer.Layer<never, never, SqlClient.SqlClient> =>
  Layer.effect(
    ShardOwnership,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      return {
        holds: Effect.fn("ShardOwnership.holds")(function* (shard) {
          const rows = yield* sql`
            SELECT 1 FROM pg_locks JOIN pg_stat_activity USING (pid)
            WHERE locktype = 'advisory' AND granted AND classid = 0 AND objid = ${lockBase + shard}
              AND pg_stat_activity.application_name = ${applicationName}
              AND pg_stat_activity.datname = current_database()`
          return rows.length > 0
        }, asStorageError("ShardOwnership.holds"))
      }
    })
  )
