import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * The further domains, in the control database. `owners` (`null`: everybody) and `targets` are JSON. `domain_version` has one row: how often domains were changed, and the
 * number that the newest domain got, also where it was removed.
 */
export const domains = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE domains (
    number INTEGER NOT NULL PRIMARY KEY,
    host TEXT NOT NULL UNIQUE,
    token TEXT NOT NULL,
    verified_at BIGINT,
    owners TEXT,
    targets TEXT NOT NULL,
    ignores_case BOOLEAN NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
  )`
  yield* sql`CREATE TABLE domain_version (
    id INTEGER NOT NULL PRIMARY KEY,
    version BIGINT NOT NULL,
    last_number INTEGER NOT NULL
  )`
  yield* sql`INSERT INTO domain_version (id, version, last_number) VALUES (0, 0, 0)`
})
