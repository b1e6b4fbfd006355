import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/** Messages for webhooks that were written with the links of a database other than the control database, and are on their way there: see `LinkOutbox`. */
export const linkOutbox = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE link_outbox (
    id TEXT NOT NULL PRIMARY KEY,
    owner TEXT NOT NULL,
    event TEXT NOT NULL,
    body TEXT NOT NULL,
    queued_at BIGINT NOT NULL
  )`
  yield* sql`CREATE INDEX link_outbox_by_age ON link_outbox (queued_at, id)`
})
