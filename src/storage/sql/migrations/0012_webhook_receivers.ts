import { SqlClient } from "@effect/sql"
import { Effect } from "effect"
import { hostOf } from "../../../model/Webhook.ts"

/**
 * Webhooks end with the API key that made them, have to be verified, and are counted: `waiting` are the events that wait for one, `bytes` their bodies. Those that are there
 * count as verified, and are bound to no key.
 *
 * A message that has been claimed once is `sealed`: it is sent again as it is. Others are joined: then they are in `webhook_joined`, which knows in which message, until that has
 * been delivered.
 */
export const webhookReceivers = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const table = sql.onDialectOrElse({ orElse: () => sql.literal("WITHOUT ROWID"), pg: () => sql.literal("") })
  const bytewise = sql.onDialectOrElse({
    orElse: () => sql.literal("TEXT"),
    pg: () => sql.literal(`TEXT COLLATE "C"`)
  })
  const bytesOf = sql.onDialectOrElse({
    orElse: () => sql.literal("length(CAST(body AS BLOB))"),
    pg: () => sql.literal("octet_length(body)")
  })

  for (const column of [
    sql`key_id ${bytewise}`,
    sql`host ${bytewise} NOT NULL DEFAULT ''`,
    sql`verified_at BIGINT`,
    sql`ended_at BIGINT`,
    sql`waiting BIGINT NOT NULL DEFAULT 0`,
    sql`bytes BIGINT NOT NULL DEFAULT 0`,
    sql`last_failure TEXT`
  ]) {
    yield* sql`ALTER TABLE webhooks ADD COLUMN ${column}`
  }
  for (const column of [
    sql`events INTEGER NOT NULL DEFAULT 1`,
    sql`bytes INTEGER NOT NULL DEFAULT 0`,
    sql`sealed INTEGER NOT NULL DEFAULT 0`
  ]) {
    yield* sql`ALTER TABLE webhook_messages ADD COLUMN ${column}`
  }
  yield* sql`CREATE TABLE webhook_joined (
    webhook_id ${bytewise} NOT NULL,
    id ${bytewise} NOT NULL,
    message_id ${bytewise} NOT NULL,
    PRIMARY KEY (webhook_id, id)
  ) ${table}`
  yield* sql`CREATE INDEX webhook_joined_in ON webhook_joined (webhook_id, message_id)`

  yield* sql`UPDATE webhook_messages SET bytes = ${bytesOf}, sealed = CASE WHEN attempts > 0 THEN 1 ELSE 0 END`
  const webhooks = yield* sql<{ id: string; url: string }>`SELECT id, url FROM webhooks`
  for (const { id, url } of webhooks) {
    yield* sql`UPDATE webhooks SET host = ${hostOf(url)} WHERE id = ${id}`
  }
  const sumOf = (column: string) => sql`
    (SELECT COALESCE(SUM(${sql(column)}), 0) FROM webhook_messages m WHERE m.webhook_id = webhooks.id AND m.dead_at IS NULL)`
  yield* sql`UPDATE webhooks SET verified_at = created_at, waiting = ${sumOf("events")}, bytes = ${sumOf("bytes")}`
})
