import { SqlClient } from "@effect/sql"
import { Effect, Layer } from "effect"
import { DeploymentStore } from "./DeploymentStore.ts"
import { sqlPort } from "../sql/SqlPort.ts"

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
