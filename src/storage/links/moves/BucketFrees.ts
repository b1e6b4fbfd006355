import type { SqlClient } from "@effect/sql"
import type { SqlError } from "@effect/sql/SqlError"
import { Effect } from "effect"
import { briefly } from "./BriefLock.ts"
import { nameOf, passSetting } from "./BucketBarrier.ts"
import { isInOf, movedTables } from "./MovedTables.ts"

const links = movedTables.find(({ name }) => name === "links")!

/** A link that was made so long after the switch is none that was moved, in milliseconds; clocks of databases differ by less. */
const marginOfClocks_ms = 3_600_000

/**
 * Notes the keys of a move's links that are deleted in a database, as nodes delete tombstones whose quarantine is over: a mover that goes on after that finds them missing there. Replication's
 * deletions are not noted, nor the mover's own. It is a table and a trigger that come and go with the move, and has a row at most for each link that was moved.
 */
export const make = (sql: SqlClient.SqlClient, move: number, buckets: ReadonlyArray<number>) => {
  const name = `${nameOf(move)}_freed`
  const literal = (text: string) => sql.literal(text)

  /** As the mover, whatever role a node has. */
  const define = (condition: string) =>
    sql`CREATE OR REPLACE FUNCTION ${literal(name)}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS ${literal(
      `$freed$ BEGIN
        IF ${condition} AND current_setting('${passSetting}', true) IS DISTINCT FROM '${move}' THEN
          INSERT INTO ${name} VALUES (OLD.key) ON CONFLICT DO NOTHING;
        END IF;
        RETURN NULL;
      END $freed$`
    )}`

  const isThere = Effect.map(
    sql<{ there: boolean }>`SELECT to_regclass(${name}) IS NOT NULL AS there`,
    ([row]) => row!.there
  )

  return {
    /** Begins to note. */
    begin: Effect.gen(function* () {
      yield* sql`CREATE TABLE IF NOT EXISTS ${literal(name)} (key TEXT NOT NULL PRIMARY KEY)`
      yield* define("true")
      yield* briefly(
        sql,
        links.name,
        sql`CREATE OR REPLACE TRIGGER ${literal(name)} AFTER DELETE ON links FOR EACH ROW
          WHEN ${literal(isInOf(links, buckets, "OLD"))} EXECUTE FUNCTION ${literal(name)}()`
      )
    }),
    /** From now on no more links come by the move. Does nothing where nothing is noted. */
    allMoved: Effect.whenEffect(
      Effect.flatMap(
        sql<{
          until: string
        }>`SELECT ((extract(epoch FROM clock_timestamp()) * 1000)::bigint + ${marginOfClocks_ms})::text AS until`,
        ([row]) => define(`OLD.created_at < ${row!.until}`)
      ),
      isThere
    ),
    /** Which of some keys' links have been deleted since. */
    among: (keys: ReadonlyArray<string>): Effect.Effect<ReadonlySet<string>, SqlError> =>
      Effect.gen(function* () {
        if (keys.length === 0 || !(yield* isThere)) return new Set<string>()
        const rows = yield* sql<{
          key: string
        }>`SELECT key FROM ${literal(name)} WHERE key = ANY(${keys}::text[])`
        return new Set(rows.map(({ key }) => key))
      }),
    /** Ends it, and forgets what was noted. */
    end: Effect.gen(function* () {
      yield* briefly(sql, links.name, sql`DROP TRIGGER IF EXISTS ${literal(name)} ON links`)
      yield* sql`DROP FUNCTION IF EXISTS ${literal(name)}()`
      yield* sql`DROP TABLE IF EXISTS ${literal(name)}`
    })
  }
}
