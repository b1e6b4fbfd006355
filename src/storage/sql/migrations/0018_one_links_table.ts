import { SqlClient } from "@effect/sql"
import { Data, Duration, Effect, Schedule } from "effect"
import { isLockRefused } from "../SqlTransaction.ts"

/**
 * The columns of `links`, with what SQL calls their types: those of a fixed length first, so that no row has gaps between them, and of these the ones
 * that every row has.
 */
const columns = [
  ["created_at", "BIGINT NOT NULL"],
  ["updated_at", "BIGINT NOT NULL"],
  ["create_id", "BIGINT"],
  ["expires_at", "BIGINT"],
  ["deleted_at", "BIGINT"],
  ["ended_at", "BIGINT"],
  ["valid_since", "BIGINT"],
  ["max_visits", "BIGINT"],
  ["visits_left", "BIGINT"],
  ["key_redirects_per_day", "BIGINT"],
  ["redirect_status", "SMALLINT NOT NULL DEFAULT 302"],
  ["custom", "BOOLEAN NOT NULL"],
  ["forward_query", "BOOLEAN NOT NULL DEFAULT FALSE"],
  ["crawlable", "BOOLEAN NOT NULL DEFAULT FALSE"],
  ["key", `TEXT COLLATE "C" NOT NULL`],
  ["url", "TEXT NOT NULL"],
  ["owner", `TEXT COLLATE "C"`],
  ["key_id", "TEXT"],
  ["url_hash", `TEXT COLLATE "C"`],
  ["tags", "JSONB NOT NULL DEFAULT '[]'"],
  ["title", "TEXT"],
  ["title_folded", "TEXT"],
  ["password_hash", "TEXT"],
  ["update_ids", "JSONB NOT NULL DEFAULT '[]'"],
  ["visit_takes", "JSONB NOT NULL DEFAULT '[]'"]
] as const

/** What finds rows, by name. Each is built when the rows are there, which is faster than to keep it while they come. */
const indices = {
  links_of_owner: "(owner, created_at, key) WHERE owner IS NOT NULL AND deleted_at IS NULL",
  links_by_age: "(created_at, key) WHERE deleted_at IS NULL",
  links_for_crawlers: "(created_at, key) WHERE crawlable AND deleted_at IS NULL",
  links_by_url: "(url_hash) WHERE url_hash IS NOT NULL AND deleted_at IS NULL",
  links_by_expiry: "(expires_at) WHERE expires_at IS NOT NULL AND deleted_at IS NULL",
  links_by_end: "(ended_at) WHERE ended_at IS NOT NULL"
}

class Probed extends Data.TaggedError("Probed")<{}> {}

/** Fails where the table cannot be had alone, as during a dump: before the copy, rather than after it. Whoever reads goes on. */
const probe = (sql: SqlClient.SqlClient) =>
  sql`LOCK TABLE links IN ACCESS EXCLUSIVE MODE`.pipe(
    Effect.zipRight(new Probed()),
    // A savepoint that is rolled back gives its locks back.
    sql.withTransaction,
    Effect.catchIf(
      (error) => error instanceof Probed,
      () => Effect.void
    )
  )

/** How often a lock is tried for that was not there after the copy: some reads take longer than one try. */
const whileRead = Schedule.spaced(Duration.seconds(1)).pipe(Schedule.intersect(Schedule.recurs(9)))

/**
 * Makes one table of the 16 hash partitions that `links` had on PostgreSQL: each statement opened the indexes of every partition that it met, which
 * was more work for a batch of 16 links than all else.
 *
 * Links are read meanwhile, and writers wait: first for the copy, where they run into their bound, and then, like readers, for the moment in which the tables
 * change places. Nodes of the former version go on with the new table, because PostgreSQL looks for a name again after it has waited for its table.
 */
export const oneLinksTable = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const onPostgres = Effect.gen(function* () {
    yield* sql`LOCK TABLE links IN EXCLUSIVE MODE`
    yield* probe(sql)
    const declared = columns.map(([name, type]) => `${name} ${type}`).join(", ")
    // The server's default would let a fifth of the rows be dead before it cleans up.
    yield* sql`CREATE TABLE one_links (${sql.literal(declared)}) WITH (autovacuum_vacuum_scale_factor = 0.05)`
    const names = sql.literal(columns.map(([name]) => name).join(", "))
    yield* sql`INSERT INTO one_links (${names}) SELECT ${names} FROM links`

    yield* sql`SET LOCAL maintenance_work_mem = '256MB'`
    yield* sql`ALTER TABLE one_links ADD CONSTRAINT one_links_pkey PRIMARY KEY (key)`
    for (const [name, rows] of Object.entries(indices)) {
      yield* sql`CREATE INDEX ${sql(`one_${name}`)} ON one_links ${sql.literal(rows)}`
    }
    // Of an empty table that is known to be empty each look-up would be planned to read it whole.
    const some = yield* sql`SELECT key FROM one_links LIMIT 1`
    if (some.length > 0) yield* sql`ANALYZE one_links`

    yield* sql`DROP TABLE links`.pipe(
      sql.withTransaction,
      Effect.retry({ schedule: whileRead, while: isLockRefused })
    )
    yield* sql`ALTER TABLE one_links RENAME TO links`
    for (const name of ["links_pkey", ...Object.keys(indices)]) {
      yield* sql`ALTER INDEX ${sql(`one_${name}`)} RENAME TO ${sql(name)}`
    }
  })
  yield* sql.onDialectOrElse({ orElse: () => Effect.void, pg: () => onPostgres })
})
