import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/** What few links have beside their other choices: see `Link.extras`. Links of nodes of the former version have none. */
export const linkExtras = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE links ADD COLUMN extras TEXT`
})
