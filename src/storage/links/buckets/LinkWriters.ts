import { SqlClient } from "@effect/sql"
import { Duration, Effect, Schedule } from "effect"

/** How often it is looked whether writers are gone. */
const lookAgain = Duration.millis(20)

/**
 * Waits until no transaction writes links (or other tables) any more that did so when this began: those that are left have seen what was committed before, since a statement of PostgreSQL
 * locks its table before it takes its snapshot. The server bounds how long a transaction lasts (`PrimaryClient`). SQLite has one writer.
 */
export const writersGone = (sql: SqlClient.SqlClient, tables: ReadonlyArray<string> = ["links"]) => {
  const writers = sql<{ id: string }>`
    SELECT DISTINCT virtualtransaction AS id FROM pg_locks
    WHERE relation = ANY(${tables}::text[]::regclass[]) AND mode = 'RowExclusiveLock' AND pid <> pg_backend_pid()
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
  return sql.onDialectOrElse({
    orElse: () => Effect.void,
    pg: () =>
      Effect.flatMap(writers, (before) =>
        Effect.asVoid(
          Effect.repeat(writers, {
            schedule: Schedule.spaced(lookAgain),
            while: (now) => now.some(({ id }) => before.some((one) => one.id === id))
          })
        )
      )
  })
}
