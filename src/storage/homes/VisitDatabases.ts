import { SqlClient } from "@effect/sql"
import type { SqlError } from "@effect/sql/SqlError"
import { Array as Arrays, Context, Deferred, Duration, Effect, Layer, type Redacted, Schedule } from "effect"
import { bucketCount, bucketOf, bucketOfName } from "../../keys/Buckets.ts"
import { drawId } from "../../model/RandomId.ts"
import { monotonicNow_ms } from "../../time/MonotonicTime.ts"
import { DeploymentStore } from "../nodes/DeploymentStore.ts"
import { heartbeatEvery, Heartbeats, run } from "../sql/postgres/PersistentSession.ts"
import { asStorageError } from "../sql/SqlTransaction.ts"
import type { StorageError } from "../StorageError.ts"
import * as VisitRemovals from "../visits/VisitRemovals.ts"
import { VisitStore } from "../visits/VisitStore.ts"
import * as VisitStoreSql from "../visits/VisitStoreSql.ts"
import * as FurtherDatabase from "./FurtherDatabase.ts"
import { type DatabasesMismatch, DatabasesRefused, kinds } from "./FurtherDatabase.ts"
import { LinkCarrier, LinkDatabaseList } from "./LinkDatabaseList.ts"
import { VisitDatabaseList, VisitPlaces } from "./VisitDatabaseList.ts"
import * as VisitStoreSpread from "./VisitStoreSpread.ts"

const { visits: kind } = kinds

/** The name of the decision how many databases have the visits. */
const countName = "visit-databases"

const mismatch = (fault: string) => new FurtherDatabase.DatabasesMismatch({ setting: kind.setting, fault })

const numbered = (count: number) => (count === 1 ? "1 database" : `${count} databases`)

const checkCount = (recorded: string | undefined, count: number) =>
  recorded === undefined || Number(recorded) === count
    ? Effect.void
    : mismatch(
        `the visits of this deployment are in ${numbered(Number(recorded))} of their own, and VISIT_DATABASE_URLS names ${count}. Name all of them, in their order: their number is fixed.`
      )

/**
 * Checks, before anything is written, that as many databases of visits are named as the deployment has: `count`. To be run on PostgreSQL, where the schema is migrated. A deployment that has none yet
 * may get some.
 */
export const checkControl = (
  count: number
): Effect.Effect<void, DatabasesMismatch | SqlError, SqlClient.SqlClient> =>
  Effect.gen(function* () {
    const recorded = yield* FurtherDatabase.decisionOf(yield* SqlClient.SqlClient, countName)
    yield* checkCount(recorded, count)
  })

/** Checks that these are the databases of visits of a deployment, in their order, and that nodes work with them. Writes nothing. */
export const checkAll = (control: SqlClient.SqlClient, visits: ReadonlyArray<SqlClient.SqlClient>) =>
  Effect.gen(function* () {
    const recorded = yield* FurtherDatabase.decisionOf(control, countName)
    const deployment = yield* FurtherDatabase.decisionOf(control, kind.deployment)
    if (recorded === undefined || deployment === undefined) {
      return yield* mismatch(
        "no node has been started with it yet. Start all nodes with it, and then run the command again."
      )
    }
    yield* checkCount(recorded, visits.length)
    for (const [index, sql] of visits.entries()) {
      yield* Effect.provideService(
        FurtherDatabase.check({ kind, number: index + 1, deployment, mayBeNew: false }),
        SqlClient.SqlClient,
        sql
      )
    }
  })

/** A session that does not answer for this long is given up. */
const answerMax = Duration.millis(1_000)

/** A database of visits: away until it has been checked, and while it does not answer. */
const connect = (connecting: FurtherDatabase.Connecting) =>
  Effect.gen(function* () {
    const clock = yield* Effect.clock
    const { servers, sql } = yield* FurtherDatabase.connect(connecting)
    const heartbeats = new Heartbeats()
    const begin = () => Effect.void
    const kept = run(servers, { applicationName: "linkmint-visits", answerMax, begin, heartbeats })
    yield* Effect.retry(kept, Schedule.spaced(heartbeatEvery)).pipe(
      FurtherDatabase.withoutTime,
      Effect.forkScoped
    )
    const visits = yield* Effect.provideService(VisitStoreSql.make, SqlClient.SqlClient, sql)
    const isAway = () => !servers.isOpen() || heartbeats.awayFor(monotonicNow_ms(clock)) !== undefined
    return { visits, isAway }
  })

const connectAll = (
  control: SqlClient.SqlClient,
  urls: ReadonlyArray<Redacted.Redacted>,
  refused: Deferred.Deferred<never, DatabasesMismatch>
) =>
  Effect.gen(function* () {
    const { decide } = yield* DeploymentStore
    const deployment = yield* decide(kind.deployment, String(yield* drawId))
    // Their number is fixed from the first start on, which has to reach all of them: it would fix a mistake.
    const isFirst = (yield* FurtherDatabase.decisionOf(control, countName)) === undefined
    const databases = yield* Effect.forEach(
      urls,
      (url, index) =>
        connect({
          kind,
          url,
          number: index + 1,
          deployment,
          refused,
          mayBeNew: isFirst,
          isNeeded: isFirst
        }),
      { concurrency: "unbounded" }
    )
    yield* checkCount(yield* decide(countName, String(urls.length)), urls.length)
    return databases
  })

/** The buckets whose visits are in each database, by its place. */
const bucketsOf = (databases: number) =>
  Array.from({ length: databases }, (_, place) =>
    Arrays.range(0, bucketCount - 1).filter((bucket) => bucket % databases === place)
  )

/** Says which databases of links still have visits. */
const tellOld = (links: ReadonlyArray<SqlClient.SqlClient>) =>
  Effect.forEach(
    links,
    (sql, number) =>
      Effect.flatMap(sql`SELECT 1 FROM visit_periods LIMIT 1`, (rows) =>
        rows.length === 0
          ? Effect.void
          : Effect.logWarning(
              `Database ${number} of links has visits from before VISIT_DATABASE_URLS was set, which statistics do not show. When all nodes have that setting, run: npm run admin -- move-visits`
            )
      ).pipe(Effect.ignore),
    { discard: true }
  )

/** `VisitStore` over the databases at `urls`, where visits are apart from their links, and what has visits forgotten there. The databases of links must be known. */
export const layer = (
  urls: ReadonlyArray<Redacted.Redacted>
): Layer.Layer<
  VisitStore,
  DatabasesMismatch | SqlError | StorageError,
  DeploymentStore | SqlClient.SqlClient
> =>
  Layer.scopedContext(
    Effect.gen(function* () {
      const control = yield* SqlClient.SqlClient
      const listed = yield* LinkDatabaseList
      const carrier = yield* LinkCarrier
      const refusedBefore = yield* DatabasesRefused
      const refused = yield* Deferred.make<never, DatabasesMismatch>()
      const databases = yield* connectAll(control, urls, refused)
      const links = listed.length > 0 ? listed : [{ sql: control, isAway: () => false }]
      yield* tellOld(links.map(({ sql }) => sql))
      const buckets = bucketsOf(urls.length)

      /** Each database of links and of visits by itself, so that one that is away holds up no other. */
      const forget = Effect.forEach(links, ({ isAway, sql }) =>
        Effect.gen(function* () {
          if (isAway()) return false
          // Those from before.
          const old = yield* Effect.provideService(VisitStoreSql.make, SqlClient.SqlClient, sql)
          const more = yield* Effect.forEach(databases, ({ isAway, visits }, place) =>
            isAway()
              ? Effect.succeed(false)
              : VisitRemovals.forgetSome(sql, buckets[place]!, (subjects) =>
                  Effect.zipRight(visits.forget(subjects), old.forget(subjects))
                ).pipe(
                  asStorageError("VisitRemovals.forget"),
                  Effect.catchAll(({ message }) =>
                    Effect.as(Effect.logWarning(`Visits of links that are no more wait: ${message}`), false)
                  )
                )
          )
          return more.some(Boolean)
        })
      ).pipe(Effect.map(Arrays.some(Boolean)))

      return Context.make(VisitStore, VisitStoreSpread.make(databases)).pipe(
        Context.add(VisitPlaces, {
          lanes: urls.length,
          laneOf: (key) => bucketOf(key) % urls.length,
          laneOfName: (name) => bucketOfName(name) % urls.length
        }),
        Context.add(
          VisitDatabaseList,
          databases.map(({ isAway }, index) => ({ number: index + 1, isAway }))
        ),
        Context.add(LinkCarrier, {
          carry: Effect.zipWith(carrier.carry, forget, (one, other) => one || other)
        }),
        Context.add(DatabasesRefused, Effect.raceFirst(refusedBefore, Deferred.await(refused)))
      )
    })
  )
