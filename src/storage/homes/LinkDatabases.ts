import { SqlClient } from "@effect/sql"
import type { SqlError } from "@effect/sql/SqlError"
import { Context, Data, Deferred, Duration, Effect, Layer, type Redacted, type Scope } from "effect"
import { monotonicNow_ms } from "../../time/MonotonicTime.ts"
import { TrustedTime } from "../../time/TrustedTime.ts"
import { BucketPlacement } from "../links/BucketPlacement.ts"
import * as BucketPlacementSql from "../links/BucketPlacementSql.ts"
import type { LinkInvalidationsService } from "../links/LinkInvalidations.ts"
import * as LinkInvalidationsPostgres from "../links/LinkInvalidationsPostgres.ts"
import * as DeploymentStore from "../nodes/DeploymentStore.ts"
import { direct } from "../sql/DirectSql.ts"
import * as Migrations from "../sql/Migrations.ts"
import * as DatabaseServers from "../sql/postgres/DatabaseServers.ts"
import * as PostgresClient from "../sql/postgres/PostgresClient.ts"
import { prepared } from "../sql/SqlDialect.ts"
import * as PlacementCache from "./PlacementCache.ts"
import type { StorageError } from "../StorageError.ts"

/** The databases that the settings name are not those that have this deployment's links. Without a URL, which can hold a password. */
export class LinkDatabasesMismatch extends Data.TaggedError("LinkDatabasesMismatch")<{
  readonly fault: string
}> {
  override get message() {
    return `LINK_DATABASE_URLS or DATABASE_URL is wrong: ${this.fault}`
  }
}

/** The names of decisions: which deployment and number a database of links has, and by what it knows the deployment. */
const markName = "link-database"
const deploymentName = "link-databases-of"

const mismatch = (fault: string) => new LinkDatabasesMismatch({ fault })

const decisionOf = (sql: SqlClient.SqlClient, name: string) =>
  Effect.map(sql<{ value: string }>`SELECT value FROM deployment WHERE name = ${name}`, ([row]) => row?.value)

/** Checks that all databases that have links, or are about to get some, are among the first `count`. */
const checkHomes = (count: number) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* direct(
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
): Effect.Effect<void, LinkDatabasesMismatch | SqlError | StorageError, SqlClient.SqlClient> =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const mark = yield* decisionOf(sql, markName)
    if (mark !== undefined) {
      const [, number] = mark.split(" ")
      return yield* mismatch(
        `DATABASE_URL names database ${number} of links of a deployment, which has no accounts. It belongs into LINK_DATABASE_URLS, as number ${number}.`
      )
    }
    yield* checkHomes(count)
  })

/** Fails when buckets come to be in a database that this process does not know: then it must not go on. Looks every second. */
export const homesUnknown = (
  count: number
): Effect.Effect<never, LinkDatabasesMismatch, SqlClient.SqlClient> =>
  Effect.forever(
    Effect.delay(
      Effect.catchAll(checkHomes(count), (error) =>
        error._tag === "LinkDatabasesMismatch" ? Effect.fail(error) : Effect.void
      ),
      PlacementCache.readEvery
    )
  )

/** A further database of links. */
export interface LinkDatabaseSession {
  readonly sql: SqlClient.SqlClient
  readonly changes: LinkInvalidationsService
  readonly isAway: () => boolean
}

/** Checks that a database is number `number` of the deployment, and marks it as that if it is new. */
const check = (number: number, deployment: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    if ((yield* decisionOf(sql, "identity")) !== undefined) {
      return yield* mismatch(
        `database ${number} of LINK_DATABASE_URLS has a deployment of its own, or is that of DATABASE_URL.`
      )
    }
    const { decide } = yield* DeploymentStore.make
    const ours = `${deployment} ${number}`
    const decided = yield* decide(markName, ours)
    if (decided === ours) return
    const [whose, place] = decided.split(" ")
    return yield* mismatch(
      whose === deployment
        ? `database ${number} of LINK_DATABASE_URLS is database ${place} of this deployment: their order counts.`
        : `database ${number} of LINK_DATABASE_URLS has links of another deployment.`
    )
  })

/** Fails when a database that did not answer at the start turns out to be another one than it should be: then the process must not go on. By default all have been checked. */
export class LinkDatabasesRefused extends Context.Reference<LinkDatabasesRefused>()(
  "linkmint/LinkDatabasesRefused",
  { defaultValue: (): Effect.Effect<never, LinkDatabasesMismatch> => Effect.never }
) {}

/** How often a database that does not answer at the start is tried again. */
const triedEvery = Duration.seconds(1)

/**
 * Connects to a further database of links. Nothing is asked there before its tables are up to date, and it is checked to be number `number` of the deployment: once now, and again every second in the
 * background as long as it does not answer. It is away until then. Where it is another database, this fails now, and `refused` later.
 */
const connect = (
  url: Redacted.Redacted,
  number: number,
  deployment: string,
  refused: Deferred.Deferred<never, LinkDatabasesMismatch>
) =>
  Effect.gen(function* () {
    const clock = yield* Effect.clock
    const shared = Context.get(
      yield* Layer.build(DatabaseServers.layer(url)),
      DatabaseServers.DatabaseServers
    )
    shared.setOpen(false)
    const opening = PostgresClient.layerUnbounded.pipe(
      Layer.provide(Layer.succeed(DatabaseServers.DatabaseServers, { ...shared, isOpen: () => true }))
    )
    const open = Effect.gen(function* () {
      yield* Migrations.migrate
      yield* check(number, deployment)
      shared.setOpen(true)
    }).pipe(Effect.provide(opening), Effect.scoped)
    const openLater = Effect.retry(Effect.delay(open, triedEvery), {
      while: ({ _tag }) => _tag !== "LinkDatabasesMismatch"
    }).pipe(
      Effect.zipRight(Effect.logInfo(`Database ${number} of links can be used`)),
      Effect.catchTag("LinkDatabasesMismatch", (error) => Deferred.fail(refused, error)),
      Effect.ignore
    )
    yield* Effect.catchIf(
      open,
      (error): error is SqlError | StorageError => error._tag !== "LinkDatabasesMismatch",
      ({ message }) =>
        Effect.zipRight(
          Effect.logWarning(
            `Database ${number} of links cannot be used yet, and is tried again every second: ${message}`
          ),
          Effect.forkScoped(openLater)
        )
    )
    const servers = Layer.succeed(DatabaseServers.DatabaseServers, shared)
    const built = yield* Layer.build(Layer.provide(PostgresClient.layerUnasked, servers))
    // The time is that of the control database alone.
    const { isSettled, wallAhead_ms } = yield* TrustedTime
    const news = yield* LinkInvalidationsPostgres.make.pipe(
      Effect.provide(servers),
      Effect.provideService(TrustedTime, { isSettled, wallAhead_ms, heard: () => Effect.void })
    )
    const changes: LinkInvalidationsService = {
      ...news,
      awayFor: (now) => (shared.isOpen() ? news.awayFor(now) : Number.POSITIVE_INFINITY)
    }
    const session: LinkDatabaseSession = {
      sql: Context.get(built, SqlClient.SqlClient),
      changes,
      isAway: () => changes.awayFor(monotonicNow_ms(clock)) !== undefined
    }
    return session
  })

/** Connects to all further databases, in their order, those that do not answer left for later. `drawn`: by what they know this deployment, unless that is decided. */
export const connectAll = (
  urls: ReadonlyArray<Redacted.Redacted>,
  drawn: string,
  refused: Deferred.Deferred<never, LinkDatabasesMismatch>
): Effect.Effect<
  ReadonlyArray<LinkDatabaseSession>,
  LinkDatabasesMismatch | SqlError | StorageError,
  Scope.Scope | DeploymentStore.DeploymentStore
> =>
  Effect.gen(function* () {
    const { decide } = yield* DeploymentStore.DeploymentStore
    const deployment = yield* decide(deploymentName, drawn)
    return yield* Effect.forEach(urls, (url, index) => connect(url, index + 1, deployment, refused), {
      concurrency: "unbounded"
    })
  })

/** `BucketPlacement` of the control database. */
export const placementOf = (control: SqlClient.SqlClient): Effect.Effect<typeof BucketPlacement.Service> =>
  Effect.provideService(BucketPlacementSql.make, SqlClient.SqlClient, control)
