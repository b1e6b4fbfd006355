import { SqlClient } from "@effect/sql"
import type { SqlError } from "@effect/sql/SqlError"
import { Data, Effect, ExecutionStrategy, Exit, Schedule, Scope } from "effect"
import { endOf } from "./VisitPeriods.ts"
import * as VisitRollUpSql from "./VisitRollUpSql.ts"

/** Nodes are in between: what was tried can be tried again soon. */
export class NotNow extends Data.TaggedError("NotNow")<{ readonly what: string }> {
  override get message() {
    return `there was no moment for it: ${this.what}`
  }
}

/**
 * Tries to find a moment, every 200 ms, and `triesMax` times more at most. What a try has acquired is released before the next one; what the one that succeeds has is held until the scope closes.
 */
export const soon = <A, E>(
  moment: Effect.Effect<A, E | NotNow, Scope.Scope>,
  triesMax: number
): Effect.Effect<A, E | NotNow, Scope.Scope> =>
  Effect.gen(function* () {
    const outer = yield* Effect.scope
    const once = Effect.flatMap(Scope.fork(outer, ExecutionStrategy.sequential), (scope) =>
      Scope.extend(moment, scope).pipe(
        Effect.tapErrorCause((cause) => Scope.close(scope, Exit.failCause(cause)))
      )
    )
    return yield* Effect.retry(once, {
      schedule: Schedule.spaced("200 millis").pipe(Schedule.intersect(Schedule.recurs(triesMax))),
      while: (error) => error instanceof NotNow
    })
  })

const areRollingUp = () => new NotNow({ what: "nodes roll up visits" })

/** Rows of visits that one step of a roll-up reads. */
const rolledAtOnce = 10_000

/** A node's roll-up takes some hundred milliseconds at a time. */
const tries = Schedule.spaced("10 millis").pipe(Schedule.intersect(Schedule.recurs(500)))

/** How far visits are rolled up, and whether a day or month is under way. */
const rolledUp = (sql: SqlClient.SqlClient) =>
  Effect.map(
    sql<{
      grain: number
      hour: number
      seen_subject: string
    }>`SELECT grain, hour, seen_subject FROM visit_rolled`,
    (rows) => {
      const hourOf = (grain: number) => rows.find((row) => row.grain === grain)?.hour ?? 0
      return { day: hourOf(1), month: hourOf(2), isUnderWay: rows.some((row) => row.seen_subject !== "") }
    }
  )

/** Keeps nodes from rolling up and dropping visits in databases, until the scope closes. */
export const withoutUpkeep = (
  databases: ReadonlyArray<SqlClient.SqlClient>
): Effect.Effect<void, NotNow | SqlError, Scope.Scope> =>
  Effect.forEach(
    databases,
    (sql) =>
      Effect.gen(function* () {
        const connection = yield* Effect.uninterruptible(sql.reserve)
        const ask = <A, E>(effect: Effect.Effect<A, E>) =>
          Effect.provideService(effect, SqlClient.TransactionConnection, [connection, 0])
        yield* Effect.acquireRelease(
          Effect.filterOrFail(
            ask(
              sql<{ locked: boolean }>`SELECT pg_try_advisory_lock(${VisitRollUpSql.upkeepLock}) AS locked`
            ),
            ([row]) => row!.locked,
            areRollingUp
          ).pipe(Effect.retry({ schedule: tries, while: (error) => error._tag === "NotNow" })),
          () => Effect.ignore(ask(sql`SELECT pg_advisory_unlock(${VisitRollUpSql.upkeepLock})`))
        )
      }),
    { discard: true }
  )

/**
 * Rolls databases up to the same hour, and keeps nodes from rolling up and dropping visits there until the scope closes: gives up to which hour they are rolled up by day and by month. Else one that rows
 * come to could have days that are rolled up without these, and they would not be counted.
 */
export const aligned = (databases: ReadonlyArray<SqlClient.SqlClient>) =>
  Effect.gen(function* () {
    const before = yield* Effect.forEach(databases, rolledUp)
    const until = Math.max(...before.map(({ day, isUnderWay }) => (isUnderWay ? endOf("day", day) : day)))
    for (const sql of databases) {
      yield* Effect.repeat(VisitRollUpSql.make(sql).rollUp(until, rolledAtOnce), { while: (more) => more })
    }
    yield* withoutUpkeep(databases)
    const [first, ...others] = yield* Effect.forEach(databases, rolledUp)
    const { day, isUnderWay, month } = first!
    const areAlike = others.every((one) => one.day === day && one.month === month && !one.isUnderWay)
    if (isUnderWay || !areAlike) return yield* areRollingUp()
    return { day, month }
  })
