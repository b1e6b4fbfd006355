import { SqlClient } from "@effect/sql"
import type { SqlError } from "@effect/sql/SqlError"
import { type Deferred, Effect, type Redacted, type Scope } from "effect"
import * as Pulse from "../../time/Pulse.ts"
import { monotonicNow_ms } from "../../time/MonotonicTime.ts"
import type { BucketPlacement, Placement } from "../links/buckets/BucketPlacement.ts"
import * as BucketPlacementSql from "../links/buckets/BucketPlacementSql.ts"
import type { LinkInvalidationsService } from "../links/LinkInvalidations.ts"
import * as LinkInvalidationsPostgres from "../links/LinkInvalidationsPostgres.ts"
import { DeploymentStore } from "../nodes/DeploymentStore.ts"
import { together } from "../sql/DirectSql.ts"
import * as DatabaseServers from "../sql/postgres/DatabaseServers.ts"
import { prepared } from "../sql/SqlDialect.ts"
import type { StorageError } from "../StorageError.ts"
import * as FurtherDatabase from "./FurtherDatabase.ts"
import { kinds } from "./FurtherDatabase.ts"
import * as PlacementCache from "./PlacementCache.ts"

const mismatch = (fault: string) =>
  new FurtherDatabase.DatabasesMismatch({ setting: kinds.links.setting, fault })

/** Checks that all databases that have links, or are about to get some, are among the first `count`. */
const checkHomes = (count: number) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* together(
      sql,
      "LinkDatabases.checkHomes",
      sql`${prepared(sql)}SELECT max(greatest(home, moving_to)) FROM bucket_placement`.compile()
    )
    const last = Number(row![0] ?? 0)
    if (last < count) return
    return yield* mismatch(
      `database ${last} has links of this deployment, and LINK_DATABASE_URLS names ${count - 1}. Name all of them, in their order.`
    )
  })

/**
 * Checks, before anything is written, that `DATABASE_URL` names no further database of links, and that all databases that have links are known: `count` of them. To be run on PostgreSQL, where the
 * schema is migrated.
 */
export const checkControl = (
  count: number
): Effect.Effect<void, FurtherDatabase.DatabasesMismatch | SqlError | StorageError, SqlClient.SqlClient> =>
  Effect.zipRight(FurtherDatabase.checkIsControl, checkHomes(count))

/** Checks that these are all databases of links of a deployment, in their order, and that nodes have worked with them. Writes nothing. */
export const checkAll = (control: SqlClient.SqlClient, further: ReadonlyArray<SqlClient.SqlClient>) =>
  Effect.gen(function* () {
    yield* Effect.provideService(checkControl(1 + further.length), SqlClient.SqlClient, control)
    if (further.length === 0) return
    const kind = kinds.links
    const deployment = yield* FurtherDatabase.decisionOf(control, kind.deployment)
    if (deployment === undefined) {
      return yield* mismatch(
        "no node has been started with it yet. Start all nodes with it, and then run the command again."
      )
    }
    for (const [index, sql] of further.entries()) {
      yield* Effect.provideService(
        FurtherDatabase.check({ kind, number: index + 1, deployment, mayBeNew: false }),
        SqlClient.SqlClient,
        sql
      )
    }
  })

/** Fails when buckets come to be in a database that this process does not know: then it must not go on. Looks every second. */
export const homesUnknown = (
  count: number
): Effect.Effect<never, FurtherDatabase.DatabasesMismatch, SqlClient.SqlClient> =>
  Pulse.forever(
    Effect.catchAll(checkHomes(count), (error) =>
      error._tag === "DatabasesMismatch" ? Effect.fail(error) : Effect.void
    ),
    PlacementCache.readEvery
  )

/** A further database of links. */
export interface LinkDatabaseSession {
  readonly sql: SqlClient.SqlClient
  readonly changes: LinkInvalidationsService
  readonly isAway: () => boolean
}

/** Connects to a further database: see `FurtherDatabase.connect`. It is away until it has been checked. */
const connect = (connecting: FurtherDatabase.Connecting) =>
  Effect.gen(function* () {
    const clock = yield* Effect.clock
    const { servers, sql } = yield* FurtherDatabase.connect(connecting)
    const news = yield* LinkInvalidationsPostgres.make.pipe(
      FurtherDatabase.withoutTime,
      Effect.provideService(DatabaseServers.DatabaseServers, servers)
    )
    const changes: LinkInvalidationsService = {
      ...news,
      awayFor: (now) => (servers.isOpen() ? news.awayFor(now) : Number.POSITIVE_INFINITY)
    }
    const session: LinkDatabaseSession = {
      sql,
      changes,
      isAway: () => changes.awayFor(monotonicNow_ms(clock)) !== undefined
    }
    return session
  })

/**
 * Connects to all further databases, in their order, those that do not answer left for later. One that has links by the placement cannot be new. `drawn`: by what they know this deployment, unless
 * that is decided.
 */
export const connectAll = (
  urls: ReadonlyArray<Redacted.Redacted>,
  { places }: Pick<Placement, "places">,
  drawn: string,
  refused: Deferred.Deferred<never, FurtherDatabase.DatabasesMismatch>
): Effect.Effect<
  ReadonlyArray<LinkDatabaseSession>,
  FurtherDatabase.DatabasesMismatch | SqlError | StorageError,
  Scope.Scope | DeploymentStore
> =>
  Effect.gen(function* () {
    const kind = kinds.links
    const { decide } = yield* DeploymentStore
    const deployment = yield* decide(kind.deployment, drawn)
    const areIn = (number: number) =>
      places.some(({ home, movingTo }) => home === number || movingTo === number)
    return yield* Effect.forEach(
      urls,
      (url, index) =>
        connect({
          kind,
          url,
          number: index + 1,
          deployment,
          mayBeNew: !areIn(index + 1),
          refused
        }),
      { concurrency: "unbounded" }
    )
  })

/** `BucketPlacement` of the control database. */
export const placementOf = (control: SqlClient.SqlClient): Effect.Effect<typeof BucketPlacement.Service> =>
  Effect.provideService(BucketPlacementSql.make, SqlClient.SqlClient, control)
