import type { SqlClient, Statement } from "@effect/sql"
import type { SqlError } from "@effect/sql/SqlError"
import { Effect } from "effect"
import { inTransaction } from "../../sql/SqlTransaction.ts"
import { briefly } from "./BriefLock.ts"
import { isInOf, movedTables } from "./MovedTables.ts"

const prefix = "linkmint_move_"

/** The name of what a move makes in its databases. */
export const nameOf = (move: number): string => `${prefix}${move}`

/** The condition that this database can have links of buckets that are not at home in it: as long as it can, a move has its barrier around them. */
export const isSome = (sql: SqlClient.SqlClient): Statement.Fragment =>
  sql`EXISTS (SELECT FROM pg_trigger WHERE tgrelid = 'links'::regclass AND starts_with(tgname::text, ${sql.literal(`'${prefix}'`)}))`

/** The session setting by which the mover's own statements pass. */
export const passSetting = "linkmint.move"

/** Lets the statements of an effect, in one transaction, pass the barrier of a move. */
export const passing = <A, E, R>(
  sql: SqlClient.SqlClient,
  move: number,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E | SqlError, R> =>
  inTransaction(sql, Effect.zipRight(sql`SELECT set_config(${passSetting}, ${String(move)}, true)`, effect))

/**
 * A barrier in a database around the rows of a move, of triggers: while it is closed, no node changes them. Upkeep (what sweeps and roll-ups do) passes over them, and all else is refused with an
 * error. Replication passes, since triggers do not fire for it, and the mover does ({@link passing}).
 *
 * To close or open it locks no table. The triggers come and go with a short lock on each table.
 */
export const make = (sql: SqlClient.SqlClient, move: number, buckets: ReadonlyArray<number>) => {
  const name = nameOf(move)
  const literal = (text: string) => sql.literal(text)

  const define = (isClosed: boolean) => {
    const kinds = movedTables
      .map((table) => `WHEN '${table.name}' THEN IF ${table.isUpkeep} THEN RETURN NULL; END IF;`)
      .join("\n")
    const closed = `
      IF current_setting('${passSetting}', true) IS DISTINCT FROM '${move}' THEN
        IF TG_OP = 'DELETE' THEN RETURN NULL; END IF;
        CASE TG_TABLE_NAME ${kinds} END CASE;
        RAISE EXCEPTION 'the bucket of this row is moving, or has left this database' USING ERRCODE = 'object_not_in_prerequisite_state';
      END IF;`
    return sql`CREATE OR REPLACE FUNCTION ${literal(name)}() RETURNS trigger LANGUAGE plpgsql AS ${literal(
      `$barrier$ BEGIN ${isClosed ? closed : ""} IF TG_OP = 'DELETE' THEN RETURN OLD; END IF; RETURN NEW; END $barrier$`
    )}`
  }

  const isThere = sql`to_regproc(${name}) IS NOT NULL`
  const there = Effect.map(sql<{ there: boolean }>`SELECT ${isThere} AS there`, ([row]) => row!.there)

  return {
    /** Whether there is one, as a condition of a statement. */
    isThere,
    /** Makes the barrier, where there is none. */
    build: (isClosed: boolean) =>
      Effect.gen(function* () {
        if (!(yield* there)) yield* define(isClosed)
        for (const table of movedTables) {
          for (const [operations, row] of [
            ["INSERT OR UPDATE", "NEW"],
            ["DELETE", "OLD"]
          ] as const) {
            yield* briefly(
              sql,
              table.name,
              sql`CREATE OR REPLACE TRIGGER ${literal(`${name}_${row.toLowerCase()}`)}
                  BEFORE ${literal(operations)} ON ${literal(table.name)} FOR EACH ROW
                  WHEN ${literal(isInOf(table, buckets, row))} EXECUTE FUNCTION ${literal(name)}()`
            )
          }
        }
      }),
    /** For all statements that begin after this. Does nothing where there is no barrier. */
    set: (isClosed: boolean) => Effect.whenEffect(define(isClosed), there),
    /** Takes it away. */
    remove: Effect.gen(function* () {
      for (const { name: table } of movedTables) {
        for (const row of ["new", "old"]) {
          yield* briefly(
            sql,
            table,
            sql`DROP TRIGGER IF EXISTS ${literal(`${name}_${row}`)} ON ${literal(table)}`
          )
        }
      }
      yield* sql`DROP FUNCTION IF EXISTS ${literal(name)}()`
    })
  }
}

/** What {@link make} gives. */
export type BucketBarrier = ReturnType<typeof make>
