import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * Users, their sessions and API keys, and what is left of their quotas. Times are milliseconds since the Unix epoch.
 *
 * On PostgreSQL quotas are not logged: they are written often, and a crash of the database only fills them up again.
 */
export const accounts = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const table = sql.onDialectOrElse({ orElse: () => sql.literal("WITHOUT ROWID"), pg: () => sql.literal("") })
  const unlogged = sql.onDialectOrElse({ orElse: () => sql.literal(""), pg: () => sql.literal("UNLOGGED") })

  yield* sql`CREATE TABLE users (
    id TEXT NOT NULL PRIMARY KEY,
    email TEXT NOT NULL,
    email_key TEXT NOT NULL UNIQUE,
    first_name TEXT,
    middle_name TEXT,
    last_name TEXT,
    password_hash TEXT,
    admin BOOLEAN NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    last_login_at BIGINT
  ) ${table}`

  yield* sql`CREATE TABLE sessions (
    token_hash TEXT NOT NULL PRIMARY KEY,
    user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
  ) ${table}`
  yield* sql`CREATE INDEX sessions_of_user ON sessions (user_id, created_at)`

  yield* sql`CREATE TABLE api_keys (
    id TEXT NOT NULL PRIMARY KEY,
    user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    secret_hash TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    scopes TEXT NOT NULL,
    creates_per_minute INTEGER,
    redirects_per_day BIGINT,
    created_at BIGINT NOT NULL,
    expires_at BIGINT
  ) ${table}`
  yield* sql`CREATE INDEX api_keys_of_user ON api_keys (user_id, created_at)`

  yield* sql`ALTER TABLE links ADD COLUMN key_id TEXT`
  yield* sql`ALTER TABLE links ADD COLUMN key_redirects_per_day BIGINT`

  yield* sql`CREATE ${unlogged} TABLE quotas (
    id TEXT NOT NULL PRIMARY KEY,
    available DOUBLE PRECISION NOT NULL,
    at BIGINT NOT NULL,
    full_at BIGINT NOT NULL
  ) ${table}`
  yield* sql`CREATE INDEX quotas_full_at ON quotas (full_at)`
})
