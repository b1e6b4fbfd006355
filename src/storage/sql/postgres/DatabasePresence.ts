import type { SqlClient } from "@effect/sql"
import { Context, Data, Deferred, Duration, Effect, Layer, Schedule, type Scope } from "effect"
import { monotonicNow_ms } from "../../../time/MonotonicTime.ts"
import { DatabaseServers } from "./DatabaseServers.ts"
import { heartbeatEvery, Heartbeats, run, type SessionLost, unusedBeatEvery_ms } from "./PersistentSession.ts"

/** Another process works on this database. */
export class DatabaseInUse extends Data.TaggedError("DatabaseInUse")<{
  readonly presence: "alone" | "cluster"
}> {
  override get message() {
    return this.presence === "alone"
      ? "Other Linkmint processes work on this database. Without REDIS_URLS there can be one at a time: stop them first."
      : "A Linkmint process without REDIS_URLS works on this database alone: stop it first."
  }
}

/** This process's place among those that work on the database. By default nobody else can: the database is a file of this process. */
export class DatabasePresence extends Context.Reference<DatabasePresence>()("linkmint/DatabasePresence", {
  defaultValue: (): DatabasePresenceService => ({
    lost: Effect.never,
    isHeld: () => true,
    onRetaken: () => {}
  })
}) {}

/** See {@link DatabasePresence}. */
export interface DatabasePresenceService {
  /** Fails when others have taken the place while this process was away: it must not go on. */
  readonly lost: Effect.Effect<never, DatabaseInUse>
  /** Whether the place was held within the last two seconds before `now`, of `monotonicNow_ms`. */
  readonly isHeld: (now: number) => boolean
  /** Calls back each time that the place was lost and is held again: others may have worked here meanwhile. */
  readonly onRetaken: (retaken: () => void) => void
}

/** The advisory lock of those who work on this database. An arbitrary fixed number. */
const workersLock = 5_012_704_418

/** The first number of the advisory locks by which they say how many databases of links they know. An arbitrary fixed number. */
const knownLock = 501_270_443

/** The server can take the session that we have lost for alive until its keepalives fail, after 15 s: so long its lock is not taken for another's. */
const ownGhost = Duration.seconds(20)

/** How old the last proof of the place may be, in milliseconds: twice as old as it becomes while the database answers. */
const heldFor_ms = 2 * unusedBeatEvery_ms

/** An answer that takes longer than all statements may is none. */
const answerMax = Duration.seconds(5)

/**
 * Works on the database alone, or together with the other nodes of a cluster: by an advisory lock, exclusive or shared, of a session that is
 * kept; PostgreSQL frees it with the session. Two processes without a cluster would each cache what the other changes.
 *
 * A session that is lost (PostgreSQL restarted, failed over, ended it) is made again, and until its lock is held no new connection of this process may work. Where others hold it,
 * this process has lost its place.
 *
 * `databases`: how many databases of links this process knows, which others can see ({@link knowingFewer}).
 */
export const make = (
  presence: "alone" | "cluster",
  databases = 1
): Effect.Effect<DatabasePresenceService, DatabaseInUse | SessionLost, Scope.Scope | DatabaseServers> =>
  Effect.gen(function* () {
    const servers = yield* DatabaseServers
    const clock = yield* Effect.clock
    const first = yield* Deferred.make<void, DatabaseInUse | SessionLost>()
    const lost = yield* Deferred.make<never, DatabaseInUse>()
    const retaken = new Set<() => void>()
    // Caches rely on the session that listens.
    const heartbeats = new Heartbeats(unusedBeatEvery_ms)
    let isHeld = false
    let taken = 0

    const attempt = presence === "alone" ? "pg_try_advisory_lock" : "pg_try_advisory_lock_shared"
    const hold = run(servers, {
      applicationName: "linkmint-presence",
      answerMax,
      begin: (session) =>
        Effect.gen(function* () {
          const [row] = yield* session.ask<{ readonly locked: boolean }>(
            `SELECT ${attempt}(${workersLock}) AS locked, pg_try_advisory_lock_shared(${knownLock}, ${databases})`
          )
          if (row?.locked !== true) return yield* new DatabaseInUse({ presence })
          if (taken++ > 0) retaken.forEach((call) => call())
          isHeld = true
          servers.setOpen(true)
          yield* Deferred.succeed(first, undefined)
        }),
      heartbeats
    }).pipe(
      Effect.tapError((error) =>
        Effect.gen(function* () {
          isHeld = false
          servers.setOpen(false)
          if (yield* Deferred.fail(first, error)) return
          if (
            error._tag === "DatabaseInUse" &&
            heartbeats.age(monotonicNow_ms(clock)) > Duration.toMillis(ownGhost)
          ) {
            yield* Effect.logError(`This process has lost its place at the database. ${error.message}`)
            yield* Deferred.fail(lost, error)
          }
        })
      )
    )
    yield* Effect.forkScoped(Effect.retry(hold, Schedule.spaced(heartbeatEvery)))
    yield* Deferred.await(first)
    return {
      lost: Deferred.await(lost),
      isHeld: (now) => isHeld && heartbeats.age(now) < heldFor_ms,
      onRetaken: (call) => void retaken.add(call)
    }
  })

/** See {@link make}. */
export const layer = (
  presence: "alone" | "cluster",
  databases?: number
): Layer.Layer<DatabasePresence, DatabaseInUse | SessionLost, DatabaseServers> =>
  Layer.scoped(DatabasePresence, make(presence, databases))

/** The machines of processes that work on the database, and know fewer than `databases` databases of links, or did not say. */
export const knowingFewer = (sql: SqlClient.SqlClient, databases: number) =>
  Effect.map(
    sql<{ machine: string }>`
      SELECT DISTINCT coalesce(host(client_addr), 'the database''s machine') AS machine
      FROM pg_locks worker LEFT JOIN pg_stat_activity USING (pid)
      WHERE locktype = 'advisory' AND granted AND objsubid = 1 AND (classid::bigint << 32) + objid::bigint = ${workersLock}
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND NOT EXISTS (
          SELECT 1 FROM pg_locks known
          WHERE known.pid = worker.pid AND known.locktype = 'advisory' AND known.granted AND known.objsubid = 2
            AND known.database = worker.database AND known.classid::bigint = ${knownLock} AND known.objid::bigint >= ${databases})
      ORDER BY machine`,
    (rows) => rows.map(({ machine }) => machine)
  )
