import { SqlClient } from "@effect/sql"
import { Clock, Context, Duration, Effect, Layer, Schema } from "effect"
import { NodeReport } from "../../model/NodeReport.ts"
import { together } from "../sql/DirectSql.ts"
import { databaseNow, prepared } from "../sql/SqlDialect.ts"
import { sqlPort } from "../sql/SqlPort.ts"
import type { StorageError } from "../StorageError.ts"

/** A node that has not reported for longer is forgotten. */
export const rememberedFor = Duration.minutes(10)

/** A node's last report. */
export interface Heard {
  readonly report: NodeReport
  /** How long ago that was, by the store's clock. */
  readonly age_ms: number
}

/**
 * What nodes report of themselves to each other.
 *
 * Laws:
 * 1. `all` gives each node's last report, in the order of their ids.
 * 2. A node is forgotten when it leaves, and when it has not reported for `rememberedFor`; a report makes it known again.
 *
 * There is one for each node, and for each that died in the last ten minutes.
 */
export class NodeReports extends Context.Tag("linkmint/NodeReports")<
  NodeReports,
  {
    readonly tell: (report: NodeReport) => Effect.Effect<void, StorageError>
    readonly leave: (id: string) => Effect.Effect<void, StorageError>
    readonly all: Effect.Effect<ReadonlyArray<Heard>, StorageError>
  }
>() {}

/** `NodeReports` in memory, for a process alone. Each build of the layer has its own. */
export const layerMemory: Layer.Layer<NodeReports> = Layer.sync(NodeReports, () => {
  const told = new Map<string, { readonly report: NodeReport; readonly at: number }>()
  return {
    tell: (report) => Effect.map(Clock.currentTimeMillis, (at) => void told.set(report.id, { report, at })),
    leave: (id) => Effect.sync(() => void told.delete(id)),
    all: Effect.map(Clock.currentTimeMillis, (now) => {
      for (const [id, { at }] of told) if (now - at > Duration.toMillis(rememberedFor)) told.delete(id)
      return [...told.values()]
        .map(({ at, report }) => ({ report, age_ms: Math.max(0, now - at) }))
        .toSorted((a, b) => (a.report.id < b.report.id ? -1 : 1))
    })
  }
})

const Told = Schema.parseJson(NodeReport)
const encode = Schema.encodeSync(Told)
/** Nodes of another version may report something else. */
const decode = Schema.decodeUnknownOption(Told)

const rememberedFor_ms = Duration.toMillis(rememberedFor)

/** `NodeReports` on SQLite and PostgreSQL, by the database's clock. Each start's first report deletes those of nodes that have been silent for too long. */
const makeSql = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const now = databaseNow(sql)
  let hasCleared = false

  return sqlPort(NodeReports, {
    tell: Effect.fnUntraced(function* (report) {
      const insert = sql`${prepared(sql)}INSERT INTO nodes (id, report, told_at) VALUES (${report.id}, ${encode(report)}, ${now})
        ON CONFLICT (id) DO UPDATE SET report = excluded.report, told_at = excluded.told_at`
      yield* together(sql, "NodeReports.tell", insert.compile())
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

/** See {@link makeSql}. The schema must be migrated. */
export const layerSql: Layer.Layer<NodeReports, never, SqlClient.SqlClient> = Layer.effect(
  NodeReports,
  makeSql
)
