import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * Webhooks, and the messages on their way to them. Times are milliseconds since the Unix epoch, by the database's clock but for `created_at`.
 *
 * A message is due at `due_at`, unless its webhook is paused; whoever claims it sets that to the end of its lease. With `dead_at` it is a dead letter. `webhook_changes` has one row, which
 * everyone who adds or removes a webhook writes first: so its version tells of changes, and they happen one after the other. A message's webhook is no
 * foreign key, because a link's create must not fail when the webhook is removed meanwhile.
 */
export const webhooks = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const table = sql.onDialectOrElse({ orElse: () => sql.literal("WITHOUT ROWID"), pg: () => sql.literal("") })
  const bytewise = sql.onDialectOrElse({
    orElse: () => sql.literal("TEXT"),
    pg: () => sql.literal(`TEXT COLLATE "C"`)
  })

  yield* sql`CREATE TABLE webhooks (
    id ${bytewise} NOT NULL PRIMARY KEY,
    owner ${bytewise} NOT NULL,
    url TEXT NOT NULL,
    events TEXT NOT NULL,
    secret TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    failures INTEGER NOT NULL DEFAULT 0,
    paused_until BIGINT NOT NULL DEFAULT 0,
    dropped BIGINT NOT NULL DEFAULT 0
  ) ${table}`
  yield* sql`CREATE INDEX webhooks_of_owner ON webhooks (owner, created_at)`

  yield* sql`CREATE TABLE webhook_changes (
    id INTEGER NOT NULL PRIMARY KEY,
    version BIGINT NOT NULL
  ) ${table}`
  yield* sql`INSERT INTO webhook_changes (id, version) VALUES (1, 0)`

  yield* sql`CREATE TABLE webhook_messages (
    webhook_id ${bytewise} NOT NULL,
    id ${bytewise} NOT NULL,
    event TEXT NOT NULL,
    body TEXT NOT NULL,
    queued_at BIGINT NOT NULL,
    due_at BIGINT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    lease TEXT,
    dead_at BIGINT,
    reason TEXT,
    PRIMARY KEY (webhook_id, id)
  ) ${table}`
  yield* sql`CREATE INDEX webhook_messages_pending ON webhook_messages (webhook_id, due_at) WHERE dead_at IS NULL`
  yield* sql`CREATE INDEX webhook_messages_dead ON webhook_messages (webhook_id, dead_at, id) WHERE dead_at IS NOT NULL`
})
