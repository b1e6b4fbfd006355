import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * The audit log: one row for events that are alike (see `AuditLog`), and users who are disabled. Times are milliseconds since the Unix epoch.
 *
 * Ids refer to nothing, so that an entry outlives whom it names.
 */
export const audit = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const table = sql.onDialectOrElse({ orElse: () => sql.literal("WITHOUT ROWID"), pg: () => sql.literal("") })
  // Pages go by the order of ids, which must be the same in all databases.
  const bytewise = sql.onDialectOrElse({
    orElse: () => sql.literal("TEXT"),
    pg: () => sql.literal(`TEXT COLLATE "C"`)
  })

  yield* sql`CREATE TABLE audit_entries (
    id ${bytewise} NOT NULL PRIMARY KEY,
    doer TEXT NOT NULL,
    user_id ${bytewise},
    key_id TEXT,
    client TEXT,
    action TEXT NOT NULL,
    target TEXT,
    owner ${bytewise},
    at BIGINT NOT NULL,
    last_at BIGINT NOT NULL,
    count BIGINT NOT NULL
  ) ${table}`
  yield* sql`CREATE INDEX audit_entries_at ON audit_entries (at, id)`
  yield* sql`CREATE INDEX audit_entries_of_user ON audit_entries (user_id, at, id)`
  yield* sql`CREATE INDEX audit_entries_of_owner ON audit_entries (owner, at, id)`
  yield* sql`CREATE INDEX audit_entries_of_action ON audit_entries (action, at, id)`

  yield* sql`ALTER TABLE users ADD COLUMN disabled_at BIGINT`
  const id = sql.onDialectOrElse({ orElse: () => sql.literal("id"), pg: () => sql.literal(`id COLLATE "C"`) })
  yield* sql`CREATE INDEX users_created_at ON users (created_at, ${id})`
})
