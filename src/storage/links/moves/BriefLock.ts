import type { SqlClient } from "@effect/sql"
import { SqlError } from "@effect/sql/SqlError"
import { Effect, Schedule } from "effect"
import { inTransaction } from "../../sql/SqlTransaction.ts"

/** For how long a statement waits for its table at a time, in milliseconds: whoever comes meanwhile waits behind it. */
const lockWait_ms = 50

/** For how long it is waited for who maintains the table, in milliseconds: nobody waits behind that. PostgreSQL itself stops an automatic vacuum for which somebody has waited for `deadlock_timeout`, a second by default. */
const upkeepWait_ms = 3_000

/** How often it is tried, with a pause in between. Nodes' transactions are bounded by the server; a dump, or what an operator does by hand, may last. */
const tries = Schedule.spaced("100 millis").pipe(Schedule.intersect(Schedule.recurs(600)))

const lockNotAvailable = "55P03"

const isLocked = (error: SqlError) =>
  typeof error.cause === "object" &&
  error.cause !== null &&
  "code" in error.cause &&
  error.cause.code === lockNotAvailable

const waitFor = (sql: SqlClient.SqlClient, patience_ms: number) =>
  sql`SELECT set_config('lock_timeout', ${`${patience_ms}ms`}, true)`

/** Who has a lock on a table: whoever maintains it before those who write it, and these before those who only read it, since each is in the way of more. Of these, who has had it for the longest time. */
const holderOf = (sql: SqlClient.SqlClient, table: string) =>
  sql<{ readonly holder: string }>`
    SELECT format('%s, process %s of PostgreSQL, since %s: %s', coalesce(nullif(application_name, ''), backend_type), pid,
                  xact_start, left(query, 200)) AS holder
    FROM pg_locks JOIN pg_stat_activity USING (pid)
    WHERE relation = ${table}::regclass AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND granted AND pid <> pg_backend_pid()
    ORDER BY CASE WHEN mode IN ('AccessShareLock', 'RowShareLock') THEN 2 WHEN mode = 'RowExclusiveLock' THEN 1 ELSE 0 END, xact_start
    LIMIT 1`.pipe(
    Effect.map(([row]) => row?.holder),
    Effect.orElseSucceed(() => undefined)
  )

/**
 * Does something that takes a short lock on a table, in one transaction with a short patience for it, again and again. First it excludes automatic vacuums and others that maintain the table, which
 * holds up nobody who reads or writes. Where a lock is not had in the end, the error says who holds one.
 */
export const briefly = <A>(
  sql: SqlClient.SqlClient,
  table: string,
  effect: Effect.Effect<A, SqlError>,
  schedule: Schedule.Schedule<unknown> = tries
): Effect.Effect<A, SqlError> =>
  inTransaction(
    sql,
    waitFor(sql, upkeepWait_ms).pipe(
      Effect.zipRight(sql`LOCK TABLE ${sql.literal(table)} IN SHARE UPDATE EXCLUSIVE MODE`),
      Effect.zipRight(waitFor(sql, lockWait_ms)),
      Effect.zipRight(effect)
    )
  ).pipe(
    Effect.retry({ schedule, while: isLocked }),
    Effect.catchIf(isLocked, (error) =>
      Effect.flatMap(holderOf(sql, table), (holder) =>
        Effect.fail(
          holder === undefined
            ? error
            : new SqlError({ cause: error.cause, message: `The table ${table} is locked by ${holder}` })
        )
      )
    )
  )
