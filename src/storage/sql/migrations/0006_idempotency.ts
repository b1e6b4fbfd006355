import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/** Guards of creates: who holds each since when, by the database's clock, and what it was settled with. */
export const idempotency = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE create_guards (
    name TEXT NOT NULL PRIMARY KEY,
    token BIGINT NOT NULL,
    begun_at BIGINT NOT NULL,
    fingerprint TEXT NOT NULL,
    key TEXT,
    answer TEXT
  )`
  yield* sql`CREATE INDEX create_guards_by_age ON create_guards (begun_at)`
})
