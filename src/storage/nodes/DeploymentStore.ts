import { SqlClient } from "@effect/sql"
import { Context, Effect, Layer } from "effect"
import { sqlPort } from "../sql/SqlPort.ts"
import type { StorageError } from "../StorageError.ts"

/**
 * Facts of the deployment that are decided once and then hold for every node and every start, such as the
 * fingerprint of its key space.
 *
 * Laws:
 * 1. Of all `decide` calls for a name, on any node, one wins; all answer with its value.
 * 2. A decision is durable before `decide` answers.
 */
export class DeploymentStore extends Context.Tag("linkmint/DeploymentStore")<
  DeploymentStore,
  {
    /** Decides `name` as `value` unless it is decided already; gives the decision in force. */
    readonly decide: (name: string, value: string) => Effect.Effect<string, StorageError>
  }
>() {}

/** `DeploymentStore` on SQLite and PostgreSQL: the primary key decides who was first. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return sqlPort(DeploymentStore, {
    decide: Effect.fnUntraced(function* (name, value) {
      yield* sql`INSERT INTO deployment (name, value) VALUES (${name}, ${value}) ON CONFLICT (name) DO NOTHING`
      const rows = yield* sql<{ value: string }>`SELECT value FROM deployment WHERE name = ${name}`
      return rows[0]!.value
    })
  })
})

/** `DeploymentStore` over whatever database the SQL client speaks to. The schema must be migrated. */
export const layer: Layer.Layer<DeploymentStore, never, SqlClient.SqlClient> = Layer.effect(
  DeploymentStore,
  make
)
