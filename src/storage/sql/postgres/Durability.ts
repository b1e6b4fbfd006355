import { SqlClient } from "@effect/sql"
import type { SqlError } from "@effect/sql/SqlError"
import { Context, Effect, Layer } from "effect"
import type { Message } from "../../../model/Messages.ts"

/** What a session of the primary says of how it keeps what it commits. */
export interface Durable {
  readonly fsync: string
  readonly full_page_writes: string
  readonly synchronous_commit: string
  /** Standbys that follow it, and those of them that it waits for; text, as PostgreSQL counts in 64 bits. */
  readonly standbys: string
  readonly awaited: string
}

/** What can lose commits that were acknowledged, a sentence each. */
export const warningsOf = (durable: Durable): ReadonlyArray<Message> => {
  const hasStandbys = durable.standbys !== "0"
  const warnings: ReadonlyArray<readonly [isDue: boolean, warning: Message]> = [
    [durable.fsync === "off", "fsync is off: a crash of the server's machine can lose or spoil everything."],
    [
      durable.full_page_writes === "off",
      "full_page_writes is off: a crash of the server's machine can spoil pages."
    ],
    [
      durable.synchronous_commit === "off",
      "synchronous_commit is off: a crash of the server loses the last creates that were acknowledged."
    ],
    [
      durable.synchronous_commit === "local" && hasStandbys,
      "synchronous_commit is local: a failover can lose the last creates that were acknowledged."
    ],
    [
      durable.synchronous_commit !== "local" && hasStandbys && durable.awaited === "0",
      "No standby is synchronous (synchronous_standby_names): a failover can lose the last creates that were acknowledged."
    ]
  ]
  return warnings.flatMap(([isDue, warning]) => (isDue ? [warning] : []))
}

/** The warnings of the database at hand. What a user without rights does not see is not warned of. */
export const warnings = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.map(
    sql<Durable>`SELECT current_setting('fsync') AS fsync, current_setting('full_page_writes') AS full_page_writes,
      current_setting('synchronous_commit') AS synchronous_commit,
      count(sync_state)::text AS standbys,
      (count(*) FILTER (WHERE sync_state IN ('sync', 'quorum')))::text AS awaited
      FROM pg_stat_replication`,
    ([row]) => warningsOf(row!)
  )
)

/** What of the database's settings can lose commits that were acknowledged, now. SQLite in the data folder has none. */
export class Durability extends Context.Reference<Durability>()("linkmint/Durability", {
  defaultValue: (): { readonly warnings: Effect.Effect<ReadonlyArray<Message>, SqlError> } => ({
    warnings: Effect.succeed([])
  })
}) {}

/** Keeps the warnings for the cluster's picture, and logs them once, at the start. */
export const layer: Layer.Layer<Durability, never, SqlClient.SqlClient> = Layer.effect(
  Durability,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const current = Effect.provideService(warnings, SqlClient.SqlClient, sql)
    yield* Effect.flatMap(current, (found) =>
      Effect.forEach(found, (warning) => Effect.logWarning(`PostgreSQL: ${warning}`), { discard: true })
    ).pipe(
      Effect.catchAll((error) =>
        Effect.logWarning(`PostgreSQL's settings could not be read: ${error.message}`)
      )
    )
    return { warnings: current }
  })
)
