import { SqlClient } from "@effect/sql"
import type { SqlError } from "@effect/sql/SqlError"
import { Data, Duration, Effect, Schedule, type Scope } from "effect"
import { reasonOf } from "../../sql/postgres/PrimaryClient.ts"

/** Another process moves buckets, or visits. `process` is PostgreSQL's that serves the session which has the lock, where it is known. */
export class MoverBusy extends Data.TaggedError("MoverBusy")<{
  readonly database: number
  readonly process: number | undefined
}> {
  override get message() {
    const holder = this.process === undefined ? "another session" : `process ${this.process} of PostgreSQL`
    return `Another process moves buckets or visits of this deployment: ${holder} has the lock in database ${this.database}. Wait until it is done, or stop it.`
  }
}

/** A session that had the lock is over, or does not answer: others may have the lock now. What was being done has stopped where it was. */
export class MoverLockLost extends Data.TaggedError("MoverLockLost")<{
  readonly database: number
  readonly reason: string
}> {
  override get message() {
    return `The session that had the lock in database ${this.database} is lost (${this.reason}), so this process has stopped. Run the command again, which goes on there.`
  }
}

/** The advisory lock of the process that moves buckets or visits. An arbitrary fixed number. */
const moverLock = 5_012_704_420

/** How long is waited for it in a database: the session of a mover that was killed is over after a second. */
const lockTries = Schedule.spaced("100 millis").pipe(Schedule.intersect(Schedule.recurs(30)))

/** How often is looked whether a session is still there. */
const lookEach = Duration.seconds(1)

/** How long it may take to answer: less than the 15 s after which its server takes a host that has vanished for gone, and gives the lock to others. */
const answerMax = Duration.seconds(10)

/** A database of links, by its number. */
export interface LockedDatabase {
  readonly number: number
  readonly sql: SqlClient.SqlClient
}

/** The session that has the lock in the control database. */
export interface LockSession {
  readonly sql: SqlClient.SqlClient
  /** Runs a statement in the session, one after the other. It runs to its end where its fiber is interrupted, which does not wait for that. */
  readonly ask: <A, E>(statement: Effect.Effect<A, E>) => Effect.Effect<A, E>
}

/** Takes the lock in one database, until the scope closes; gives the session, and an effect that fails when it is lost. */
const holdOne = ({ number, sql }: LockedDatabase) =>
  Effect.gen(function* () {
    const connection = yield* Effect.uninterruptible(sql.reserve)
    const turns = yield* Effect.makeSemaphore(1)
    const ask: LockSession["ask"] = (statement) =>
      statement.pipe(
        Effect.provideService(SqlClient.TransactionConnection, [connection, 0]),
        Effect.uninterruptible,
        turns.withPermits(1),
        Effect.disconnect
      )
    const bounded = <A, E>(statement: Effect.Effect<A, E>) =>
      Effect.timeoutFail(Effect.interruptible(ask(statement)), {
        duration: answerMax,
        onTimeout: () =>
          new MoverLockLost({ database: number, reason: `no answer for ${Duration.format(answerMax)}` })
      })
    const holder = sql<{ pid: number }>`
      SELECT pid FROM pg_locks
      WHERE locktype = 'advisory' AND granted AND objsubid = 1 AND (classid::bigint << 32) + objid::bigint = ${moverLock}
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
    // Before it is tried: it can be had after the answer was given up.
    yield* Effect.addFinalizer(() => Effect.ignore(bounded(sql`SELECT pg_advisory_unlock(${moverLock})`)))
    yield* bounded(sql<{ locked: boolean }>`SELECT pg_try_advisory_lock(${moverLock}) AS locked`).pipe(
      Effect.filterOrElse(
        ([row]) => row!.locked,
        () =>
          Effect.flatMap(bounded(holder), ([row]) => new MoverBusy({ database: number, process: row?.pid }))
      ),
      Effect.retry({ schedule: lockTries, while: (error) => error._tag === "MoverBusy" })
    )
    const look = Effect.catchTag(bounded(sql`SELECT 1`), "SqlError", ({ cause }) =>
      Effect.fail(new MoverLockLost({ database: number, reason: reasonOf(cause) }))
    )
    return { session: { sql, ask } satisfies LockSession, look }
  })

/** What a process can do that has the lock. */
export interface MoverLock {
  /** The session that has it in the control database. */
  readonly control: LockSession
  /**
   * Runs an effect that works on some databases, and on the control database, while the sessions that have the lock there are there. Within some seconds after one is lost, the effect is interrupted, and this
   * fails when it has ended. What becomes of the other databases meanwhile is no matter.
   */
  readonly holding: <A, E, R>(
    databases: Iterable<number>,
    effect: Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | MoverLockLost, R>
}

/**
 * Takes the lock of those who move buckets or visits, in all databases that they work on, until the scope closes. `control` is database 0, and comes first.
 *
 * The control database alone would not do: where it fails over, the lock in it is free while the process that had it still works on the others. There it keeps everybody else away until it has stopped.
 */
export const hold = (
  control: LockedDatabase,
  further: Iterable<LockedDatabase>
): Effect.Effect<MoverLock, MoverBusy | MoverLockLost | SqlError, Scope.Scope> =>
  Effect.gen(function* () {
    const first = yield* holdOne(control)
    const looks = new Map([[control.number, first.look]])
    for (const database of further) looks.set(database.number, (yield* holdOne(database)).look)
    return {
      control: first.session,
      holding: (databases, effect) => {
        const numbers = new Set([control.number, ...databases])
        const look = Effect.forEach(numbers, (number) => looks.get(number)!, {
          concurrency: "unbounded",
          discard: true
        })
        const lost = Effect.forever(Effect.zipRight(Effect.sleep(lookEach), look))
        return Effect.zipRight(look, Effect.raceFirst(effect, lost))
      }
    }
  })
