import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * How often links were visited and when last, for lists in that order: where the links are, since visits may be elsewhere. `last_visit` is an hour since the Unix epoch. A link that was not visited has no
 * row, and one whose key was bound again has that of another time of creation until it is visited.
 *
 * `visit_ranked` has one row, in a database of visits: the last period that was ranked. It begins before the months, which come before the days and the hours.
 */
export const linkRanks = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const text = sql.onDialectOrElse({
    orElse: () => sql.literal("TEXT"),
    pg: () => sql.literal(`TEXT COLLATE "C"`)
  })
  yield* sql`CREATE TABLE link_ranks (
    link_created_at BIGINT NOT NULL,
    visits BIGINT NOT NULL,
    last_visit BIGINT NOT NULL,
    link_key ${text} NOT NULL PRIMARY KEY,
    link_owner ${text}
  )`
  for (const rank of ["visits", "last_visit"]) {
    const order = sql.literal(`${rank}, link_created_at, link_key`)
    yield* sql`CREATE INDEX ${sql(`link_ranks_of_owner_by_${rank}`)} ON link_ranks (link_owner, ${order})
               WHERE link_owner IS NOT NULL`
    yield* sql`CREATE INDEX ${sql(`link_ranks_by_${rank}`)} ON link_ranks (${order})`
  }
  yield* sql`CREATE TABLE visit_ranked (
    id INTEGER NOT NULL PRIMARY KEY,
    grain SMALLINT NOT NULL,
    hour INTEGER NOT NULL,
    subject ${text} NOT NULL
  )`
})
