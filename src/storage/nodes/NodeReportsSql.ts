import { SqlClient } from "@effect/sql"
import { Duration, Effect, Layer, Schema } from "effect"
import { NodeReport } from "../../model/NodeReport.ts"
import { NodeReports, rememberedFor } from "./NodeReports.ts"
import { databaseNow } from "../sql/SqlDialect.ts"
import { sqlPort } from "../sql/SqlPort.ts"

const Told = Schema.parseJson(NodeReport)
const encode = Schema.encodeSync(Told)
/** Nodes of another version may report something else. */
const decode = Schema.decodeUnknownOption(Told)

const rememberedFor_ms = Duration.toMillis(rememberedFor)

/** `NodeReports` on SQLite and PostgreSQL, by the database's clock. Each start's first report deletes those of nodes that have been silent for too long. */
const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const now = databaseNow(sql)
  let hasCleared = false

  return sqlPort(NodeReports, {
    tell: Effect.fnUntraced(function* (report) {
      yield* sql`INSERT INTO nodes (id, report, told_at) VALUES (${report.id}, ${encode(report)}, ${now})
        ON CONFLICT (id) DO UPDATE SET report = excluded.report, told_at = excluded.told_at`
      if (hasCleared) return
      yield* sql`DELETE FROM nodes WHERE told_at < ${now} - ${sql.literal(String(rememberedFor_ms))}`
      hasCleared = true
    }),

    leave: (id) => Effect.asVoid(sql`DELETE FROM nodes WHERE id = ${id}`),

    all: Effect.map(
      sql<{ report: string; age: number }>`SELECT report, ${now} - told_at AS age FROM nodes
        WHERE told_at >= ${now} - ${sql.literal(String(rememberedFor_ms))} ORDER BY id`,
      (rows) =>
        rows.flatMap(({ age, report }) => {
          const known = decode(report)
          return known._tag === "Some" ? [{ report: known.value, age_ms: Math.max(0, age) }] : []
        })
    )
  })
})

/** See {@link make}. The schema must be migrated. */
export const layer: Layer.Layer<NodeReports, never, SqlClient.SqlClient> = Layer.effect(NodeReports, make)
