import { SqlClient } from "@effect/sql"
import { Effect, Layer } from "effect"
import { DeploymentStore } from "./DeploymentStore.ts"
import { asStorageError } from "../sql/SqlTransaction.ts"

/** `DeploymentStore` on SQLite and PostgreSQL: the primary key decides who was first. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return DeploymentStore.of({
    decide: Effect.fn("DeploymentStore.decide")(function* (name, value) {
      yield* sql`INSERT INTO deployment (name, value) VALUES (${name}, ${value}) ON CONFLICT (name) DO NOTHING`
      const rows = yield* sql<{ value: string }>`SELECT value FROM deployment WHERE name = ${name}`
      return rows[0]!.value
    }, asStorageError("DeploymentStore.decide"))
  })
})

/** `DeploymentStore` over whatever database the SQL client speaks to. The schema must be migrated. */
export const layer: Layer.Layer<DeploymentStore, never, SqlClient.SqlClient> = Layer.effect(
  DeploymentStore,
  make
)
